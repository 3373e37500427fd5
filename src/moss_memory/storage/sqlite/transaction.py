"""One call on SQLite: its statements, its clock and ids, its event, and what happens after its commit."""

from __future__ import annotations

import os
import time

import apsw

from ...errors import MossError
from .lock import is_alive
from .migrate import SCHEMA_VERSION
from .opening import only_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...query.hits import Hits
    from ...query.request import Request
    from ..engine import Call, Parameters, Row
    from .engine import SqliteEngine
    from .readers import Reader

ERASE_PATIENCE_S = 2.0
LEASE_MS = 10_000
"""For so long after its last slice who erases is believed to be still at it."""
SLICE_S = 0.05
"""How long a slice of long work keeps others from writing, roughly."""
_CHANGES_PER_CALL = 1 << 24


class SqliteTransaction:
    """One call's statements on one connection, all of them on one state of the store."""

    __slots__ = ("_connection", "_engine", "_now_ms", "_reader", "call", "config", "tool")

    def __init__(self, engine: SqliteEngine, call: Call, reader: Reader | None) -> None:
        self._engine = engine
        self.call = call
        self.config = call.config
        self.tool = call.operation
        self._reader = reader
        self._connection = None if reader is None else reader.connection
        self._now_ms = 0 if reader is None else call.clock_ms()

    @property
    def connection(self) -> apsw.Connection:
        """The connection; the first to ask for it begins the transaction."""
        return self._connection or self._begin()

    @property
    def now_ms(self) -> int:
        if self._connection is None:
            self._begin()
        return self._now_ms

    @property
    def now(self) -> int:
        return self.now_ms // 1000

    @property
    def erases(self) -> dict[str, Any]:
        return {}

    def _begin(self) -> apsw.Connection:
        raise NotImplementedError("a reading transaction has begun when it is made")

    def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        return self.connection.execute(sql, parameters)

    stream = rows
    """SQLite gives its rows one by one anyway."""

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        found: Row | None = self.connection.execute(sql, parameters).fetchone()
        return found

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:
        row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    @property
    def schema_version(self) -> int:
        """The version of the schema that this transaction sees: no other is ever open."""
        return SCHEMA_VERSION

    def check_cancelled(self) -> None:
        self.call.check_cancelled()

    def progress(self, done: int, total: int | None = None) -> None:
        if self.call.progress is not None:
            self.call.progress(done, total)

    def search(self, request: Request) -> Hits:
        if request.needs_no_model:
            from .search import by_words  # most calls search nothing

            return by_words(self.connection, request, self.now)
        from ..meaning import by_meaning
        from .meaning import SqliteSearching

        return by_meaning(SqliteSearching(self._engine, self), request)

    def vectors_of(self, source: str, rows: list[int]) -> int:
        from ...query.hits import Document  # only erasing asks

        numbers = [Document(source, row).number for row in rows]
        counted = f"select count(*) from vectors where {self.is_any('doc', 'numbers')}"
        found: int = self.value(counted, {"numbers": numbers})
        return found

    def is_any(self, column: str, parameter: str) -> str:
        return f"{column} in (select value from json_each(:{parameter}))"

    def contains(self, column: str, parameter: str) -> str:
        return f"exists (select 1 from json_each({column}) where value = :{parameter})"

    def commit(self) -> None:
        self.rollback()  # there is nothing to keep

    def rollback(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("rollback")

    def release(self) -> None:
        if self._reader is not None:
            self._engine.give_back(self._reader)


class SqliteWrite(SqliteTransaction):
    """A transaction that changes the store: all of its statements happen, or none do.

    It holds nobody up until its first statement: whatever a call judges before, it judges beside the other writers.
    Its time is the time at which it became the only writer, so asking for it begins as a statement does; were it read
    earlier, changes would be dated in another order than they were made.
    """

    __slots__ = (
        "_address", "_after_event", "_began_s", "_changes", "_erase_into", "_erases", "_patience_s", "_recorded",
        "_workspace",
    )  # fmt: skip

    def __init__(self, engine: SqliteEngine, patience_s: float, call: Call) -> None:
        super().__init__(engine, call, None)
        self._patience_s = patience_s
        self._workspace: str | None = None
        self._address: str | None = None
        self._changes = 0
        self._after_event = 0
        self._recorded = False
        self._erase_into: tuple[dict[str, Any], str] | None = None
        self._began_s = 0.0
        self._erases = False

    def _begin(self) -> apsw.Connection:
        connection = self._connection = self._engine.enter_write(self._patience_s, self.call)
        self._now_ms = self.call.clock_ms()
        self._began_s = time.monotonic()
        return connection

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        for _ in self.connection.execute(sql, parameters):
            pass
        return self.connection.changes()

    def queue(self, sql: str, parameters: Parameters | None = None) -> None:
        self.run(sql, parameters)

    def insert_all(self, sql: str, rows: list[Parameters]) -> bool:
        before, _, after = sql.partition("values")
        row, _, after = after.partition(")")
        names = [name.strip().removeprefix(":") for name in row.partition("(")[2].split(",")]
        marks = f"({', '.join('?' * len(names))})"
        values = [parameters[name] for parameters in rows for name in names]
        try:
            self.connection.execute(f"{before}values {', '.join([marks] * len(rows))}{after}", values)
        except apsw.ConstraintError:
            return False
        return True

    def try_run(self, sql: str, parameters: Parameters | None = None) -> None:
        self.connection.execute("savepoint attempt")
        try:
            self.run(sql, parameters)
        except apsw.Error:
            if not self.connection.in_transaction:
                raise  # SQLite has undone the whole transaction, not only this statement
            self.connection.execute("rollback to attempt")
        self.connection.execute("release attempt")

    def new_id(self) -> str:
        return self.call.new_id(self.now_ms)

    def next_change(self, count: int = 1) -> int:
        if not self._changes:
            self._changes = (self._last_event() + 1) * _CHANGES_PER_CALL
        self._changes += count
        return self._changes

    def _last_event(self) -> int:
        last: int = only_value(self.connection, "select max(seq) from events") or 0
        return max(last, self._after_event)

    def go_on_after(self, change: int) -> None:
        self._after_event = max(self._after_event, change // _CHANGES_PER_CALL)

    def concerns(self, *, workspace: str | None = None, address: str | None = None) -> None:
        self._workspace = workspace
        self._address = address

    def erase_after_commit(self, result: dict[str, Any], *, told: str, anything: bool) -> None:
        if anything:
            from ..once import sql  # only what purges asks

            claim = (os.getpid(), now_ms() + LEASE_MS)
            self.connection.execute("insert into erasures (worker, until_ms) values (?, ?)", claim)
            self.connection.execute(sql["forget_answers"])
        self._erase_into = result, told

    def breathe(self) -> bool:
        if time.monotonic() - self._began_s > SLICE_S:
            self.append_event(self.call.operation)
            self.commit()
            self._engine.leave_write()
            self._connection = None  # the next statement begins again
            self._changes = 0
            self._recorded = False
        return self.call.cancelled is None or not self.call.cancelled()

    def record_event(self, *, workspace: str, address: str, payload: str) -> str:
        self._recorded = True
        return self._add_event(self.call.operation, workspace, address, payload)

    def change_nothing(self) -> None:
        self._recorded = True

    def append_event(self, tool: str) -> bool:
        if self._connection is not None and not self._recorded:
            self._add_event(tool, self._workspace, self._address, None)
        return self._connection is not None

    def _add_event(self, tool: str, workspace: str | None, address: str | None, payload: str | None) -> str:
        event_id = self.new_id()
        self.connection.execute(
            "insert into events (seq, event_id, workspace, tool, address, ts_ms, payload)"
            " values (:seq, :event_id, :workspace, :tool, :address, :ts_ms, :payload)",
            {
                "seq": self._last_event() + 1 if self._after_event else None,
                "event_id": event_id,
                "workspace": workspace,
                "tool": tool,
                "address": address,
                "ts_ms": self.now_ms,
                "payload": payload,
            },
        )
        return event_id

    def commit(self) -> None:
        if self._connection is None:
            return
        left = self._erase_into is not None or _is_left_to_erase(self._connection)
        self._connection.execute("commit")
        self._engine.confirm()
        self._erases = left

    def release(self) -> None:
        if self._connection is not None:
            self._engine.leave_write()
        if self._erases:
            self._finish_erasures()

    def _finish_erasures(self) -> None:
        """Finishes this purge or an earlier one; what fails here is left to the next write, not to the caller."""
        try:
            patience_s = 0.0 if self._erase_into is None else ERASE_PATIENCE_S
            erased = self._engine.erase(self.call, patience_s=patience_s)
        except (apsw.Error, MossError):
            erased = False
        if self._erase_into is not None:
            result, told = self._erase_into
            result[told] = erased


def _is_left_to_erase(connection: apsw.Connection) -> bool:
    """Whether something is to be erased that nobody is erasing right now."""
    row = connection.execute("select until_ms, worker from erasures order by until_ms desc limit 1").fetchone()
    return row is not None and (row[0] < now_ms() or not is_alive(row[1]))


def now_ms() -> int:
    """What the clock on the wall says: of who works now, whatever time a call believes it is."""
    return time.time_ns() // 1_000_000
