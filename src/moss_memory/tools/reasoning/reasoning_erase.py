"""Permanent erasure of notes and trace entries, including the copies that merges made."""

from __future__ import annotations

import json
import re

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.hard_delete import ERASED, HardDelete
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.branches.document_refs import NOTES, TRACE, DocumentRef, branch_by_id, find_branch
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view, log_view
from moss_memory.tools.reasoning.graph.node_versions import current_versions, new_node, write_versions
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.reasoning.branches.document_refs import BranchRow, OpenView

_MERGED = "merge:"
_STEP = re.compile(r"s:[0-9]+(?:\.s:[0-9]+)*(?= |$)")
"""The step path at the start of a note's title; it is an address and not erased."""


def erase_entry(
    tx: ReadTransaction, workspace: str, type: str, *, branch: str | None, doc: str | None, seq: int | None
) -> HardDelete:
    """Return the erasure of a note or trace entry; its seq and time remain and its text becomes `[erased]`."""
    if seq is None:
        raise invalid_request(f"`seq` is needed: the number of the {type} entry", path="seq")
    key = {"workspace": normalize_workspace(workspace), "seq": seq}
    branch_row = None if branch is None else find_branch(tx, workspace, branch)
    writer, entry_doc, source = tx.row(sql["entry_by_seq"], key) or (None, "", None)
    exists = writer is not None and _matches_document(entry_doc, type, doc)
    if not exists or not shows_any(tx, log_view, branch_row, entry_doc, [(seq, writer)]):
        raise MossError(
            "NOT_FOUND",
            f"there is no {type} entry {seq} {describe_location(branch_row, doc)}of workspace {workspace!r}",
            recovery=next_call("branchmind_docs_list", {"workspace": workspace}, "lists the documents there are"),
        )
    erasure = entries_erasure(tx, entry_and_copies(tx, workspace, writer, seq, source))
    events = [] if source is None or source.startswith(_MERGED) else [source]
    return erasure.combined_with([HardDelete(lambda tx: blank_events(tx, events))])


def entry_location(tx: ReadTransaction, type: str, seq: int) -> tuple[str, str]:
    """Return the workspace and the document of an entry, whose number is unique in the store."""
    location = tx.row(sql["entry_location"], {"seq": seq})
    if location is None:
        raise MossError(
            "NOT_FOUND",
            f"there is no {type} entry {seq} in any workspace",
            recovery=next_call("moss_workspaces", {}, "lists the workspaces there are"),
        )
    return str(location[0]), str(location[1])


def entries_erasure(tx: ReadTransaction, seqs: Iterable[int]) -> HardDelete:
    """Return the erasure of entries by their seqs, with their texts and owners."""
    numbers = sorted(set(seqs))
    texts: list[str | None] = []
    owners = []
    for seq in numbers:
        row = tx.row(sql["entry_texts"], {"seq": seq})
        if row is not None:
            title, content, meta, written_as, branch, canonical = row
            if written_as == "event":
                payload = json.loads(meta or "{}").get("payload")
                fields = payload if isinstance(payload, dict) else {}
                texts += [
                    fields[name] for name in fields if name in ("title", "agent") and isinstance(fields[name], str)
                ]
            else:
                texts += (title, content)
            if canonical:
                owners.append(branch.partition("/")[2])
    return HardDelete(
        lambda tx: blank_entries(tx, numbers),
        rows=len(numbers),
        vectors=tx.vectors_of("note", numbers),
        texts=texts,
        row_versions=[("doc_entries", seq) for seq in numbers],
        owners=owners,
    )


def _matches_document(entry_doc: str, type: str, doc: str | None) -> bool:
    """Return True if an entry's document is the given one, or one of the type's documents if None."""
    if doc is not None:
        return entry_doc == doc
    return entry_doc != NOTES if type == "trace" else not entry_doc.endswith(TRACE)


