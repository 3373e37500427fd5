"""Purge of notes hidden by resets and of deleted nodes and edges."""

from __future__ import annotations

from moss_memory.registry.arguments import Days, Workspace
from moss_memory.registry.operation import operation
from moss_memory.rows.bulk_changes import IDS_SHOWN, PURGED, DryRun, deleted_before, is_real
from moss_memory.rows.names import normalize_workspace, pluralize
from moss_memory.tools.reasoning.branches.document_refs import derived_branches, root_branch
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.node_versions import EDGE_SEPARATOR, current_versions
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

_BATCH_ROWS = 50
_NO_LIMIT_MS = 2**62


@operation(
    mutates=True,
    destructive=True,
    slow=True,
    visible=False,
    writes_if=is_real,
    answers=PURGED,
    example="moss purge --type reasoning --older-than 7d",
)
def branchmind_purge(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    older_than_days: Days | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Remove what no branch shows any more for good: notes that resets hid, deleted nodes and edges of graphs.

    What a tag names stays, and what an open conflict is about. `older_than_days` is the age of a note, of a node or
    edge the time since it was deleted.
    """
    before = deleted_before(tx, older_than_days)
    scope = {
        "workspace": None if workspace is None else normalize_workspace(workspace),
        "before_ms": _NO_LIMIT_MS if before is None else before * 1000 + 999,
    }
    if dry_run:
        notes, keys = list(_hidden_notes(tx, scope)), list(_deleted_keys(tx, scope))
        message = f"Would permanently delete {_describe(len(notes), len(keys))}"
        ids = [str(seq) for seq in notes] + [key for _, _, key in keys]
        found = {"purged": len(notes) + len(keys), "message": message, "erased": False}
        return {**found, **tx.erases, "dry_run": True, "ids": ids[:IDS_SHOWN]}
    return _Purge(tx, scope).run()


def _describe(notes: int, keys: int) -> str:
    return f"{pluralize(notes, 'note')} and {keys} {'node or edge' if keys == 1 else 'nodes and edges'}"


class _Purge:
    """A purge in slices of whole notes, nodes or edges; the write lock is released between them."""

    def __init__(self, tx: Transaction, scope: dict[str, Any]) -> None:
        self._tx = tx
        self._scope = scope
        self._notes = self._keys = self._slice = 0
        self._answer: dict[str, Any] = {"purged": 0, "message": "", "erased": True}

    def run(self) -> dict[str, Any]:
        """Remove all rows, or stop early if the call is cancelled."""
        complete = self._remove()
        self._end_slice()
        message = f"Permanently deleted {_describe(self._notes, self._keys)}"
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
        for branch_id, doc, key in list(_deleted_keys(tx, self._scope)):
            if _is_deleted(tx, branch_id, doc, key):
                _delete_key(tx, branch_id, doc, key)
                self._keys += 1
            if not self._continue():
                return False
        return True

    def _continue(self) -> bool:
        self._slice += 1
        if self._slice % _BATCH_ROWS:
            return True
        self._end_slice()
        self._tx.progress(self._answer["purged"])
        return self._tx.yield_lock()

    def _end_slice(self) -> None:
        tx, purged = self._tx, self._notes + self._keys
        tx.run(sql["forget_last_entries"])
        if purged:  # otherwise the workspace is any text of the caller
            tx.set_event_subject(workspace=self._scope["workspace"])
        tx.erase_after_commit(self._answer, field="erased", anything=purged > self._answer["purged"])
        self._answer["purged"] = purged


def _hidden_notes(tx: ReadTransaction, scope: dict[str, Any]) -> Iterator[int]:
    """Yield the notes that no branch shows and no tag names."""
    condition = "" if scope["workspace"] is None else " and e.workspace_norm = :workspace"
    return (seq for (seq,) in tx.stream(sql["hidden_notes"].filled(in_workspace=condition), _parameters(scope)))


def _deleted_keys(tx: ReadTransaction, scope: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Yield the nodes and edges that are deleted on all related branches."""
    condition = "" if scope["workspace"] is None else " and v.workspace_norm = :workspace"
    seen: set[tuple[int, str, str]] = set()
    for branch_id, doc, key in list(tx.stream(sql["tombstones"].filled(in_workspace=condition), _parameters(scope))):
        found = root_branch(tx, branch_id), doc, key
        if found not in seen and _is_deleted(tx, *found):
            seen.add(found)
            yield found


def _parameters(scope: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scope.items() if value is not None}


def _is_deleted(tx: ReadTransaction, root: int, doc: str, key: str) -> bool:
    """Return true if all branches derived from the root deleted the key and no conflict about it is open."""
    branches = derived_branches(tx, root)
    for branch_id in branches:
        found = current_versions(tx, graph_view(tx, branch_id, doc), doc, [key]).get(key)
        if found is not None and not found.deleted:
            return False
        if tx.row(sql["open_conflict_about"], {"branch_id": branch_id, "doc": doc, "key": key}) is not None:
            return False
    return EDGE_SEPARATOR in key or not _has_edges(tx, branches, doc, key)


def _has_edges(tx: ReadTransaction, branches: list[int], doc: str, key: str) -> bool:
    """Return true if a branch shows an edge at a deleted node."""
    parameters = {"doc": doc, "key": key}
    return any(tx.row(sql["edge_at"], {**parameters, "branch_id": branch_id}) is not None for branch_id in branches)


def _delete_key(tx: Transaction, root: int, doc: str, key: str) -> None:
    """Delete each version of a node or edge on the root and its derived branches, and all references to them."""
    for branch_id in derived_branches(tx, root):
        parameters = {"branch_id": branch_id, "doc": doc, "key": key}
        for query in ("delete_version_tags", "delete_versions", "delete_merges", "delete_conflicts", "delete_pins"):
            tx.run(sql[query], parameters)
