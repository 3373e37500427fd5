"""Entries of documents: validation, writing, and pages of the newest ones."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.branches.document_refs import touch_document
from moss_memory.tools.reasoning.branches.visible_ranges import reserve_seqs
from moss_memory.tools.reasoning.reasoning_arguments import check_label, check_length, meta_json
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
    from moss_memory.tools.reasoning.branches.visible_ranges import Range
    from moss_memory.tools.reasoning.cursor_pages import CursorPage, Rows

_LINE_CHARS = 200


class Entry(NamedRow):
    """One entry of a document."""

    __slots__ = ()
    seq: int
    branch_id: int
    written_as: str
    title: str | None
    format: str | None
    meta_json: str | None
    content: str
    source_event_id: str | None
    ts_ms: int
    by: str | None

    def to_dict(self, doc: str, names: dict[int, str]) -> dict[str, Any]:
        fields = {
            "seq": self.seq,
            "ts": format_time(self.ts_ms),
            "ts_ms": self.ts_ms,
            "branch": names[self.branch_id],
            "doc": doc,
            "kind": "event" if self.written_as == "event" else "note",
            "title": self.title,
            "format": self.format,
            "meta": None if self.meta_json is None else json.loads(self.meta_json),
            "content": self.content,
            "source_event_id": self.source_event_id,
            "by": None if self.written_as == "note" else self.by,
        }
        return {name: value for name, value in fields.items() if value is not None}


class Note:
    """A validated note."""

    __slots__ = ("content", "format", "meta_text", "title")

    def __init__(self, content: str, title: str | None, format: str | None, meta: dict[str, Any] | None) -> None:
        self.content = content
        self.title = title
        self.format = format
        self.meta_text = meta_json(meta)


def check_note(
    content: str,
    *,
    title: str | None = None,
    format: str | None = None,
    meta: dict[str, Any] | None = None,
    what: str = "content",
) -> Note:
    """Return a note within its limits; refuse an empty one."""
    if not content.strip():
        raise invalid_request(f"`{what}` is empty; write what is worth remembering", path=what)
    check_length(title, what="title")
    return Note(content, title, check_label(format, what="format"), meta)


def append_entry(
    tx: Transaction,
    document: DocumentRef,
    note: Note,
    *,
    written_as: str = "note",
    source_event_id: str | None = None,
    card_id: str | None = None,
) -> dict[str, Any]:
    seq = reserve_seqs(tx)
    row = {
        "seq": seq,
        "branch_id": document.branch.branch_id,
        "workspace": normalize_workspace(document.workspace),
        "doc": document.doc,
        "written_as": written_as,
        "title": note.title,
        "format": note.format,
        "meta_json": note.meta_text,
        "content": note.content,
        "source_event_id": source_event_id,
        "card_id": card_id,
        "ts_ms": tx.now_ms,
        "origin": tx.origin_key(),
    }
    tx.run(sql["add_entry"], row)
    touch_document(tx, document.branch.branch_id, document.doc, seq, seq)
    written = Entry([(row | {"by": tx.actor})[column] for column in Entry.columns])
    return written.to_dict(document.doc, {document.branch.branch_id: document.branch.name})


def newest_entries(
    tx: ReadTransaction, ranges: list[Range], doc: str, page: CursorPage, *, query: str = "entries_before"
) -> list[Entry]:
    """Return at most one entry more than the page holds, newest first, from the ranges below the page's cursor."""
    entries: list[Entry] = []
    for branch_id, after, upto in reversed(ranges):
        top, remaining = min(upto, page.before() - 1), page.limit + 1 - len(entries)
        if top > after and remaining > 0:
            parameters = {"branch_id": branch_id, "doc": doc, "after": after, "upto": top, "limit": remaining}
            entries.extend(map(Entry, tx.rows(sql[query], parameters)))
    return entries


def last_entries(
    tx: ReadTransaction, document: DocumentRef, page: CursorPage, *, query: str = "entries_before"
) -> Rows:
    """Return the last entries of a document below the page's cursor as fields, newest first."""
    view = document.log(tx)
    entries = newest_entries(tx, view.ranges, document.doc, page, query=query)
    return page.rows([entry.to_dict(document.doc, view.names) for entry in entries])


def entries_page(page: CursorPage, rows: Rows, kept: list[Any]) -> dict[str, Any]:
    return {"entries": kept[::-1], "pagination": page.pagination_of(rows, kept)}


def first_line(content: str) -> str:
    """Return the first line of a text, at most 200 characters long."""
    line = content.strip().partition("\n")[0].strip()
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"
