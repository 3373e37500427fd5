"""One call on SQLite: its statements, its clock and ids, its event, and the work after its commit."""

from __future__ import annotations

import os
import time

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.call import CHANGES_PER_CALL, ReadTransactionBase, WriteTransactionBase, wall_clock_ms

from .lock import is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.search.request import Hits, SearchRequest
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Parameters, Row

    from .engine import SqliteEngine
    from .lock import Hold
    from .readers import Reader

ERASE_TIMEOUT_S = 2.0
LEASE_MS = 10_000
"""Lease of a process that erases, from its last slice on."""


class SqliteTransaction(ReadTransactionBase):
    """The statements of one call on one connection; all statements of a read see the same snapshot."""

    __slots__ = ("_connection", "_engine", "_reader")

    def __init__(self, engine: SqliteEngine, call: CallContext, reader: Reader | None) -> None:
        self.call = call
        self.config = call.config
        self.tool = call.operation
        self._engine = engine
        self._reader = reader
        self._connection: apsw.Connection | None = None
        self._now_ms = 0
        if reader is not None:
            self._connection = reader.connection
            self._now_ms = call.clock_ms()

    def connect(self) -> apsw.Connection:
        """Return the connection; begin the transaction if it has not begun."""
        return self._connection or self._begin()

    @property
    def erasure_scope(self) -> dict[str, Any]:
        return {}

    def _begin(self) -> apsw.Connection:
        raise NotImplementedError("a reading transaction has begun when it is made")

    def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        return self.connect().execute(sql, parameters)

    stream = rows
    """SQLite returns its rows one by one anyway."""

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        found: Row | None = self.connect().execute(sql, parameters).fetchone()
        return found

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:
        row = self.connect().execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def search(self, request: SearchRequest) -> Hits:
        from .search_index import SqliteSearchIndex, search_by_words  # imported late: most calls do not search

        if request.is_lexical:
            return search_by_words(self.connect(), request, self.now)
        from moss_memory.search.ranking import search_with_vectors

        return search_with_vectors(SqliteSearchIndex(self._engine, self), request)

    def sql_in(self, column: str, parameter: str) -> str:
        return f"{column} in (select value from json_each(:{parameter}))"

    def sql_json_contains(self, column: str, parameter: str) -> str:
        return f"exists (select 1 from json_each({column}) where value = :{parameter})"

    def rollback(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("rollback")

    def release(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            self._engine.readers.give_back(reader)


class SqliteWrite(WriteTransactionBase, SqliteTransaction):
    """A transaction that changes the store: all of its statements happen, or none do.

    It acquires the write lock in `begin` or at its first statement, so a call checks its arguments without the lock.
    Its time is read under the lock, so that times are ordered as the changes are.
    """

    _hold: Hold | None = None

    def __init__(self, engine: SqliteEngine, timeout_s: float, call: CallContext) -> None:
        super().__init__(engine, call, None)
        self._timeout_s = timeout_s
        self._imported_event_seq = 0
        self._erase_into: tuple[dict[str, Any], str] | None = None
        self._must_erase = False

    def begin(self) -> None:
        if self._connection is None:
            self._begin()

    def _begin(self) -> apsw.Connection:
        self._end()  # after an earlier attempt that failed
        hold = self._hold = self._engine.new_hold()  # recorded before it acquires anything
        hold.acquire(self._timeout_s, self.call)
        connection = self._engine.begin_immediate()
        self._now_ms = self.call.clock_ms()
        self._began_s = time.monotonic()
        self._connection = connection
        return connection

    def _end(self) -> None:
        """Roll back uncommitted changes and release the lock; do nothing the second time."""
        self._connection = None
        if self._hold is not None:
            self._hold.release()
            self._hold = None

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        connection = self.connect()
        for _ in connection.execute(sql, parameters):
            pass
        return connection.changes()

    def queue(self, sql: str, parameters: Parameters | None = None) -> None:
        self.run(sql, parameters)

    def insert_all(self, sql: str, rows: list[Parameters]) -> bool:
        before, _, after = sql.partition("values")
        row, _, after = after.partition(")")
        names = [name.strip().removeprefix(":") for name in row.partition("(")[2].split(",")]
        marks = f"({', '.join('?' * len(names))})"
        values = [parameters[name] for parameters in rows for name in names]
        try:
            self.connect().execute(f"{before}values {', '.join([marks] * len(rows))}{after}", values)
        except apsw.ConstraintError:
            return False
        return True

    def try_run(self, sql: str, parameters: Parameters | None = None) -> None:
        self.connect().execute("savepoint attempt")
        try:
            self.run(sql, parameters)
        except apsw.Error:
            if not self.connect().in_transaction:
                raise  # SQLite has rolled back the whole transaction, not only this statement
            self.connect().execute("rollback to attempt")
        self.connect().execute("release attempt")

    def next_change(self, count: int = 1) -> int:
        if not self._changes:
            self._changes = (self._last_event() + 1) * CHANGES_PER_CALL
        self._changes += count
        return self._changes

    def _last_event(self) -> int:
        last: int = self.connect().execute("select max(seq) from events").get or 0
        return max(last, self._imported_event_seq)

    def advance_event_sequence(self, seq: int) -> None:
        self._imported_event_seq = max(self._imported_event_seq, seq)

    def erase_after_commit(self, result: dict[str, Any], *, field: str, anything: bool) -> None:
        if anything:
            from moss_memory.storage.idempotency import sql  # imported late: only purges need it

            lease = (os.getpid(), wall_clock_ms() + LEASE_MS)  # not by the call's clock
            self.connect().execute("insert into erasures (worker, until_ms) values (?, ?)", lease)
            self.connect().execute(sql["empty_answers"])
        self._erase_into = result, field

    def _pause(self) -> None:
        self._end()

    def _insert_event(self, event: Parameters) -> None:
        self.connect().execute(
            "insert into events (seq, event_id, workspace, tool, address, ts_ms, payload, origin)"
            " values (:seq, :event_id, :workspace, :tool, :address, :ts_ms, :payload, :origin)",
            {**event, "seq": self._last_event() + 1 if self._imported_event_seq else None},
        )

    def commit(self) -> None:
        if self._connection is None:
            return
        must_erase = self._erase_into is not None or _is_left_to_erase(self._connection)
        self._connection.execute("commit")
        if self._hold is not None:
            self._hold.before_release = None  # nothing is left to roll back
        self._engine.verify_committed()
        self._must_erase = must_erase

    def rollback(self) -> None:
        self._end()

    def release(self) -> None:
        self._end()
        erases, self._must_erase = self._must_erase, False
        if erases:
            self._finish_erasures()

    def __enter__(self) -> SqliteWrite:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self._end()

    def _finish_erasures(self) -> None:
        """Finish this purge or an earlier one; after a failure the next write finishes it."""
        try:
            timeout_s = 0.0 if self._erase_into is None else ERASE_TIMEOUT_S
            erased = self._engine.erase(self.call, timeout_s=timeout_s)
        except (apsw.Error, MossError):
            erased = False
        if self._erase_into is not None:
            result, field = self._erase_into
            result[field] = erased


def _is_left_to_erase(connection: apsw.Connection) -> bool:
    """Return True if an erasure is pending that no process works on."""
    row = connection.execute("select until_ms, worker from erasures order by until_ms desc limit 1").fetchone()
    return row is not None and (row[0] < wall_clock_ms() or not is_alive(row[1]))
