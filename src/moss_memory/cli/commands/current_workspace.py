"""The workspace of the current folder: configured, or found by the git repository."""

from __future__ import annotations

from moss_memory.code_state.work_tree import code_state_of
from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.workspace_names import latest_spelling, workspace_exists
from moss_memory.storage.origin import repositories_of, workspaces_written_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.code_state.work_tree import CodeState
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.store import Store


class Project:
    """The workspace that is used here, the reason, and the repository around the current folder."""

    __slots__ = ("here", "others", "reason", "workspace")

    def __init__(self, workspace: str, reason: str, here: CodeState | None, others: list[str]) -> None:
        self.workspace = workspace
        """Empty if nothing names one."""
        self.reason = reason
        self.here = here
        self.others = others
        """The repositories that wrote to the workspace, if this one is not among them."""


def project_of(store: Store) -> Project:
    """Return the project of the current folder.

    All work trees and subfolders of a repository have one name; clones under another name are known by their id.
    """
    code_state = code_state_of() if store.config.record_code else None
    project: Project = store.read(_find, what="where", code_state=code_state)
    return project


def _find(tx: ReadTransaction, *, code_state: CodeState | None) -> Project:
    configured = tx.config.workspace
    if configured:
        source = tx.config.sources["workspace"]
        return Project(configured, f"{source} sets it", code_state, _others(tx, configured, code_state))
    if code_state is None:
        return Project("", "no setting names one, and this folder is in no git repository", None, [])
    name = _normal(code_state.repository)
    others = _others(tx, name, code_state) if name and workspace_exists(tx, name) else None
    written_workspaces = [] if others == [] else workspaces_written_from(tx, code_state.ids)
    if len(written_workspaces) == 1:
        reason = "only this workspace was written from this repository"
        return Project(latest_spelling(tx, written_workspaces[0]), reason, code_state, [])
    if others is not None:
        return Project(latest_spelling(tx, name), "it has the name of this repository", code_state, others)
    return Project("", f"no setting names one, and there is no workspace {code_state.repository!r}", code_state, [])


def _normal(name: str) -> str:
    try:
        return normalize_workspace(name)
    except MossError:
        return ""  # a folder name that no workspace can have


def _others(tx: ReadTransaction, workspace: str, code_state: CodeState | None) -> list[str]:
    """Return the repositories that wrote to a workspace, empty if this one did or nothing is known."""
    from moss_memory.code_state.work_tree import CodeState

    if code_state is None:
        return []
    states = [CodeState(row["repository"], row["repository_id"]) for row in repositories_of(tx, _normal(workspace))]
    return [] if any(state.shares_id(code_state) for state in states) else [state.repository for state in states]