def shows_any(
    tx: ReadTransaction, open_view: OpenView, branch: BranchRow | None, doc: str, found: list[tuple[int, int]]
) -> bool:
    """Return True if no branch was named, or if the named branch wrote or shows one of the entries."""
    if branch is None:
        return True
    view = open_view(tx, branch.branch_id, doc)
    return any(writer == branch.branch_id or view.shows(writer, seq) for seq, writer in found)


def describe_location(branch: BranchRow | None, doc: str | None) -> str:
    document = f"in document {doc!r} " if doc else ""
    return document + (f"on branch {branch.name!r} " if branch else "")


def original_seq(source: str) -> int:
    """Return the seq of the original that a merge copied, or 0 if the entry is no copy."""
    return int(source.split(":")[2]) if source.startswith(_MERGED) else 0


def entry_and_copies(tx: ReadTransaction, workspace: str, branch_id: int, seq: int, source: str | None) -> list[int]:
    """Return the seqs of an entry, of its original and of all copies of that."""
    origin, first = f"{_MERGED}{branch_id}:{seq}", seq
    if source is not None and source.startswith(_MERGED):
        origin, first = source, original_seq(source)
    copies = tx.stream(sql["all_copies_of"], {"workspace": normalize_workspace(workspace), "origin": origin})
    return sorted({seq, first, *(copy for (copy,) in copies)})


def copies_of_entries(tx: ReadTransaction, workspace: str, branch_id: int, seqs: list[int]) -> list[int]:
    """Return the seqs of the copies that merges made of entries of a branch."""
    origins = {f"{_MERGED}{branch_id}:{seq}" for seq in seqs}
    key = {
        "workspace": normalize_workspace(workspace),
        "first": f"{_MERGED}{branch_id}:",
        "after": f"{_MERGED}{branch_id};",
    }
    return [seq for seq, origin in tx.stream(sql["copies_from_branch"], key) if origin in origins]


def blank_entries(tx: Transaction, seqs: list[int]) -> None:
    """Replace the text of entries by `[erased]` and index them again."""
    for seq in seqs:
        step = _STEP.match(tx.value(sql["entry_title"], {"seq": seq}) or "")
        was_visible = tx.run(sql["hide_entry"], {"seq": seq})  # removing it from the index needs the old text
        tx.run(sql["blank_entry"], {"seq": seq, "erased": ERASED, "title": step and step[0]})
        if was_visible:
            tx.run(sql["show_entry"], {"seq": seq})


def blank_events(tx: Transaction, event_ids: list[str]) -> None:
    """Remove the payloads of task events except the seq of a note."""
    for event_id in event_ids:
        payload = tx.value(sql["event_payload"], {"event_id": event_id})
        if payload is not None:
            event = json.loads(payload)
            note = event["payload"].get("seq")
            event["payload"] = {} if note is None else {"seq": note}
            tx.run(
                sql["set_event_payload"], {"event_id": event_id, "payload": json.dumps(event, separators=(",", ":"))}
            )


def versions_of_key(tx: ReadTransaction, workspace: str, key: str) -> list[tuple[int, str | None]]:
    """Return the seq and title of each version of a node, on all branches and in all documents."""
    rows = tx.stream(sql["versions_of_key"], {"workspace": normalize_workspace(workspace), "key": key})
    return [(seq, title) for seq, title in rows]


def erase_copies_of_nodes(tx: Transaction, workspace: str, keys: list[str]) -> None:
    """Overwrite the titles of nodes in other graphs and earlier versions."""
    for key in keys:
        parameters = {"workspace": normalize_workspace(workspace), "key": key}
        for branch_id, doc in list(tx.stream(sql["graphs_that_show"], {**parameters, "title": ERASED})):
            document = DocumentRef(workspace, branch_by_id(tx, branch_id), doc)
            current = current_versions(tx, graph_view(tx, branch_id, doc), [key])
            if key in current and not current[key].deleted:
                version = current[key]
                write_versions(
                    tx,
                    document,
                    [new_node(key, version.type, title=ERASED, status=version.status, meta=version.meta_json)],
                )
        for statement in ("blank_old_versions", "forget_conflicts_of_key"):
            tx.run(sql[statement], parameters)
