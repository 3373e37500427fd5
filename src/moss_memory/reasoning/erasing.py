"""Taking a note, a trace entry or a node out for good: every place that a merge copied it to goes with it."""

from __future__ import annotations

import json

from ..erasure import ERASED, Erasure
from ..errors import MossError, invalid, next_call
from ..values import norm
from .places import GRAPH, NOTES, Place, branch_by_id, find_branch
from .versions import node, present, write
from .views import graph_view, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..storage.engine import ReadTransaction, Transaction

_MERGED = "merge:"


def erase_entry(
    tx: ReadTransaction, workspace: str, type: str, *, branch: str | None, doc: str | None, seq: int | None
) -> Erasure:
    """A note or a trace entry: it keeps its place, number and time, and reads `[erased]` from then on."""
    if seq is None:
        raise invalid(f"`seq` is needed: the number of the {type} entry", path="seq")
    if branch is not None:
        find_branch(tx, workspace, branch)
    key = {"workspace": norm(workspace), "seq": seq}
    branch_id, document, source = tx.row(sql["entry_by_seq"], key) or (None, "", None)
    if branch_id is None or not _is_meant(document, type, doc):
        raise MossError(
            "NOT_FOUND",
            f"there is no {type} entry {seq} in workspace {workspace!r}",
            recovery=next_call("branchmind_docs_list", {"workspace": workspace}, "lists the documents there are"),
        )
    seqs = _with_copies(tx, key["workspace"], branch_id, seq, source)
    events = [] if source is None or source.startswith(_MERGED) else [source]

    def carry_out(tx: Transaction) -> None:
        blank_entries(tx, seqs)
        blank_events(tx, events)

    return Erasure(carry_out, rows=len(seqs), vectors=tx.vectors_of("note", seqs))


def _is_meant(found: str, type: str, doc: str | None) -> bool:
    """Whether an entry of this document is one that was asked for: of a document, or of any of its kind."""
    return found == doc if doc is not None else (found == NOTES) == (type == "note")


def _with_copies(tx: ReadTransaction, workspace: object, branch_id: int, seq: int, source: str | None) -> list[int]:
    """The numbers of an entry, of the one it was copied from, and of all copies of that."""
    origin, first = f"{_MERGED}{branch_id}:{seq}", seq
    if source is not None and source.startswith(_MERGED):
        origin, first = source, int(source.split(":")[2])
    copies = tx.stream(sql["all_copies_of"], {"workspace": workspace, "origin": origin})
    return sorted({seq, first, *(copy for (copy,) in copies)})


def copies_of_entries(tx: ReadTransaction, workspace: str, branch_id: int, seqs: list[int]) -> list[int]:
    """The numbers of what merges copied from these entries of a branch."""
    wanted = {f"{_MERGED}{branch_id}:{seq}" for seq in seqs}
    key = {"workspace": norm(workspace), "first": f"{_MERGED}{branch_id}:", "after": f"{_MERGED}{branch_id};"}
    return [seq for seq, origin in tx.stream(sql["copies_from_branch"], key) if origin in wanted]


def blank_entries(tx: Transaction, seqs: list[int]) -> None:
    """Leaves of entries nothing but their places; search and vectors forget the old text and learn the new one."""
    for seq in seqs:
        shown = tx.run(sql["hide_entry"], {"seq": seq})  # takes it out of the index while its text is still known
        tx.run(sql["blank_entry"], {"seq": seq, "erased": ERASED})
        if shown:
            tx.run(sql["show_entry"], {"seq": seq})


def blank_events(tx: Transaction, event_ids: list[str]) -> None:
    """Leaves of task events what kind each was, of what, and the number of the note that it told of."""
    for event_id in event_ids:
        payload = tx.value(sql["event_payload"], {"event_id": event_id})
        if payload is not None:
            said = json.loads(payload)
            note = said["payload"].get("seq")
            said["payload"] = {} if note is None else {"seq": note}
            tx.run(sql["set_event_payload"], {"event_id": event_id, "payload": json.dumps(said, separators=(",", ":"))})


def erase_node(tx: ReadTransaction, workspace: str, id: str | None, *, branch: str | None, doc: str | None) -> Erasure:
    """A node: its every version on every branch is overwritten and its key tombstoned; so are its edges.

    What a card said in the trace goes too.
    """
    if id is None:
        raise invalid("`id` is needed: the id of the node", path="id")
    if branch is not None:
        find_branch(tx, workspace, branch)
    key = {"workspace": norm(workspace), "doc": doc or GRAPH, "key": id}
    found = list(tx.stream(sql["versions_of_node"], key))
    if not found:
        raise MossError(
            "NOT_FOUND",
            f"there is no node {id[:100]!r} in document {key['doc']!r} of workspace {workspace!r}",
            recovery=next_call("branchmind_graph_query", {"workspace": workspace}, "lists the nodes there are"),
        )
    entries = [seq for (seq,) in tx.stream(sql["entries_of_card"], key)]
    edges = list(tx.stream(sql["versions_at_node"], key))
    seqs = [seq for seq, _ in found]
    branches = sorted({branch_id for _, branch_id in [*found, *edges]})
    keys = [id, *sorted({edge for edge, _ in edges})]

    def carry_out(tx: Transaction) -> None:
        for branch_id in branches:
            _bury(tx, Place(workspace, branch_by_id(tx, branch_id), key["doc"]), keys)
        for one in keys:
            for statement in ("blank_versions", "forget_node_tags", "forget_conflicts"):
                tx.run(sql[statement], {**key, "key": one})
        blank_entries(tx, entries)

    vectors = tx.vectors_of("node", seqs) + tx.vectors_of("note", entries)
    return Erasure(carry_out, rows=len(keys) + len(entries), versions=len(seqs) + len(edges), vectors=vectors)


def _bury(tx: Transaction, place: Place, keys: list[str]) -> None:
    """Writes tombstones where there are none; the index forgets the versions before, whose texts it still knows."""
    now = present(tx, graph_view(tx, place.branch.branch_id, place.doc), place.doc, keys)
    living = [version.tombstone() for version in now.values() if not version.deleted]
    if living:
        write(tx, place, living)


def versions_of_key(tx: ReadTransaction, workspace: str, key: str) -> list[int]:
    """The numbers of every version of a node, on every branch and in every document."""
    found = tx.stream(sql["versions_of_key"], {"workspace": norm(workspace), "key": key})
    return [seq for (seq,) in found]


def erase_copies_of_nodes(tx: Transaction, workspace: str, keys: list[str]) -> None:
    """Overwrites what other graphs and earlier versions still say of nodes whose own graph says it no more."""
    for key in keys:
        where = {"workspace": norm(workspace), "key": key}
        for branch_id, doc in list(tx.stream(sql["graphs_that_show"], {**where, "title": ERASED})):
            place = Place(workspace, branch_by_id(tx, branch_id), doc)
            now = present(tx, graph_view(tx, branch_id, doc), doc, [key])
            if key in now and not now[key].deleted:
                write(tx, place, [node(key, now[key].type, title=ERASED, status=now[key].status)])
        for statement in ("blank_old_versions", "forget_conflicts_of_key"):
            tx.run(sql[statement], where)
