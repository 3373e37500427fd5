"""Tools that merge a branch: notes are copied once, graphs are merged three ways with conflicts."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import NEXT_CALL, ResponseSchema, integer, list_of, object_of, text, texts
from moss_memory.rows.names import normalize_workspace, pluralize
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.cursor_pages import CursorPage
from moss_memory.tools.reasoning.graph.conflict_tools import conflict_id
from moss_memory.tools.reasoning.graph.graph_keys import render_key
from moss_memory.tools.reasoning.graph.node_versions import (
    ABSENT,
    Version,
    current_versions,
    version_json,
    write_versions,
)
from moss_memory.tools.reasoning.reasoning_arguments import (
    Cursor,
    Doc,
    FromBranch,
    IntoBranch,
    PageLimit,
    ReportOnly,
    RequiredWorkspace,
)
from moss_memory.tools.reasoning.reasoning_responses import BOTH_SIDES, PAGINATION
from moss_memory.tools.reasoning.reasoning_sql import sql

from .document_refs import (
    GRAPH,
    NOTES,
    TRACE,
    BranchRow,
    DocumentRef,
    branch_by_id,
    find_branch,
    find_two_views,
    touch_document,
)
from .visible_ranges import graph_view, log_view, reserve_seqs, subtract_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .visible_ranges import View

BaseBranch = Annotated[str, "its base, which is the default"]

MERGE_MAX = 1000
_NO_LIMIT = 2**31
_SIDES = {"from": text("the merged branch"), "into": text("the destination branch")}
_COUNTS = {
    "merged": integer("number of merged rows"),
    "skipped": integer("number of rows that already existed"),
}
MERGED = ResponseSchema("Merged", _COUNTS)


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: not values.get("dry_run"),
    answers={
        **_SIDES,
        "doc": text("document"),
        **_COUNTS,
        **PAGINATION,
        "next": object_of(NEXT_CALL, "if 0 were merged: the call that merges the rest of the branch", optional=True),
    },
    cli=Cli("notes merge"),
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
    dry_run: ReportOnly = False,
) -> dict[str, Any]:
    """Copy only the notes of one document that `into` lacks, each once; a whole branch: `branchmind_merge_back`."""
    page = CursorPage(cursor, limit, maximum=MERGE_MAX)
    merged, pagination = _merge_log(tx, workspace, from_, into, doc, page, dry_run=dry_run)
    proposal = {} if merged["merged"] or dry_run else _propose_merge_of_rest(tx, workspace, from_, into)
    return {"from": from_, "into": into, "doc": doc, **merged, "pagination": pagination, **proposal}


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: not values.get("dry_run"),
    answers={
        **_SIDES,
        "doc": text("document"),
        **_COUNTS,
        "conflicts_created": integer("number of new conflicts"),
        "conflict_ids": texts("ids of all conflicts of these keys"),
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
    dry_run: ReportOnly = False,
) -> dict[str, Any]:
    """Merge only one graph of a branch into its base; a key that both changed differently becomes a conflict."""
    page = CursorPage(cursor, limit, maximum=MERGE_MAX)
    merge, pagination = _merge_graph(tx, workspace, from_, into, doc, page, dry_run=dry_run)
    outcome = {**merge.outcome(), "conflict_ids": [conflict["conflict_id"] for conflict in merge.conflicts]}
    return {"from": from_, "into": into, "doc": doc, **outcome, "pagination": pagination}


def _describe_merge(answer: dict[str, Any], arguments: dict[str, Any]) -> str:
    counts = [pluralize(answer["notes"]["merged"], "note"), pluralize(answer["graph"]["merged"], "graph change")]
    conflicts = len(answer["conflicts"])
    if arguments.get("dry_run"):
        remark = f"{pluralize(conflicts, 'conflict')} would remain" if conflicts else "without conflicts"
        return f"A dry run: {' and '.join(counts)} of {{from}} would be merged into {{into}}, {remark}."
    remark = f"{pluralize(conflicts, 'conflict')} left; see `branchmind_graph_conflicts`" if conflicts else ""
    return f"Merged {' and '.join(counts)} of {{from}} into {{into}}; {remark or 'no conflicts'}."


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: not values.get("dry_run"),
    answers={
        **_SIDES,
        "notes": object_of(MERGED, "notes"),
        "trace": object_of(MERGED, "trace entries"),
        "graph": object_of(
            MERGED.with_fields({"conflicts_created": integer("number of new conflicts")}, "MergedGraph"),
            "nodes and edges",
        ),
        "conflicts": list_of(
            BOTH_SIDES, "nodes and edges that both changed differently, to be resolved", shown="answer"
        ),
    },
    cli=Cli("branch merge", sentence=_describe_merge),
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
    dry_run: ReportOnly = False,
) -> dict[str, Any]:
    """Merge a whole branch into its base in one call: notes, traces, graphs; repeating adds nothing.

    `conflicts` lists the keys that both changed differently.
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
    own = [(shape, doc) for doc, shape, _ in tx.rows(sql["documents_of"], {"branch_id": source.branch_id})]
    for shape, doc in dict.fromkeys([("log", NOTES), ("log", TRACE), ("graph", GRAPH), *sorted(own)]):
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


