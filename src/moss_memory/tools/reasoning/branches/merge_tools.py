"""Tools that merge a branch: notes are copied once, graphs are merged three ways with conflicts."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import NEXT_CALL, ResponseSchema, integer, list_of, object_of, text, texts
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.graph.conflict_tools import conflict_id
from moss_memory.tools.reasoning.graph.node_versions import ABSENT, Version, current_versions, render_key, write
from moss_memory.tools.reasoning.notes.note_tools import BranchSide, both_sides, touch
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
from moss_memory.tools.reasoning.reasoning_responses import BOTH_SIDES, PAGINATION
from moss_memory.tools.reasoning.reasoning_sql import sql

from .document_refs import GRAPH, NOTES, TRACE, BranchRow, DocumentRef, branch_by_id, find_branch
from .visible_ranges import graph_view, log_view, reserve_numbers, subtract_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .visible_ranges import View
else:
    from moss_memory.registry.argument_types import Annotated

BaseBranch = Annotated[str, "its base, which is the default"]

MERGE_MAX = 1000
_NO_LIMIT = 2**31
MERGED = ResponseSchema(
    "Merged", {"merged": integer("how many were written"), "skipped": integer("how many were there already")}
)


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
        "next": object_of(NEXT_CALL, "of 0 merged: the call that merges the rest of the branch", optional=True),
    },
    example="moss notes merge what-if main --workspace shop",
    words=(
        "merge notes, bring notes back, copy notes of a branch to main, combine notes of two branches, copy "
        "entries, copy notes to another branch, merge only the notes, take over notes from a branch, merge one "
        "document, bring the notes of an experiment to main"
    ),
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
    """Copy only the notes of one document that `into` lacks, each once; a whole branch: `branchmind_merge_back`."""
    page = CursorPage(cursor, limit, maximum=MERGE_MAX)
    merged, pagination = _merge_log(tx, workspace, from_, into, doc, page, dry_run=dry_run)
    rest = {} if merged["merged"] or dry_run else _merge_rest(tx, workspace, from_, into)
    return {"from": from_, "into": into, "doc": doc, **merged, "pagination": pagination, **rest}


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
    words=(
        "merge the graph, integrate the what-if, bring cards back, merge a what-if into main, adopt an "
        "experiment, combine branches, integrate, apply the experiment, merge branch, merge only the graph, merge"
        " cards into main, take over the cards of a branch, bring graph changes to main"
    ),
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
    """Merge only one graph of a branch into its base; what both changed differently becomes a conflict."""
    page = CursorPage(cursor, limit, maximum=MERGE_MAX)
    merge, pagination = _merge_graph(tx, workspace, from_, into, doc, page, dry_run=dry_run)
    outcome = {**merge.outcome(), "conflict_ids": [one["conflict_id"] for one in merge.conflicts]}
    return {"from": from_, "into": into, "doc": doc, **outcome, "pagination": pagination}


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: not values.get("dry_run"),
    answers={
        "from": text("branch that was merged"),
        "into": text("branch that received"),
        "notes": object_of(MERGED, "notes"),
        "trace": object_of(MERGED, "trace entries"),
        "graph": object_of(
            MERGED.with_fields({"conflicts_created": integer("conflicts found for the first time")}, "MergedGraph"),
            "nodes and edges",
        ),
        "conflicts": list_of(BOTH_SIDES, "what both changed differently, to be resolved", shown="answer"),
    },
    example="moss branch merge what-if --workspace shop",
    words=(
        "merge a branch, merge everything back, bring a whole branch into main, finish a what-if, land the "
        "branch, adopt the result of an experiment, combine the branch with its base, bring a branch back, "
        "merge the experiment, bring"
        " the experiment into main, merge back, the experiment worked, merge my branch into main, take over "
        "everything from a branch, close an experiment"
    ),
)
def branchmind_merge_back(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    from_: FromBranch,
    into: BaseBranch | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Merge a whole branch into its base in one call: notes, traces, graphs; repeating adds nothing.

    What both changed differently is listed in `conflicts`.
    """
    source = find_branch(tx, workspace, from_, what="from")
    base = None if source.base_id is None else branch_by_id(tx, source.base_id).name
    if base is None or into not in (None, base):
        if into is not None:
            find_branch(tx, workspace, into, what="into")
        raise _base_error(tx, workspace, source, into or "", tool="branchmind_merge_back")
    everything = CursorPage(None, _NO_LIMIT, maximum=_NO_LIMIT)
    counts = {part: {"merged": 0, "skipped": 0} for part in (NOTES, TRACE, GRAPH)}
    counts[GRAPH]["conflicts_created"] = 0
    conflicts: list[dict[str, Any]] = []
    for shape, doc in _documents_to_merge(tx, source):
        if shape == "log":
            outcome, _ = _merge_log(tx, workspace, from_, base, doc, everything, dry_run=dry_run)
            part = TRACE if doc == TRACE or doc.endswith(f"-{TRACE}") else NOTES
        else:
            merge, _ = _merge_graph(tx, workspace, from_, base, doc, everything, dry_run=dry_run)
            outcome, part = merge.outcome(), GRAPH
            conflicts += merge.conflicts
        counts[part] = {name: count + outcome[name] for name, count in counts[part].items()}
    if not dry_run:
        tx.set_event_subject(workspace=normalize_workspace(workspace), address=base)
    return {"from": from_, "into": base, **counts, "conflicts": conflicts}


