"""One call on PostgreSQL: its statements, its clock and ids, its event, and what happens around its commit."""

from __future__ import annotations

import time

import psycopg

from moss_memory.storage.transaction import CHANGES_PER_CALL, ReadTransactionBase, WriteTransactionBase

from .error_mapping import Unconfirmed, is_lost
from .statements import for_rows, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from moss_memory.search.hits import Hits
    from moss_memory.search.request import SearchRequest
    from moss_memory.storage.engine import CallContext, Parameters, Row

    from .connections import Connection
    from .engine import PostgresEngine

    Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]

STREAMED = 1000
"""So many rows of a long read are held at a time."""
SNAPSHOT = "begin isolation level repeatable read read only"


class PostgresTransaction(ReadTransactionBase):
    """One call's statements on one connection, all of them on one state of the store."""

    __slots__ = ("_connection", "_cursors", "_engine", "_queued")

    def __init__(self, engine: PostgresEngine, call: CallContext, *, snapshot: bool) -> None:
        super().__init__(call)
        self._engine = engine
        self._connection: Connection | None = None
        self._now_ms = call.clock_ms()
        self._cursors = 0
        self._queued: list[tuple[str, list[Any] | None]] = [(SNAPSHOT, None)] if snapshot else []

    @property
    def connection(self) -> Connection:
        """The connection; the first to ask for it begins the transaction."""
        return self._connection or self._begin()

    @property
    def now_ms(self) -> int:
        return self._engine.now_ms(self.call, self._now_ms)

    @property
    def erases(self) -> dict[str, Any]:
        return {"scope": "database"}  # the server's log, standbys and backups are out of reach

    def _begin(self) -> Connection:
        connection = self._connection = self._engine.take()
        return connection

    def execute(self, sql: str, parameters: Parameters | None = None) -> Cursor:
        """Runs one statement, after those that wait, in one message; every other method goes through this one."""
        statement = translated(sql)
        return self.send(statement.sql, statement.values(parameters))

    def send(self, sql: str, values: list[Any] | None) -> Cursor:
        """The same for a statement in PostgreSQL's own words, with `$1`."""
        return self._send_all([(sql, values)])[0]

    def _send_all(self, statements: list[tuple[str, list[Any] | None]], *, binary: bool = False) -> list[Cursor]:
        first = self._connection is None
        connection = self.connection
        queued, self._queued = self._queued, []
        try:
            return _sent(connection, queued, statements, binary)
        except psycopg.OperationalError as error:
            if not first or not self._may_begin_again or not is_lost(error):
                raise
        # Nothing was done yet: the connection was cut off while it waited for its next call.
        connection = self._connection = self._engine.take_again(connection)
        return _sent(connection, queued, statements, binary)

    @property
    def _may_begin_again(self) -> bool:
        return True

    def queue(self, sql: str, parameters: Parameters | None = None) -> None:
        """Runs a statement whose answer nobody needs together with the next one, or with the commit."""
        statement = translated(sql)
        self._queued.append((statement.sql, statement.values(parameters)))

    def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        return iter(self.execute(sql, parameters).fetchall())

    def together(self, *asked: tuple[str, Parameters]) -> list[list[Row]]:
        """The rows of several statements, all of them sent in one message; bytes come as they are."""
        known = [(translated(sql), given) for sql, given in asked]
        statements = [(statement.sql, statement.values(given)) for statement, given in known]
        cursors = self._send_all(statements, binary=True)
        return [cursor.fetchall() for cursor in cursors]

    def begin_snapshot(self) -> None:
        """Lets all further statements of a call that reads see one state of the store."""
        self._open_block()

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Rows by a cursor on the server, so many at a time; a short answer takes one message."""
        statement = translated(sql)
        self._open_block()
        self._cursors += 1
        name = f"stream_{self._cursors}"
        values = statement.values(parameters)
        self._queued.append((f"declare {name} no scroll cursor for {statement.sql}", values))
        while True:
            found = self.send(f"fetch {STREAMED} from {name}", None).fetchall()
            yield from found
            if len(found) < STREAMED:
                self._queued.append((f"close {name}", None))
                return

    def _open_block(self) -> None:
        """Makes sure that a transaction is open or about to be: cursors live in one."""
        if not self._queued and (
            self._connection is None or self._connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        ):
            self._queued.append((SNAPSHOT, None))

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        return self.execute(sql, parameters).fetchone()

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def search(self, request: SearchRequest) -> Hits:
        self.begin_snapshot()
        if request.is_lexical:
            from .word_search import by_words  # most calls search nothing

            return by_words(self, request)
        from moss_memory.search.hybrid import by_meaning

        from .vector_search import PostgresSearching

        return by_meaning(PostgresSearching(self._engine, self), request)

    def sql_in(self, column: str, parameter: str) -> str:
        return f"{column} = any(:{parameter})"

    def sql_json_contains(self, column: str, parameter: str) -> str:
        return f"jsonb_exists({column}::jsonb, :{parameter})"

    def rollback(self) -> None:
        self._queued = []
        connection = self._connection
        if connection is not None and not connection.closed and not _is_idle(connection):
            try:
                connection.execute("; ".join(["rollback", *self._given_back()]))
            except psycopg.Error:
                connection.close()  # the server undoes what it was sent

    def _given_back(self) -> list[str]:
        """Statements that give back what it took in vain."""
        return []

    def release(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._engine.give_back(connection)


class PostgresWrite(WriteTransactionBase, PostgresTransaction):
    """A transaction that changes the store: all of its statements happen, or none do.

    It holds nobody up until its first statement: whatever a call judges before, it judges beside the other writers.
    Its time is the time at which it had the lock, so asking for it begins as a statement does; were it read earlier,
    changes would be dated in another order than they were made.
    """

    def __init__(self, engine: PostgresEngine, timeout_s: float, call: CallContext) -> None:
        super().__init__(engine, call, snapshot=False)
        self._prepare(timeout_s)
        self._number = 0
        self._indexes = False
        self._erases = False
        self._taken: list[str] = []
        self._learnt: dict[int, dict[str, int]] = {}

    def _begin(self) -> Connection:
        connection, self._number, self._now_ms = self._engine.begin_write_lock(self._timeout_s, self.call)
        self._taken = [f"select give_back_change({self._number})"]
        self._connection = connection
        self._began_s = time.monotonic()
        return connection

    def _open_block(self) -> None:
        self.begin()  # a writing transaction is open from its first statement on

    @property
    def _may_begin_again(self) -> bool:
        return False  # it has the lock; beginning found out whether the connection lives

    def execute(self, sql: str, parameters: Parameters | None = None) -> Cursor:
        """Runs one statement and remembers what has to follow it: numbers that count on, the index."""
        statement = translated(sql)
        cursor = self.send(statement.sql, statement.values(parameters))
        self._indexes = self._indexes or statement.changes_documents
        if statement.counted_in:
            self._count_on(statement.counted_in)
        if statement.takes_numbers and parameters is not None:
            self._note_taken(cursor, **parameters)
        return cursor

    def _note_taken(self, cursor: Cursor, *, series: str, count: int) -> None:
        """Remembers which numbers it took; the caller reads the answer after this."""
        (last,) = cursor.fetchone() or (0,)
        cursor.scroll(0, mode="absolute")
        self._taken.append(f"select give_back_numbers('{series}', {last - count}, {last})")

    def _given_back(self) -> list[str]:
        return self._taken[::-1]

    def _count_on(self, table: str) -> None:
        """Lets a table's own numbers go on after those that were given."""
        self._queued.append((
            f"select setval(pg_get_serial_sequence('{table}', 'row_id'), greatest(max(row_id), 1)) from {table}", None
        ))  # fmt: skip

    def queue(self, sql: str, parameters: Parameters | None = None) -> None:
        self.begin()
        super().queue(sql, parameters)
        statement = translated(sql)
        self._indexes = self._indexes or statement.changes_documents
        if statement.counted_in:
            self._count_on(statement.counted_in)

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        return max(self.execute(sql, parameters).rowcount, 0)

    def insert_all(self, sql: str, rows: list[Parameters]) -> bool:
        statement, values = for_rows(sql, rows)
        one = translated(sql)
        self.begin()  # before the savepoint
        self._queued.append(("savepoint attempt", None))
        try:
            self.send(statement, values)
        except psycopg.IntegrityError:
            self.send("rollback to savepoint attempt", None)
            return False
        self._queued.append(("release savepoint attempt", None))
        self._indexes = self._indexes or one.changes_documents
        if one.counted_in:
            self._count_on(one.counted_in)
        return True

    def try_run(self, sql: str, parameters: Parameters | None = None) -> None:
        self.begin()  # before the savepoint
        self._queued.append(("savepoint attempt", None))
        try:
            self.run(sql, parameters)
        except psycopg.Error as error:
            if is_lost(error):
                raise
            self.send("rollback to savepoint attempt", None)
        self._queued.append(("release savepoint attempt", None))

    def next_change(self, count: int = 1) -> int:
        if not self._changes:
            self.begin()  # which takes the number
            self._changes = self._number * CHANGES_PER_CALL
        self._changes += count
        return self._changes

    def advance_event_sequence(self, seq: int) -> None:
        self.begin()
        if seq >= self._number:
            self._number = seq + 1
            self._changes = 0
            moved = "select setval(pg_get_serial_sequence('events', 'seq'), greatest(:number, max(seq))) from events"
            self.execute(moved, {"number": self._number})

    def erase_after_commit(self, result: dict[str, Any], *, field: str, anything: bool) -> None:
        if anything:
            from moss_memory.storage.idempotency import sql  # only what purges asks

            self.run(sql["forget_answers"])
            self._erases = True
        result.update({field: True, **self.erases})

    def _pause(self) -> None:
        self.release()

    def _add_event(self, tool: str, workspace: str | None, address: str | None, payload: str | None) -> str:
        event_id = self.new_id()
        number, self._number = self._number, 0
        self.queue(
            "insert into events (seq, event_id, workspace, tool, address, ts_ms, payload) values ("
            f"{':seq' if number else 'default'}, :event_id, :workspace, :tool, :address, :ts_ms, :payload)",
            {
                "seq": number,
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
        self._bring_index_up_to_date()
        if self._number and not self._changes:
            self._queued.append((self._taken[0], None))  # nothing bears its number
        warnings: list[str] = []
        heard = _warnings_into(warnings)
        self._connection.add_notice_handler(heard)
        try:
            self.send("commit", None)
        except psycopg.OperationalError as error:
            if not is_lost(error):
                raise
            raise Unconfirmed("the connection was lost while it was committed") from error
        finally:
            self._connection.remove_notice_handler(heard)
        if warnings:
            raise Unconfirmed(warnings[0])
        for generation, numbers in self._learnt.items():
            self._engine.dictionary.learn(generation, numbers)
        self._learnt = {}

    def known_words(self, generation: int) -> dict[str, int]:
        """The numbers of words that are known already, where words were taken out so often."""
        learnt = self._learnt.get(generation)
        known = self._engine.dictionary.known(generation)
        return {**known, **learnt} if learnt else known

    def learn_words(self, generation: int, numbers: dict[str, int]) -> None:
        """Remembers numbers of words for later calls, once this one is committed."""
        self._learnt.setdefault(generation, {}).update(numbers)

    def _bring_index_up_to_date(self) -> None:
        """Indexes what was changed; what is erased leaves nothing in the index either."""
        if self._indexes or self._erases:
            from .indexer import index_changes

            index_changes(self, changes=self._indexes, erases=self._erases)
            self._indexes = self._erases = False

    def begin_snapshot(self) -> None:
        """Makes what this call has changed itself visible to its searches."""
        self._bring_index_up_to_date()


def _warnings_into(warnings: list[str]) -> Callable[[psycopg.errors.Diagnostic], None]:
    """Hears what a server says beside its answers: that it no longer waits for a standby is a warning."""

    def heard(said: psycopg.errors.Diagnostic) -> None:
        if said.severity_nonlocalized == "WARNING":
            warnings.append(said.message_primary or "a warning")

    return heard


def _is_idle(connection: Connection) -> bool:
    return connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def _sent(
    connection: Connection,
    before: list[tuple[str, list[Any] | None]],
    statements: list[tuple[str, list[Any] | None]],
    binary: bool,
) -> list[Cursor]:
    """Runs statements after others whose answers nobody needs, all in one message."""
    if not before and len(statements) == 1:
        return [connection.execute(*statements[0], binary=binary)]
    with connection.pipeline():
        for earlier, given in before:
            connection.execute(earlier, given)
        return [connection.execute(sql, values, binary=binary) for sql, values in statements]
