"""Merging a branch back: notes are copied once, graphs are merged three ways, what disagrees becomes a conflict."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import integer, text, texts
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.graph.conflict_tools import conflict_id
from moss_memory.tools.reasoning.graph.graph_tools import both_graphs
from moss_memory.tools.reasoning.graph.node_versions import GONE, Version, present, write
from moss_memory.tools.reasoning.notes.note_tools import BranchSide, both_logs, touch
from moss_memory.tools.reasoning.reasoning_arguments import (
    Cursor,
    CursorPage,
    Doc,
    DryRun,
    FromBranch,
    IntoBranch,
    PageLimit,
    RequiredWorkspace,
)
from moss_memory.tools.reasoning.reasoning_responses import PAGINATION
from moss_memory.tools.reasoning.reasoning_sql import sql

from .document_refs import GRAPH, NOTES, BranchRow, DocumentRef, branch_by_id
from .visible_ranges import graph_view, subtract_ranges, take_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .visible_ranges import View

MERGE_MAX = 1000


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: not values.get("dry_run"),
    answers={
        "from": text("branch that was merged"),
        "into": text("branch that received"),
        "doc": text("document"),
        "merged": integer("how many were written"),
        "skipped": integer("how many were there already"),
        **PAGINATION,
    },
    example="moss notes merge what-if main --workspace shop",
)
def branchmind_merge(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    from_: FromBranch,
    into: IntoBranch,
    doc: Doc = NOTES,
    cursor: Cursor | None = None,
    limit: PageLimit = 200,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Copy the notes that `from` shows and `into` does not, each only once; with `has_more` go on at `next_cursor`."""
    page = CursorPage(cursor, limit, maximum=MERGE_MAX)
    source, destination = both_logs(tx, workspace, from_, into, doc, names=("from", "into"))
    found = _oldest_notes(tx, source.view, destination.view, doc, page)
    new = _not_yet_there(tx, destination.view, doc, found[: page.limit])
    if new and not dry_run:
        _copy(tx, destination.branch, doc, new)
    if not dry_run:
        tx.set_event_subject(workspace=normalize_workspace(workspace), address=f"{into}:{doc}")
    count = min(len(found), page.limit)
    last = found[page.limit - 1].seq if len(found) > page.limit else None
    outcome = {"merged": len(new), "skipped": count - len(new)}
    return {"from": from_, "into": into, "doc": doc, **outcome, "pagination": page.answer(count, last)}


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: not values.get("dry_run"),
    answers={
        "from": text("branch that was merged"),
        "into": text("branch that received"),
        "doc": text("document"),
        "merged": integer("how many were written"),
        "skipped": integer("how many were there already"),
        "conflicts_created": integer("conflicts that were found for the first time"),
        "conflict_ids": texts("all that were found"),
        **PAGINATION,
    },
    example="moss graph merge what-if main --workspace shop",
)
def branchmind_graph_merge(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    from_: FromBranch,
    into: IntoBranch,
    doc: Doc = GRAPH,
    cursor: Cursor | None = None,
    limit: PageLimit = 200,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Merge a branch's graph back into its base, three ways; what both changed differently becomes a conflict."""
    page = CursorPage(cursor, limit, maximum=MERGE_MAX)
    source, destination = both_graphs(tx, workspace, from_, into, doc, names=("from", "into"))
    if source.branch.base_id != destination.branch.branch_id:
        raise _not_the_base(tx, workspace, source.branch, into)
    own = {"branch_id": source.branch.branch_id, "doc": doc, "after": page.cursor or 0, "limit": page.limit + 1}
    changed = {key: seq for seq, key in tx.rows(sql["own_keys"], own)}
    keys = list(changed)[: page.limit]
    merge = _GraphMerge(tx, workspace, source, destination, doc, keys)
    merge.run(dry_run=dry_run)
    last = changed[keys[-1]] if len(changed) > page.limit else None
    pagination = page.answer(len(keys), last)
    return {"from": from_, "into": into, "doc": doc, **merge.outcome(), "pagination": pagination}


class _Copied(NamedRow):
    """A note that a merge may copy."""

    __slots__ = ()
    seq: int
    branch_id: int
    source_event_id: str | None


class _GraphMerge:
    """One page of keys that a branch changed, on their way into its base."""

    def __init__(
        self, tx: Transaction, workspace: str, source: BranchSide, destination: BranchSide, doc: str, keys: list[str]
    ) -> None:
        self._tx = tx
        self._workspace = workspace
        self._from = source.branch
        self._into = destination.branch
        self._doc = doc
        snapshot = graph_view(tx, self._into.branch_id, doc, upto=source.branch.base_seq or 0)
        self._theirs = present(tx, source.view, doc, keys)
        self._ours = present(tx, destination.view, doc, keys)
        self._bases = present(tx, snapshot, doc, keys)
        self._keys = keys
        self._merged: list[Version] = []
        self._conflict_ids: list[str] = []
        self._created = 0

    def run(self, *, dry_run: bool) -> None:
        """Finds what to write and what disagrees, and writes it unless this is a dry run."""
        for key in self._keys:
            theirs, ours = self._theirs[key], self._ours.get(key)
            base = self._base(key)
            if theirs.state in (_state(ours), _state(base)):
                self._agree(theirs, ours, dry_run=dry_run)
            elif _state(ours) == _state(base):
                self._merged.append(theirs)
            else:
                self._disagree(key, base, theirs, ours, dry_run=dry_run)
        if not dry_run:
            self._tx.set_event_subject(
                workspace=normalize_workspace(self._workspace), address=f"{self._into.name}:{self._doc}"
            )
            self._apply()

    def outcome(self) -> dict[str, Any]:
        """What was merged, what was the same already, and the conflicts that wait."""
        merged, conflicts = len(self._merged), len(self._conflict_ids)
        outcome: dict[str, Any] = {"merged": merged, "skipped": len(self._keys) - merged - conflicts}
        return {**outcome, "conflicts_created": self._created, "conflict_ids": self._conflict_ids}

    def _base(self, key: str) -> Version | None:
        """The state that both last agreed on: the last one merged or turned down, else the snapshot's."""
        place = {"from_id": self._from.branch_id, "doc": self._doc, "key": key}
        row = self._tx.row(sql["reconciled"], place)
        return self._bases.get(key) if row is None else Version(row)

    def _agree(self, theirs: Version, ours: Version | None, *, dry_run: bool) -> None:
        """Nothing is to be written: an older conflict is moot, and what both say is what they go on from."""
        if dry_run:
            return
        place = {"from_id": self._from.branch_id, "into_id": self._into.branch_id, "doc": self._doc}
        key = {**place, "key": theirs.key, "from_seq": theirs.seq, "now_ms": self._tx.now_ms}
        self._tx.run(sql["supersede_conflicts"], key)
        if theirs.state == _state(ours):
            self._tx.run(sql["reconcile"], key)

    def _disagree(
        self, key: str, base: Version | None, theirs: Version, ours: Version | None, *, dry_run: bool
    ) -> None:
        conflict_id = self._conflict_id(key, base, theirs, ours)
        known = self._tx.row(sql["conflict_state"], {"conflict_id": conflict_id})
        self._conflict_ids.append(conflict_id)
        if known == (None,):  # it is there, and still without a resolution
            return
        self._created += 1
        if not dry_run:
            self._open(conflict_id, key, base, theirs, ours, again=known is not None)

    def _open(
        self,
        conflict_id: str,
        key: str,
        base: Version | None,
        theirs: Version,
        ours: Version | None,
        *,
        again: bool,
    ) -> None:
        """Opens a conflict, or opens one again that was settled before the two sides went on."""
        row = {
            "conflict_id": conflict_id,
            "workspace": normalize_workspace(self._workspace),
            "from_id": self._from.branch_id,
            "into_id": self._into.branch_id,
            "doc": self._doc,
            "key": key,
            "from_seq": theirs.seq,
            "base_json": _packed(base),
            "theirs_json": _packed(theirs),
            "ours_json": _packed(ours),
            "now_ms": self._tx.now_ms,
        }
        self._tx.run(sql["supersede_conflicts"], row)
        query = "reopen_conflict" if again else "add_conflict"
        self._tx.run(sql[query], {**row, "seq": take_numbers(self._tx)})

    def _conflict_id(self, key: str, base: Version | None, theirs: Version, ours: Version | None) -> str:
        states = [_state(base), _state(theirs), _state(ours)]
        return conflict_id(self._from.branch_id, self._into.branch_id, self._doc, key, states)

    def _apply(self) -> None:
        for version in self._merged:
            self._agree(version, version, dry_run=False)
        if self._merged:
            write(self._tx, DocumentRef(self._workspace, self._into, self._doc), self._merged)


def _state(version: Version | None) -> str:
    return GONE if version is None else str(version.state)


def _packed(version: Version | None) -> str | None:
    if version is None:
        return None
    return json.dumps(version, ensure_ascii=False, separators=(",", ":"))


def _oldest_notes(tx: ReadTransaction, source: View, destination: View, doc: str, page: CursorPage) -> list[_Copied]:
    """One note more than the page holds of those that only the source shows, oldest first."""
    found: list[_Copied] = []
    after = page.cursor or 0
    for branch_id, low, high in subtract_ranges(source.ranges, destination.ranges):
        left = page.limit + 1 - len(found)
        if left and high > after:
            place = {"branch_id": branch_id, "doc": doc, "after": max(low, after), "upto": high, "limit": left}
            found.extend(map(_Copied, tx.rows(sql["notes_after"], place)))
    return found


def _not_yet_there(tx: ReadTransaction, destination: View, doc: str, notes: list[_Copied]) -> list[tuple[int, str]]:
    """Of the notes those that the destination shows in no form, each with the mark of its first origin."""
    new: dict[str, int] = {}
    for seq, branch_id, source_event_id in notes:
        copied = source_event_id is not None and source_event_id.startswith("merge:")
        origin = source_event_id if copied else f"merge:{branch_id}:{seq}"
        if origin not in new and not _is_there(tx, destination, doc, origin):
            new[origin] = seq
    return [(seq, origin) for origin, seq in new.items()]


def _is_there(tx: ReadTransaction, view: View, doc: str, origin: str) -> bool:
    """Whether a view shows a copy of an entry, or the entry itself."""
    _, branch_id, seq = origin.split(":")
    if view.shows(int(branch_id), int(seq)):
        return True
    return any(
        view.shows(holder, copy)
        for holder in view.writers()
        for (copy,) in tx.rows(sql["copies_of"], {"branch_id": holder, "doc": doc, "origin": origin})
    )


def _copy(tx: Transaction, into: BranchRow, doc: str, notes: list[tuple[int, str]]) -> None:
    first = take_numbers(tx, len(notes))
    for seq, (copied, origin) in enumerate(notes, start=first):
        row = {"seq": seq, "branch_id": into.branch_id, "copied": copied, "source_event_id": origin, "ts_ms": tx.now_ms}
        tx.run(sql["copy_entry"], row)
    touch(tx, into.branch_id, doc, first, first + len(notes) - 1)


def _not_the_base(tx: ReadTransaction, workspace: str, source: BranchRow, into: str) -> MossError:
    if source.base_id is None:
        return invalid_request(
            f"{source.name!r} has no base to merge back into; only derived branches merge", path="from"
        )
    base = branch_by_id(tx, source.base_id).name
    error = invalid_request(
        f"{source.name!r} was branched off {base!r} and merges only into that, not into {into!r}", path="into"
    )
    arguments = {"workspace": workspace, "from": source.name, "into": base}
    error.recovery = next_call("branchmind_graph_merge", arguments, "merges into the branch's base")
    return error
