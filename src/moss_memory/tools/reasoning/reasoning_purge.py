"""Purge of notes hidden by resets and of deleted nodes and edges."""

from __future__ import annotations

from moss_memory.registry.arguments import Days, Workspace
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.rows.bulk_changes import IDS_SHOWN, PURGE_OPTIONS, PURGED, DryRun, deleted_before, is_not_dry_run
from moss_memory.rows.names import normalize_workspace, pluralize
from moss_memory.tools.reasoning.branches.document_refs import derived_branches, root_branch
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.graph_keys import EDGE_SEPARATOR
from moss_memory.tools.reasoning.graph.node_versions import current_versions
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

_BATCH_ROWS = 50
_NO_LIMIT_MS = 2**62
_DELETE_STATEMENTS = ("delete_version_tags", "delete_versions", "delete_merges", "delete_conflicts", "delete_pins")
"""Statements that delete the versions of a node or edge on a branch, and all references to them."""


@operation(
    mutates=True,
    destructive=True,
    slow=True,
    visible=False,
    writes_if=is_not_dry_run,
    answers=PURGED,
    cli=Cli(hidden=True, options=PURGE_OPTIONS, asks=True, runs="commands.purge_command.run_purge"),
    example="moss purge --type reasoning --older-than 7d",
)
def branchmind_purge(
    tx: Transaction, *, workspace: Workspace | None = None, older_than_days: Days | None = None, dry_run: DryRun = False
) -> dict[str, Any]:
    """Permanently remove rows that no branch shows any more: notes that resets hid, deleted nodes and edges of graphs.

    Tagged notes stay, and nodes and edges with an open conflict. `older_than_days` is the age of a note; for a node
    or edge it is the time since its deletion.
    """
    before = deleted_before(tx, older_than_days)
    # Times of deletion are in milliseconds: the whole last second counts.
    scope: dict[str, Any] = {"before_ms": _NO_LIMIT_MS if before is None else before * 1000 + 999}
    if workspace is not None:
        scope["workspace"] = normalize_workspace(workspace)
    if dry_run:
        notes, nodes_and_edges = list(_hidden_notes(tx, scope)), list(_deleted_nodes_and_edges(tx, scope))
        message = f"Would permanently delete {_describe(len(notes), len(nodes_and_edges))}"
        ids = [str(seq) for seq in notes] + [key for _, _, key in nodes_and_edges]
        outcome = {"purged": len(notes) + len(nodes_and_edges), "message": message, "erased": False}
        return {**outcome, **tx.erasure_scope, "dry_run": True, "ids": ids[:IDS_SHOWN]}
    return _Purge(tx, scope).run()


def _describe(notes: int, others: int) -> str:
    return f"{pluralize(notes, 'note')} and {others} {'node or edge' if others == 1 else 'nodes and edges'}"


class _Purge:
    """A purge in slices of whole notes, nodes or edges; the write lock is released between them."""

    def __init__(self, tx: Transaction, scope: dict[str, Any]) -> None:
        self._tx = tx
        self._scope = scope
        self._notes = self._nodes_and_edges = self._rows_done = 0
        self._answer: dict[str, Any] = {"purged": 0, "message": "", "erased": True}

    def run(self) -> dict[str, Any]:
        """Remove all rows, or stop early if the call is cancelled."""
        complete = self._remove()
        self._end_slice()
        message = f"Permanently deleted {_describe(self._notes, self._nodes_and_edges)}"
        self._answer["message"] = message if complete else f"{message}; there are more, purge again"
        if not complete:
            self._answer["complete"] = False
        return self._answer

    def _remove(self) -> bool:
        tx = self._tx
        # Read all rows first: a slice commits, which ends a statement that is still being read.
        for seq in list(_hidden_notes(tx, self._scope)):
            self._notes += tx.run(sql["delete_hidden_note"], {"seq": seq})
            if not self._continue():
                return False
        for branch_id, doc, key in list(_deleted_nodes_and_edges(tx, self._scope)):
            if _is_deleted(tx, branch_id, doc, key):
                for derived in derived_branches(tx, branch_id):
                    parameters = {"branch_id": derived, "doc": doc, "key": key}
                    for query in _DELETE_STATEMENTS:
                        tx.run(sql[query], parameters)
                self._nodes_and_edges += 1
            if not self._continue():
                return False
        return True

    def _continue(self) -> bool:
        self._rows_done += 1
        if self._rows_done % _BATCH_ROWS:
            return True
        self._end_slice()
        self._tx.progress(self._answer["purged"])
        return self._tx.yield_lock()

    def _end_slice(self) -> None:
        tx, purged = self._tx, self._notes + self._nodes_and_edges
        tx.run(sql["forget_last_entries"])
        if purged:  # otherwise the workspace is any text of the caller
            tx.set_event_subject(workspace=self._scope.get("workspace"))
        tx.erase_after_commit(self._answer, field="erased", anything=purged > self._answer["purged"])
        self._answer["purged"] = purged


def _hidden_notes(tx: ReadTransaction, scope: dict[str, Any]) -> Iterator[int]:
    """Yield the notes that no branch shows and no tag names."""
    condition = " and e.workspace_norm = :workspace" if "workspace" in scope else ""
    return (seq for (seq,) in tx.stream(sql["hidden_notes"].filled(in_workspace=condition), scope))


def _deleted_nodes_and_edges(tx: ReadTransaction, scope: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Yield the nodes and edges that are deleted on all related branches."""
    condition = " and v.workspace_norm = :workspace" if "workspace" in scope else ""
    yielded: set[tuple[int, str, str]] = set()
    for branch_id, doc, key in list(tx.stream(sql["tombstones"].filled(in_workspace=condition), scope)):
        root_key = root_branch(tx, branch_id), doc, key
        if root_key not in yielded and _is_deleted(tx, *root_key):
            yielded.add(root_key)
            yield root_key


def _is_deleted(tx: ReadTransaction, root: int, doc: str, key: str) -> bool:
    """Return True if no branch derived from the root has the node or edge, nor an open conflict about it.

    A node must also have no edge.
    """
    branches = derived_branches(tx, root)
    for branch_id in branches:
        version = current_versions(tx, graph_view(tx, branch_id, doc), [key]).get(key)
        if version is not None and not version.deleted:
            return False
        if tx.row(sql["open_conflict_about"], {"branch_id": branch_id, "doc": doc, "key": key}) is not None:
            return False
    if EDGE_SEPARATOR in key:
        return True
    edges = ({"doc": doc, "key": key, "branch_id": branch_id} for branch_id in branches)
    return all(tx.row(sql["edge_at"], edge_key) is None for edge_key in edges)
