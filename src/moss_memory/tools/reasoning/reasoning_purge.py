"""Purging: what no branch shows any more goes for good, notes that resets hid and what was deleted of graphs."""

from __future__ import annotations

from moss_memory.registry.arguments import Days, Workspace
from moss_memory.registry.operation import operation
from moss_memory.rows.bulk_changes import IDS_SHOWN, PURGED, DryRun, deleted_before, is_real
from moss_memory.rows.names import normalize_workspace, pluralize
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.node_versions import EDGE_MARK, present
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

_AT_ONCE = 50
_ALWAYS_MS = 2**62


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
        "before_ms": _ALWAYS_MS if before is None else before * 1000 + 999,
    }
    if dry_run:
        notes, keys = list(_hidden_notes(tx, scope)), list(_gone_keys(tx, scope))
        said = f"Would permanently delete {_told(len(notes), len(keys))}"
        ids = [str(seq) for seq in notes] + [key for _, _, key in keys]
        found = {"purged": len(notes) + len(keys), "message": said, "erased": False}
        return {**found, **tx.erases, "dry_run": True, "ids": ids[:IDS_SHOWN]}
    return _Purge(tx, scope).run()


def _told(notes: int, keys: int) -> str:
    return f"{pluralize(notes, 'note')} and {keys} {'node or edge' if keys == 1 else 'nodes and edges'}"


class _Purge:
    """A purge in slices: each takes away some whole notes, nodes or edges."""

    def __init__(self, tx: Transaction, scope: dict[str, Any]) -> None:
        self._tx = tx
        self._scope = scope
        self._notes = self._keys = self._slice = 0
        self._answer: dict[str, Any] = {"purged": 0, "message": "", "erased": True}

    def run(self) -> dict[str, Any]:
        """Removes everything there is to remove, or what could be until the caller gave up."""
        complete = self._remove()
        self._end_slice()
        said = f"Permanently deleted {_told(self._notes, self._keys)}"
        self._answer["message"] = said if complete else f"{said}; there are more, purge again"
        if not complete:
            self._answer["complete"] = False
        return self._answer

    def _remove(self) -> bool:
        tx = self._tx
        # All are found first: a slice lets others write, after which a statement that is being read could not go on.
        for seq in list(_hidden_notes(tx, self._scope)):
            self._notes += tx.run(sql["delete_hidden_note"], {"seq": seq})
            if not self._go_on():
                return False
        for branch_id, doc, key in list(_gone_keys(tx, self._scope)):
            if _is_gone(tx, branch_id, doc, key):
                _delete_key(tx, branch_id, doc, key)
                self._keys += 1
            if not self._go_on():
                return False
        return True

    def _go_on(self) -> bool:
        self._slice += 1
        if self._slice % _AT_ONCE:
            return True
        self._end_slice()
        self._tx.progress(self._answer["purged"])
        return self._tx.yield_lock()

    def _end_slice(self) -> None:
        tx, purged = self._tx, self._notes + self._keys
        tx.run(sql["forget_last_entries"])
        tx.set_event_subject(workspace=self._scope["workspace"])
        tx.erase_after_commit(self._answer, told="erased", anything=purged > self._answer["purged"])
        self._answer["purged"] = purged


def _hidden_notes(tx: ReadTransaction, scope: dict[str, Any]) -> Iterator[int]:
    """The notes that no branch shows and no tag names."""
    place = "" if scope["workspace"] is None else " and e.workspace_norm = :workspace"
    return (seq for (seq,) in tx.stream(sql["hidden_notes"].format(place=place), _given(scope)))


def _gone_keys(tx: ReadTransaction, scope: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Nodes and edges that are deleted where they were written last, and that no branch shows."""
    place = "" if scope["workspace"] is None else " and v.workspace_norm = :workspace"
    seen: set[tuple[int, str, str]] = set()
    for branch_id, doc, key in list(tx.stream(sql["tombstones"].format(place=place), _given(scope))):
        gone = _root(tx, branch_id), doc, key
        if gone not in seen and _is_gone(tx, *gone):
            seen.add(gone)
            yield gone


def _given(scope: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scope.items() if value is not None}


def _root(tx: ReadTransaction, branch_id: int) -> int:
    """The first base of a branch."""
    base = tx.value(sql["base_of"], {"branch_id": branch_id})
    return branch_id if base is None else _root(tx, base)


def _is_gone(tx: ReadTransaction, root: int, doc: str, key: str) -> bool:
    """Whether a node or edge is deleted on every branch that comes from this one, and no conflict is open about it."""
    family = [member for (member,) in tx.rows(sql["family_of_branch"], {"branch_id": root})]
    for member in family:
        found = present(tx, graph_view(tx, member, doc), doc, [key]).get(key)
        if found is not None and not found.deleted:
            return False
        if tx.row(sql["open_conflict_about"], {"branch_id": member, "doc": doc, "key": key}) is not None:
            return False
    return EDGE_MARK in key or not _has_edges(tx, family, doc, key)


def _has_edges(tx: ReadTransaction, family: list[int], doc: str, key: str) -> bool:
    """Whether a branch shows an edge at a node that is deleted itself."""
    place = {"doc": doc, "key": key}
    return any(tx.row(sql["edge_at"], {**place, "branch_id": member}) is not None for member in family)


def _delete_key(tx: Transaction, root: int, doc: str, key: str) -> None:
    """Deletes every version of a node or edge on a branch and those that come from it, and what refers to them."""
    for (member,) in list(tx.rows(sql["family_of_branch"], {"branch_id": root})):
        place = {"branch_id": member, "doc": doc, "key": key}
        for query in ("delete_version_tags", "delete_versions", "delete_merges", "delete_conflicts", "delete_pins"):
            tx.run(sql[query], place)