def _merge_rest(tx: Transaction, workspace: str, from_: str, into: str) -> dict[str, Any]:
    """Return as `next` the call that merges what a branch has beside the notes; nothing if that is merged, too."""
    source = find_branch(tx, workspace, from_)
    if source.base_id is None or branch_by_id(tx, source.base_id).name != into:
        return {}
    found = branchmind_merge_back.body(tx, workspace=workspace, from_=from_, dry_run=True)
    left = [part for part in (NOTES, TRACE, GRAPH) if found[part]["merged"]]
    if found[GRAPH]["conflicts_created"]:
        left.append("conflicts")
    if not left:
        return {}
    reason = f"merges the rest of the branch: {', '.join(dict.fromkeys(left))}"
    return {"next": next_call("branchmind_merge_back", {"workspace": workspace, "from": from_}, reason)}


def _documents_to_merge(tx: ReadTransaction, source: BranchRow) -> list[tuple[str, str]]:
    """Return shape and name of the standard documents and of every other document that the branch wrote."""
    own = [(shape, doc) for doc, shape, _ in tx.rows(sql["documents_of"], {"branch_id": source.branch_id})]
    return list(dict.fromkeys([("log", NOTES), ("log", TRACE), ("graph", GRAPH), *sorted(own)]))


def _merge_log(
    tx: Transaction, workspace: str, from_: str, into: str, doc: str, page: CursorPage, *, dry_run: bool
) -> tuple[dict[str, int], dict[str, Any]]:
    """Copy one page of the notes that only one branch shows; return the counts and the pagination."""
    source, destination = both_sides(tx, workspace, from_, into, doc, log_view, names=("from", "into"))
    found = _oldest_notes(tx, source.view, destination.view, doc, page)
    new = _select_new(tx, destination.view, doc, found[: page.limit])
    if new and not dry_run:
        _copy_notes(tx, destination.branch, doc, new)
    if not dry_run:
        tx.set_event_subject(workspace=normalize_workspace(workspace), address=f"{into}:{doc}")
    count = min(len(found), page.limit)
    last = found[page.limit - 1].seq if len(found) > page.limit else None
    return {"merged": len(new), "skipped": count - len(new)}, page.answer(count, last)


def _merge_graph(
    tx: Transaction, workspace: str, from_: str, into: str, doc: str, page: CursorPage, *, dry_run: bool
) -> tuple[_GraphMerge, dict[str, Any]]:
    """Merge one page of the keys that a branch changed into its base; return the merge and the pagination."""
    source, destination = both_sides(tx, workspace, from_, into, doc, graph_view, names=("from", "into"))
    if source.branch.base_id != destination.branch.branch_id:
        raise _base_error(tx, workspace, source.branch, into)
    own = {"branch_id": source.branch.branch_id, "doc": doc, "after": page.cursor or 0, "limit": page.limit + 1}
    changed = {key: seq for seq, key in tx.rows(sql["own_keys"], own)}
    keys = list(changed)[: page.limit]
    merge = _GraphMerge(tx, workspace, source, destination, doc, keys)
    merge.run(dry_run=dry_run)
    last = changed[keys[-1]] if len(changed) > page.limit else None
    return merge, page.answer(len(keys), last)