def _propose_merge_of_rest(tx: Transaction, workspace: str, from_: str, into: str) -> dict[str, Any]:
    """Return as `next` the call that merges the rest of a branch; empty if only its notes were to be merged."""
    source = find_branch(tx, workspace, from_)
    if source.base_id is None or branch_by_id(tx, source.base_id).name != into:
        return {}
    preview = branchmind_merge_back.body(tx, workspace=workspace, from_=from_, dry_run=True)
    unmerged = [part for part in (NOTES, TRACE, GRAPH) if preview[part]["merged"]]
    if preview[GRAPH]["conflicts_created"]:
        unmerged.append("conflicts")
    if not unmerged:
        return {}
    reason = f"merges the rest of the branch: {', '.join(dict.fromkeys(unmerged))}"
    return {"next": next_call("branchmind_merge_back", {"workspace": workspace, "from": from_}, reason)}


def _merge_log(
    tx: Transaction, workspace: str, from_: str, into: str, doc: str, page: CursorPage, *, dry_run: bool
) -> tuple[dict[str, int], dict[str, Any]]:
    """Copy one page of the notes that `from` shows and `into` does not; return the counts and the pagination."""
    (_, source), (branch, destination) = find_two_views(tx, workspace, {"from": from_, "into": into}, doc, log_view)
    notes = _oldest_notes(tx, source, destination, page)
    new = _select_new(tx, destination, notes[: page.limit])
    if new and not dry_run:
        first = reserve_seqs(tx, len(new))
        own = {"branch_id": branch.branch_id, "ts_ms": tx.now_ms}
        for seq, (copied, origin) in enumerate(new, start=first):
            tx.run(sql["copy_entry"], {**own, "seq": seq, "copied": copied, "source_event_id": origin})
        touch_document(tx, branch.branch_id, doc, first, first + len(new) - 1)
    if not dry_run:
        tx.set_event_subject(workspace=normalize_workspace(workspace), address=f"{into}:{doc}")
    count = min(len(notes), page.limit)
    last = notes[page.limit - 1].seq if len(notes) > page.limit else None
    return {"merged": len(new), "skipped": count - len(new)}, page.pagination(count, last)


def _merge_graph(
    tx: Transaction, workspace: str, from_: str, into: str, doc: str, page: CursorPage, *, dry_run: bool
) -> tuple[_GraphMerge, dict[str, Any]]:
    """Merge one page of the keys that a branch changed into its base; return the merge and the pagination."""
    (source, theirs), (base, ours) = find_two_views(tx, workspace, {"from": from_, "into": into}, doc, graph_view)
    if source.base_id != base.branch_id:
        raise _base_error(tx, workspace, source, into)
    own = {"branch_id": source.branch_id, "doc": doc, "after": page.cursor or 0, "limit": page.limit + 1}
    changed = {key: seq for seq, key in tx.rows(sql["own_keys"], own)}
    keys = list(changed)[: page.limit]
    merge = _GraphMerge(tx, source, DocumentRef(workspace, base, doc), dry_run=dry_run)
    merge.run(keys, theirs, ours)
    last = changed[keys[-1]] if len(changed) > page.limit else None
    return merge, page.pagination(len(keys), last)


class _MergeNote(NamedRow):
    """A note that a merge may copy."""

    __slots__ = ()
    seq: int
    branch_id: int
    source_event_id: str | None


