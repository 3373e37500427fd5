"""Taking a note or a trace entry out for good: every place that a merge copied it to goes with it."""

from __future__ import annotations

import json
import re

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.hard_delete import ERASED, HardDelete
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.branches.document_refs import NOTES, TRACE, DocumentRef, branch_by_id, find_branch
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view, log_view
from moss_memory.tools.reasoning.graph.node_versions import node, present, write
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.reasoning.branches.document_refs import BranchRow, Look

_MERGED = "merge:"
_STEP = re.compile(r"s:[0-9]+(?:\.s:[0-9]+)*(?= |$)")
"""The step that the title of a note begins with: where the note stands, and no word of its own."""


def erase_entry(
    tx: ReadTransaction, workspace: str, type: str, *, branch: str | None, doc: str | None, seq: int | None
) -> HardDelete:
    """A note or a trace entry: it keeps its place, number and time, and reads `[erased]` from then on."""
    if seq is None:
        raise invalid_request(f"`seq` is needed: the number of the {type} entry", path="seq")
    key = {"workspace": normalize_workspace(workspace), "seq": seq}
    named = None if branch is None else find_branch(tx, workspace, branch)
    writer, found, source = tx.row(sql["entry_by_seq"], key) or (None, "", None)
    is_there = writer is not None and _is_meant(found, type, doc)
    if not is_there or not is_on(tx, log_view, named, found, [(seq, writer)]):
        raise MossError(
            "NOT_FOUND",
            f"there is no {type} entry {seq} {where(named, doc)}of workspace {workspace!r}",
            recovery=next_call("branchmind_docs_list", {"workspace": workspace}, "lists the documents there are"),
        )
    erasure = entries_erasure(tx, with_copies(tx, workspace, writer, seq, source))
    events = [] if source is None or source.startswith(_MERGED) else [source]
    return erasure.combined_with([HardDelete(lambda tx: blank_events(tx, events))])


def entries_erasure(tx: ReadTransaction, seqs: Iterable[int]) -> HardDelete:
    """Return the erasure of entries by their numbers, with what they say and whose they are."""
    numbers = sorted(set(seqs))
    texts: list[str | None] = []
    owners = []
    for seq in numbers:
        row = tx.row(sql["entry_texts"], {"seq": seq})
        if row is not None:
            title, content, meta, written_as, branch, canonical = row
            texts += _strings(json.loads(meta or "{}").get("payload")) if written_as == "event" else (title, content)
            owners += [branch.partition("/")[2]] if canonical else []
    return HardDelete(
        lambda tx: blank_entries(tx, numbers),
        rows=len(numbers),
        vectors=tx.vectors_of("note", numbers),
        texts=texts,
        places=[("doc_entries", seq) for seq in numbers],
        owners=owners,
    )


def _strings(payload: object) -> Iterator[str]:
    """Yield the texts that the payload of a task event holds."""
    if isinstance(payload, dict):
        yield from (value for name, value in payload.items() if name in ("title", "agent") and isinstance(value, str))


def _is_meant(found: str, type: str, doc: str | None) -> bool:
    """Whether an entry of this document is one that was asked for: of a document, or of any that may hold its kind."""
    if doc is not None:
        return found == doc
    return found != NOTES if type == "trace" else not found.endswith(TRACE)


def is_on(tx: ReadTransaction, look: Look, named: BranchRow | None, doc: str, found: list[tuple[int, int]]) -> bool:
    """Whether the branch that was named, if any, wrote or shows one of these: what is not there is not meant."""
    if named is None:
        return True
    view = look(tx, named.branch_id, doc)
    return any(writer == named.branch_id or view.shows(writer, seq) for seq, writer in found)


def where(named: BranchRow | None, doc: str | None) -> str:
    """The document and branch that were asked for, as a message names them."""
    told = f"in document {doc!r} " if doc else ""
    return told + (f"on branch {named.name!r} " if named else "")


def origin_of(source: str) -> int:
    """Return the number of the entry that a merge made a copy of; none of that number is 0."""
    return int(source.split(":")[2]) if source.startswith(_MERGED) else 0


def with_copies(tx: ReadTransaction, workspace: str, branch_id: int, seq: int, source: str | None) -> list[int]:
    """Return the numbers of an entry, of the one it was copied from, and of all copies of that."""
    origin, first = f"{_MERGED}{branch_id}:{seq}", seq
    if source is not None and source.startswith(_MERGED):
        origin, first = source, origin_of(source)
    copies = tx.stream(sql["all_copies_of"], {"workspace": normalize_workspace(workspace), "origin": origin})
    return sorted({seq, first, *(copy for (copy,) in copies)})


def copies_of_entries(tx: ReadTransaction, workspace: str, branch_id: int, seqs: list[int]) -> list[int]:
    """The numbers of what merges copied from these entries of a branch."""
    wanted = {f"{_MERGED}{branch_id}:{seq}" for seq in seqs}
    key = {
        "workspace": normalize_workspace(workspace),
        "first": f"{_MERGED}{branch_id}:",
        "after": f"{_MERGED}{branch_id};",
    }
    return [seq for seq, origin in tx.stream(sql["copies_from_branch"], key) if origin in wanted]


def blank_entries(tx: Transaction, seqs: list[int]) -> None:
    """Leaves of entries nothing but their places; search and vectors forget the old text and learn the new one."""
    for seq in seqs:
        step = _STEP.match(tx.value(sql["entry_title"], {"seq": seq}) or "")
        shown = tx.run(sql["hide_entry"], {"seq": seq})  # takes it out of the index while its text is still known
        tx.run(sql["blank_entry"], {"seq": seq, "erased": ERASED, "title": step and step[0]})
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


def versions_of_key(tx: ReadTransaction, workspace: str, key: str) -> list[tuple[int, str | None]]:
    """Return every version of a node, on every branch and in every document: its number and its title."""
    found = tx.stream(sql["versions_of_key"], {"workspace": normalize_workspace(workspace), "key": key})
    return [(seq, title) for seq, title in found]


def erase_copies_of_nodes(tx: Transaction, workspace: str, keys: list[str]) -> None:
    """Overwrite what other graphs and earlier versions still say of nodes whose own graph says it no more."""
    for key in keys:
        where = {"workspace": normalize_workspace(workspace), "key": key}
        for branch_id, doc in list(tx.stream(sql["graphs_that_show"], {**where, "title": ERASED})):
            place = DocumentRef(workspace, branch_by_id(tx, branch_id), doc)
            now = present(tx, graph_view(tx, branch_id, doc), doc, [key])
            if key in now and not now[key].deleted:
                shown = now[key]
                write(tx, place, [node(key, shown.type, title=ERASED, status=shown.status, meta=shown.meta_json)])
        for statement in ("blank_old_versions", "forget_conflicts_of_key"):
            tx.run(sql[statement], where)
