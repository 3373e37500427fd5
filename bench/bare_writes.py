"""A call that changes the store beside the statements with which it does so, as SQLite got them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.transaction import SqliteWrite

from .in_process import durable
from .measure import medians_us

CallContext = dict[str, Any]
Statement = tuple[str, Any]


def change_us(
    start: str, name: str, tool: str, calls: list[CallContext], *, at_least: int, synced: bool = True
) -> tuple[float, float]:
    """The microseconds of a change by Moss and of its bare writes, made in turn to two copies of the same store.

    Every call must write `at_least` so many statements. Unless `synced`, neither side waits for the disk.
    """
    heard = _writes(_copy(start, f"heard-{name}"), tool, calls)
    assert all(len(statements) >= at_least for statements in heard), "a side that wrote less would look fast"
    connection = durable(os.path.join(_copy(start, f"bare-{name}"), DATABASE))
    before = _events(connection, tool)
    ours, theirs = iter(calls), iter(heard)
    with open_store(_copy(start, f"moss-{name}")) as store:

        def moss_change() -> None:
            store.call(tool, next(ours))

        def bare_change() -> None:
            connection.execute("begin immediate")
            for sql, parameters in next(theirs):
                connection.execute(sql, parameters).fetchall()
            connection.execute("commit")

        moss_change()
        bare_change()
        if not synced:
            for writer in (store._engine._writer, connection):  # type: ignore[attr-defined]
                writer.execute("pragma synchronous = off")
        taken = medians_us(moss_change, bare_change, rounds=len(calls) - 4)
    assert _events(connection, tool) - before == len(calls), "a side that wrote less would look fast"
    connection.close()
    return taken[0], taken[1]


def _events(connection: apsw.Connection, tool: str) -> int:
    found: Any = connection.execute("select count(*) from events where tool = ?", (tool,)).fetchall()
    return int(found[0][0])


def _copy(start: str, name: str) -> str:
    return str(shutil.copytree(start, os.path.join(os.path.dirname(start), name)))


def _writes(home: str, tool: str, calls: list[CallContext]) -> list[list[Statement]]:
    """For each call the statements with which it changes the store, as SQLite gets them."""
    with open_store(home) as store, _listening() as heard:
        found = []
        for call in calls:
            heard.clear()
            store.call(tool, call)
            found.append([one for one in heard if one[0].lstrip().startswith(("insert", "update", "delete"))])
    return found


@contextmanager
def _listening() -> Iterator[list[Statement]]:
    """Every statement of the writing transactions that begin in this block."""
    heard: list[Statement] = []
    begin = SqliteWrite._begin

    def listen(cursor: apsw.Cursor, sql: str, parameters: Any) -> bool:
        heard.append((sql, parameters))
        return True

    def begin_and_listen(self: SqliteWrite) -> apsw.Connection:
        connection = begin(self)
        connection.exec_trace = listen
        return connection

    SqliteWrite._begin = begin_and_listen  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        SqliteWrite._begin = begin  # type: ignore[method-assign]
