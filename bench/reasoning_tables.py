"""The tables of reasoning without its tools: fills large stores fast, and is the bare side of every comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import time_ns

import apsw

from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.tools.reasoning.graph.node_versions import Version

Row = tuple[object, ...]

WORKSPACE = "bench"
NOTE_CHARS = 200
NEVER = 2**63 - 1
"""The `next_seq` of a version that still holds."""
_ENTRY = (
    "seq", "branch_id", "workspace_norm", "doc", "written_as", "title", "content", "source_event_id", "ts_ms",
)  # fmt: skip
_SAID = (
    "key", "type", "title", "text", "status", "tags_json", "from_id", "rel", "to_id", "meta_json", "deleted", "state",
)  # fmt: skip
_VERSION = ("seq", "branch_id", "workspace_norm", "doc", *_SAID, "ts_ms", "next_seq")
_TAG = ("branch_id", "doc", "tag", "seq")
_TAKE = "update numbers set last = last + ? where series = 'seq' returning last"
_TOUCH = """
insert into documents (branch_id, shape, doc, first_seq, last_seq) values (?, ?, ?, ?, ?)
on conflict (branch_id, shape, doc) do update set last_seq = excluded.last_seq
"""
_EVENT = "insert into events (event_id, workspace, tool, address, ts_ms) values (?, ?, ?, ?, ?)"


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"


_ADD_ENTRY, _ADD_VERSION = _insert("doc_entries", _ENTRY), _insert("graph_versions", _VERSION)
_ADD_TAG = _insert("graph_tags", _TAG)


class Tables:
    """Rows go in as they are given, with their indexes and triggers; nothing is checked."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def branch(self, name: str, *, workspace: str = WORKSPACE) -> int:
        """The id of a branch."""
        sql = "select branch_id from branches where workspace_norm = ? and name = ?"
        ((branch_id,),) = self.connection.execute(sql, (workspace, name)).fetchall()
        assert isinstance(branch_id, int)
        return branch_id

    def take(self, count: int) -> int:
        """The first of so many numbers."""
        ((last,),) = self.connection.execute(_TAKE, (count,)).fetchall()
        assert isinstance(last, int)
        return last - count + 1

    def add_notes(
        self, branch_id: int, notes: Iterable[tuple[str, str | None]], count: int, *, workspace: str = WORKSPACE
    ) -> None:
        """So many notes, each with its text and its origin."""
        first, now_ms = self.take(count), time_ns() // 1_000_000
        rows = (
            (seq, branch_id, workspace, "notes", "note", None, text, origin, now_ms)
            for seq, (text, origin) in enumerate(notes, start=first)
        )
        self.connection.executemany(_ADD_ENTRY, rows)
        self.connection.execute(_TOUCH, (branch_id, "log", "notes", first, first + count - 1))

    def add_entries(self, places: list[tuple[int, str]], texts: Iterable[str], *, written_as: str) -> None:
        """One entry for each place, a branch and a document, in their order."""
        first, now_ms = self.take(len(places)), time_ns() // 1_000_000
        for seq, ((branch_id, doc), text) in enumerate(zip(places, texts, strict=False), start=first):
            row = (seq, branch_id, WORKSPACE, doc, written_as, None, text, None, now_ms)
            self.connection.execute(_ADD_ENTRY, row)
            self.connection.execute(_TOUCH, (branch_id, "log", doc, seq, seq))

    def add_versions(
        self,
        branch_id: int,
        versions: list[Row],
        tags: list[tuple[int, str]],
        *,
        replaced: dict[int, int] | None = None,
    ) -> None:
        """Versions of nodes and edges; tags with the place of their node, replaced ones with the place of the next."""
        first, now_ms = self.take(len(versions)), time_ns() // 1_000_000
        until = {place: first + by for place, by in (replaced or {}).items()}
        rows = (
            (first + place, branch_id, WORKSPACE, "graph", *said, now_ms, until.get(place, NEVER))
            for place, said in enumerate(versions)
        )
        self.connection.executemany(_ADD_VERSION, rows)
        self.connection.executemany(_ADD_TAG, [(branch_id, "graph", tag, first + place) for place, tag in tags])
        self.connection.execute(_TOUCH, (branch_id, "graph", "graph", first, first + len(versions) - 1))

    def add_event(self, tool: str) -> None:
        """The row that every writing call leaves behind."""
        now_ns = time_ns()
        self.connection.execute(_EVENT, (f"{now_ns:026d}", WORKSPACE, tool, "main:graph", now_ns // 1_000_000))


@contextmanager
def tables_of(home: str) -> Iterator[Tables]:
    """The tables of a store, filled in one transaction and brought into its file."""
    connection = apsw.Connection(os.path.join(home, DATABASE))
    prepare(connection)
    try:
        with connection:
            yield Tables(connection)
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    finally:
        connection.close()


def said(version: Version) -> Row:
    """What a version says, in the order in which `add_versions` takes it."""
    return tuple(getattr(version, column) for column in _SAID)