class _MergeNote(NamedRow):
    """A note that a merge may copy."""

    __slots__ = ()
    seq: int
    branch_id: int
    source_event_id: str | None


class _GraphMerge:
    """The three-way merge of one page of keys from a branch into its base."""

    def __init__(
        self, tx: Transaction, workspace: str, source: BranchSide, destination: BranchSide, doc: str, keys: list[str]
    ) -> None:
        self._tx = tx
        self._workspace = workspace
        self._from = source.branch
        self._into = destination.branch
        self._doc = doc
        snapshot = graph_view(tx, self._into.branch_id, doc, upto=source.branch.base_seq or 0)
        self._theirs = current_versions(tx, source.view, doc, keys)
        self._ours = current_versions(tx, destination.view, doc, keys)
        self._bases = current_versions(tx, snapshot, doc, keys)
        self._keys = keys
        self._merged: list[Version] = []
        self.conflicts: list[dict[str, Any]] = []
        """The conflicts with their three states, as fields of a response."""
        self._created = 0

    def run(self, *, dry_run: bool) -> None:
        """Compare all keys; write the merged versions and the conflicts unless this is a dry run."""
        for key in self._keys:
            theirs, ours = self._theirs[key], self._ours.get(key)
            base = self._base(key)
            if theirs.state in (_state(ours), _state(base)):
                self._record_agreement(theirs, ours, dry_run=dry_run)
            elif _state(ours) == _state(base):
                self._merged.append(theirs)
            else:
                self._record_conflict(key, base, theirs, ours, dry_run=dry_run)
        if not dry_run:
            self._tx.set_event_subject(
                workspace=normalize_workspace(self._workspace), address=f"{self._into.name}:{self._doc}"
            )
            for version in self._merged:
                self._record_agreement(version, version, dry_run=False)
            if self._merged:
                write(self._tx, DocumentRef(self._workspace, self._into, self._doc), self._merged)

    def outcome(self) -> dict[str, int]:
        """Return the counts as fields of a response."""
        merged = len(self._merged)
        skipped = len(self._keys) - merged - len(self.conflicts)
        return {"merged": merged, "skipped": skipped, "conflicts_created": self._created}

    def _base(self, key: str) -> Version | None:
        """Return the common ancestor: the last state merged or rejected, else the state of the snapshot."""
        row = self._tx.row(sql["reconciled"], {"from_id": self._from.branch_id, "doc": self._doc, "key": key})
        return self._bases.get(key) if row is None else Version(row)

    def _record_agreement(self, theirs: Version, ours: Version | None, *, dry_run: bool) -> None:
        """Supersede open conflicts about the key and record the common ancestor of the next merge."""
        if dry_run:
            return
        row = {
            "from_id": self._from.branch_id,
            "into_id": self._into.branch_id,
            "doc": self._doc,
            "key": theirs.key,
            "from_seq": theirs.seq,
            "now_ms": self._tx.now_ms,
        }
        self._tx.run(sql["supersede_conflicts"], row)
        if theirs.state == _state(ours):
            self._tx.run(sql["reconcile"], row)

    def _record_conflict(
        self, key: str, base: Version | None, theirs: Version, ours: Version | None, *, dry_run: bool
    ) -> None:
        states = [_state(base), _state(theirs), _state(ours)]
        new_id = conflict_id(self._from.branch_id, self._into.branch_id, self._doc, key, states)
        known = self._tx.row(sql["conflict_state"], {"conflict_id": new_id})
        sides = {"base": base, "from": theirs, "into": ours}
        shown = {side: None if version is None else version.to_dict() for side, version in sides.items()}
        self.conflicts.append({"conflict_id": new_id, "key": render_key(key), **shown})
        if known == (None,):  # it exists and is open
            return
        self._created += 1
        if not dry_run:
            self._open_conflict(new_id, key, base, theirs, ours, again=known is not None)

    def _open_conflict(
        self,
        conflict_id: str,
        key: str,
        base: Version | None,
        theirs: Version,
        ours: Version | None,
        *,
        again: bool,
    ) -> None:
        """Insert a conflict, or reopen a resolved one that recurs."""
        row = {
            "conflict_id": conflict_id,
            "workspace": normalize_workspace(self._workspace),
            "from_id": self._from.branch_id,
            "into_id": self._into.branch_id,
            "doc": self._doc,
            "key": key,
            "from_seq": theirs.seq,
            "base_json": _encode(base),
            "theirs_json": _encode(theirs),
            "ours_json": _encode(ours),
            "now_ms": self._tx.now_ms,
        }
        self._tx.run(sql["supersede_conflicts"], row)
        query = "reopen_conflict" if again else "add_conflict"
        self._tx.run(sql[query], {**row, "seq": reserve_numbers(self._tx)})