class _GraphMerge:
    """The three-way merge of keys of one graph from a branch into its base."""

    def __init__(self, tx: Transaction, source: BranchRow, destination: DocumentRef, *, dry_run: bool) -> None:
        self._tx = tx
        self._source = source
        self._destination = destination
        self._dry_run = dry_run
        self._row: dict[str, Any] = {
            "workspace": normalize_workspace(destination.workspace),
            "from_id": source.branch_id,
            "into_id": destination.branch.branch_id,
            "doc": destination.doc,
        }
        self._merged: list[Version] = []
        self._skipped = self._created = 0
        self.conflicts: list[dict[str, Any]] = []
        """The conflicts with their three states, as fields of a response."""

    def run(self, keys: list[str], source: View, destination: View) -> None:
        """Compare these keys; write the merged versions and the conflicts unless this is a dry run."""
        tx, doc = self._tx, self._destination.doc
        snapshot = graph_view(tx, self._row["into_id"], doc, upto=self._source.base_seq or 0)
        views = (source, destination, snapshot)
        theirs_by_key, ours_by_key, bases = [current_versions(tx, view, keys) for view in views]
        for key in keys:
            theirs, ours = theirs_by_key[key], ours_by_key.get(key)
            # The common ancestor: the last state merged or rejected, else the state of the snapshot.
            row = tx.row(sql["reconciled"], {**self._row, "key": key})
            base = bases.get(key) if row is None else Version(row)
            our_state, base_state = _state_or_absent(ours), _state_or_absent(base)
            if theirs.state in (our_state, base_state):
                self._skipped += 1
                self._record_agreement(theirs, ours)
            elif our_state == base_state:
                self._merged.append(theirs)
            else:
                self._record_conflict(base, theirs, ours)
        if not self._dry_run:
            self._destination.set_event_subject(tx)
            for version in self._merged:
                self._record_agreement(version, version)
            if self._merged:
                write_versions(tx, self._destination, self._merged)

    def outcome(self) -> dict[str, int]:
        return {"merged": len(self._merged), "skipped": self._skipped, "conflicts_created": self._created}

    def _record_agreement(self, theirs: Version, ours: Version | None) -> None:
        """Supersede open conflicts about the key and record the common ancestor of the next merge."""
        if self._dry_run:
            return
        row = {**self._row, "key": theirs.key, "from_seq": theirs.seq, "now_ms": self._tx.now_ms}
        self._tx.run(sql["supersede_conflicts"], row)
        if theirs.state == _state_or_absent(ours):
            self._tx.run(sql["reconcile"], row)

    def _record_conflict(self, base: Version | None, theirs: Version, ours: Version | None) -> None:
        """Insert a conflict, or reopen a resolved one that recurs."""
        key = str(theirs.key)
        states = [_state_or_absent(base), _state_or_absent(theirs), _state_or_absent(ours)]
        new_id = conflict_id(self._row["from_id"], self._row["into_id"], self._destination.doc, key, states)
        state_row = self._tx.row(sql["conflict_state"], {"conflict_id": new_id})
        sides = {"base": base, "from": theirs, "into": ours}
        shown = {side: None if version is None else version.to_dict() for side, version in sides.items()}
        self.conflicts.append({"conflict_id": new_id, "key": render_key(key), **shown})
        if state_row == (None,):  # it exists and is open
            return
        self._created += 1
        if self._dry_run:
            return
        row = {
            **self._row,
            "conflict_id": new_id,
            "key": key,
            "from_seq": theirs.seq,
            "base_json": base and version_json(base),
            "theirs_json": version_json(theirs),
            "ours_json": ours and version_json(ours),
            "now_ms": self._tx.now_ms,
        }
        self._tx.run(sql["supersede_conflicts"], row)
        query = "add_conflict" if state_row is None else "reopen_conflict"
        self._tx.run(sql[query], {**row, "seq": reserve_seqs(self._tx)})


def _state_or_absent(version: Version | None) -> str:
    return ABSENT if version is None else str(version.state)


def _oldest_notes(tx: ReadTransaction, source: View, destination: View, page: CursorPage) -> list[_MergeNote]:
    """Return at most one note more than the page holds, oldest first, of the notes only the source shows."""
    notes: list[_MergeNote] = []
    after = page.cursor or 0
    for branch_id, low, high in subtract_ranges(source.ranges, destination.ranges):
        remaining = page.limit + 1 - len(notes)
        if remaining and high > after:
            parameters = {
                "branch_id": branch_id,
                "doc": source.doc,
                "after": max(low, after),
                "upto": high,
                "limit": remaining,
            }
            notes.extend(map(_MergeNote, tx.rows(sql["notes_after"], parameters)))
    return notes


def _select_new(tx: ReadTransaction, destination: View, notes: list[_MergeNote]) -> list[tuple[int, str]]:
    """Return the notes without a copy at the destination, each with the identifier of its original."""
    new: dict[str, int] = {}
    for seq, branch_id, source_event_id in notes:
        copied = source_event_id is not None and source_event_id.startswith("merge:")
        origin = source_event_id if copied else f"merge:{branch_id}:{seq}"
        if origin not in new and not _has_copy(tx, destination, origin):
            new[origin] = seq
    return [(seq, origin) for origin, seq in new.items()]


def _has_copy(tx: ReadTransaction, view: View, origin: str) -> bool:
    """Return True if a view shows an entry or a copy of it."""
    _, branch_id, seq = origin.split(":")
    if view.shows(int(branch_id), int(seq)):
        return True
    return any(
        view.shows(holder, copy)
        for holder in view.writers()
        for (copy,) in tx.rows(sql["copies_of"], {"branch_id": holder, "doc": view.doc, "origin": origin})
    )


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
