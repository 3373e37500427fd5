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
    here = code_state_of() if store.config.record_code else None
    found: Project = store.read(_find, what="where", here=here)
    return found


def _find(tx: ReadTransaction, *, here: CodeState | None) -> Project:
    configured = tx.config.workspace
    if configured:
        source = tx.config.sources["workspace"]
        return Project(configured, f"{source} sets it", here, _others(tx, configured, here))
    if here is None:
        return Project("", "no setting names one, and this folder is in no git repository", None, [])
    name = _normal(here.repository)
    others = _others(tx, name, here) if name and workspace_exists(tx, name) else None
    written = [] if others == [] else workspaces_written_from(tx, here.ids)
    if len(written) == 1:
        reason = "only this workspace was written from this repository"
        return Project(latest_spelling(tx, written[0]), reason, here, [])
    if others is not None:
        return Project(latest_spelling(tx, name), "it has the name of this repository", here, others)
    return Project("", f"no setting names one, and there is no workspace {here.repository!r}", here, [])


def _normal(name: str) -> str:
    try:
        return normalize_workspace(name)
    except MossError:
        return ""  # a folder name that no workspace can have


def _others(tx: ReadTransaction, workspace: str, here: CodeState | None) -> list[str]:
    """Return the repositories that wrote to a workspace, empty if this one did or nothing is known."""
    from moss_memory.code_state.work_tree import CodeState

    if here is None:
        return []
    found = [CodeState(one["repository"], one["repository_id"]) for one in repositories_of(tx, _normal(workspace))]
    return [] if any(one.shares_id(here) for one in found) else [one.repository for one in found]