def _state(version: Version | None) -> str:
    return ABSENT if version is None else str(version.state)


def _encode(version: Version | None) -> str | None:
    if version is None:
        return None
    return json.dumps(version, ensure_ascii=False, separators=(",", ":"))


def _oldest_notes(tx: ReadTransaction, source: View, destination: View, doc: str, page: CursorPage) -> list[_MergeNote]:
    """Return at most one note more than the page holds, oldest first, of the notes only the source shows."""
    found: list[_MergeNote] = []
    after = page.cursor or 0
    for branch_id, low, high in subtract_ranges(source.ranges, destination.ranges):
        left = page.limit + 1 - len(found)
        if left and high > after:
            parameters = {"branch_id": branch_id, "doc": doc, "after": max(low, after), "upto": high, "limit": left}
            found.extend(map(_MergeNote, tx.rows(sql["notes_after"], parameters)))
    return found


def _select_new(tx: ReadTransaction, destination: View, doc: str, notes: list[_MergeNote]) -> list[tuple[int, str]]:
    """Return the notes without a copy at the destination, each with the identifier of its original."""
    new: dict[str, int] = {}
    for seq, branch_id, source_event_id in notes:
        copied = source_event_id is not None and source_event_id.startswith("merge:")
        origin = source_event_id if copied else f"merge:{branch_id}:{seq}"
        if origin not in new and not _has_copy(tx, destination, doc, origin):
            new[origin] = seq
    return [(seq, origin) for origin, seq in new.items()]


def _has_copy(tx: ReadTransaction, view: View, doc: str, origin: str) -> bool:
    """Return true if a view shows an entry or a copy of it."""
    _, branch_id, seq = origin.split(":")
    if view.shows(int(branch_id), int(seq)):
        return True
    return any(
        view.shows(holder, copy)
        for holder in view.writers()
        for (copy,) in tx.rows(sql["copies_of"], {"branch_id": holder, "doc": doc, "origin": origin})
    )


def _copy_notes(tx: Transaction, into: BranchRow, doc: str, notes: list[tuple[int, str]]) -> None:
    first = reserve_numbers(tx, len(notes))
    for seq, (copied, origin) in enumerate(notes, start=first):
        row = {"seq": seq, "branch_id": into.branch_id, "copied": copied, "source_event_id": origin, "ts_ms": tx.now_ms}
        tx.run(sql["copy_entry"], row)
    touch(tx, into.branch_id, doc, first, first + len(notes) - 1)


def _base_error(
    tx: ReadTransaction, workspace: str, source: BranchRow, into: str, *, tool: str = "branchmind_graph_merge"
) -> MossError:
    if source.base_id is None:
        return invalid_request(
            f"{source.name!r} has no base to merge back into; only derived branches merge", path="from"
        )
    base = branch_by_id(tx, source.base_id).name
    error = invalid_request(
        f"{source.name!r} was branched off {base!r} and merges only into that, not into {into!r}", path="into"
    )
    arguments = {"workspace": workspace, "from": source.name, "into": base}
    error.recovery = next_call(tool, arguments, "merges into the branch's base")
    return error
