"""The transactions of calls on PostgreSQL: statements, time and ids, the event, and the commit."""

from __future__ import annotations

import time

import psycopg

from moss_memory.storage.call import CHANGES_PER_CALL, ReadTransactionBase, WriteTransactionBase

from .clock import is_wall_clock
from .connections import is_idle
from .error_mapping import UnconfirmedCommit, is_lost
from .statements import expand_rows, translate_sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    from moss_memory.search.request import Hits, SearchRequest
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Parameters, Row

    from .connections import Connection
    from .engine import PostgresEngine
    from .statements import TranslatedSql

    Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]

STREAMED = 1000
"""The number of rows that a streamed read fetches at a time."""
SNAPSHOT = "begin isolation level repeatable read read only"


class PostgresTransaction(ReadTransactionBase):
    """The statements of one call on one connection; with `snapshot` all see the same snapshot."""

    __slots__ = ("_began_at_s", "_connection", "_cursors", "_engine", "_queued", "_server_ms")

    def __init__(self, engine: PostgresEngine, call: CallContext, *, snapshot: bool) -> None:
        self.call = call
        self.config = call.config
        self.tool = call.operation
        self._engine = engine
        self._connection: Connection | None = None
        self._now_ms = call.clock_ms()
        self._began_at_s = time.monotonic()
        self._server_ms: int | None = None
        self._cursors = 0
        self._queued: list[tuple[str, list[Any] | None]] = [(SNAPSHOT, None)] if snapshot else []

    @property
    def now_ms(self) -> int:
        if not is_wall_clock(self.call):
            return self._now_ms
        if self._server_ms is None:
            self._server_ms = self._engine.server_ms(self._began_at_s, self._connection)
        return self._server_ms

    @property
    def erasure_scope(self) -> dict[str, Any]:
        return {"scope": "database"}  # not the server's log, standbys and backups

    def _begin(self) -> Connection:
        connection = self._connection = self._engine.acquire()
        return connection

    def execute(self, sql: str, parameters: Parameters | None = None) -> Cursor:
        """Run the queued statements and then this one, in one message."""
        statement = translate_sql(sql)
        return self.send(statement.sql, statement.values(parameters))

    def send(self, sql: str, values: list[Any] | None) -> Cursor:
        """Run a statement that is already in PostgreSQL's syntax, with `$1`."""
        return self._send_all([(sql, values)])[0]

    def _send_all(self, statements: list[tuple[str, list[Any] | None]], *, binary: bool = False) -> list[Cursor]:
        first = self._connection is None
        connection = self._connection or self._begin()
        queued, self._queued = self._queued, []
        try:
            return _run_pipeline(connection, queued, statements, binary)
        except psycopg.OperationalError as error:
            if not first or not self._may_begin_again or not is_lost(error):
                raise
        # Nothing was done yet: the connection was lost while idle.
        connection = self._connection = self._engine.replace_lost(connection)
        return _run_pipeline(connection, queued, statements, binary)

    @property
    def _may_begin_again(self) -> bool:
        return True

    def queue(self, sql: str, parameters: Parameters | None = None) -> None:
        """Queue a statement whose result is not needed, to be sent with the next one or with the commit."""
        statement = translate_sql(sql)
        self._queued.append((statement.sql, statement.values(parameters)))

    def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        return iter(self.execute(sql, parameters).fetchall())

    def together(self, *statements: tuple[str, Parameters]) -> list[list[Row]]:
        """Run several statements in one message and return the rows of each, in binary format."""
        translated = [(translate_sql(sql), parameters) for sql, parameters in statements]
        cursors = self._send_all(
            [(statement.sql, statement.values(parameters)) for statement, parameters in translated], binary=True
        )
        return [cursor.fetchall() for cursor in cursors]

    def begin_snapshot(self) -> None:
        """Run all further statements of a read on one snapshot."""
        self._open_block()

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield rows by a cursor on the server, `STREAMED` at a time; a short result takes one message."""
        statement = translate_sql(sql)
        self._open_block()
        self._cursors += 1
        name = f"stream_{self._cursors}"
        values = statement.values(parameters)
        self._queued.append((f"declare {name} no scroll cursor for {statement.sql}", values))
        while True:
            rows = self.send(f"fetch {STREAMED} from {name}", None).fetchall()
            yield from rows
            if len(rows) < STREAMED:
                self._queued.append((f"close {name}", None))
                return

    def _open_block(self) -> None:
        """Queue the begin of a transaction, which a cursor needs, if none is open."""
        if not self._queued and (self._connection is None or is_idle(self._connection)):
            self._queued.append((SNAPSHOT, None))

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        return self.execute(sql, parameters).fetchone()

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def search(self, request: SearchRequest) -> Hits:
        self.begin_snapshot()
        if request.is_lexical:
            from .word_search import search_by_words  # most calls search nothing

            return search_by_words(self, request)
        from moss_memory.search.ranking import search_with_vectors

        from .search_index import PostgresSearchIndex

        return search_with_vectors(PostgresSearchIndex(self._engine, self), request)

    def sql_in(self, column: str, parameter: str) -> str:
        return f"{column} = any(:{parameter})"

    def sql_json_contains(self, column: str, parameter: str) -> str:
        return f"jsonb_exists({column}::jsonb, :{parameter})"

    def rollback(self) -> None:
        self._queued = []
        connection = self._connection
        if connection is not None and not connection.closed and not is_idle(connection):
            try:
                connection.execute("; ".join(["rollback", *self._undo_statements()]))
            except psycopg.Error:
                connection.close()  # the server rolls back

    def _undo_statements(self) -> list[str]:
        """Return statements that return unused numbers to their sequences after a rollback."""
        return []

    def release(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._engine.give_back(connection)


class PostgresWrite(WriteTransactionBase, PostgresTransaction):
    """A transaction that changes the store.

    `begin` or the first statement acquires the write lock, so input is validated without it. The time of the
    transaction is the time of the lock, so that times have the order of the commits.
    """

    def __init__(self, engine: PostgresEngine, timeout_s: float, call: CallContext) -> None:
        super().__init__(engine, call, snapshot=False)
        self._timeout_s = timeout_s
        self._event_number = 0
        """The number reserved for the event of this call, which precedes the numbers of its changes; 0 if none."""
        self._indexes = False
        self._must_erase = False
        self._index_is_due = False
        self._give_back_statements: list[str] = []
        self._new_term_ids: dict[int, dict[str, int]] = {}

    def begin(self) -> None:
        if self._connection is None:
            self._begin()

    def _begin(self) -> Connection:
        connection, self._event_number, self._now_ms = self._engine.begin_write_lock(self._timeout_s, self.call)
        self._give_back_statements = [f"select give_back_change({self._event_number})"]
        self._connection = connection
        self._began_s = time.monotonic()
        return connection

    def _open_block(self) -> None:
        self.begin()

    @property
    def _may_begin_again(self) -> bool:
        return False  # acquiring the lock has tested the connection

    def execute(self, sql: str, parameters: Parameters | None = None) -> Cursor:
        """Run one statement, and note if sequences have to be advanced or documents indexed after it."""
        statement = translate_sql(sql)
        cursor = self.send(statement.sql, statement.values(parameters))
        self._note_effects(statement)
        if statement.takes_numbers and parameters is not None:
            self._note_taken(cursor, **parameters)
        return cursor

    def _note_effects(self, statement: TranslatedSql) -> None:
        self._indexes = self._indexes or statement.changes_documents
        if table := statement.counted_in:
            self._queued.append((
                f"select setval(pg_get_serial_sequence('{table}', 'row_id'), greatest(max(row_id), 1)) from {table}",
                None,
            ))  # fmt: skip

    def _note_taken(self, cursor: Cursor, *, series: str, count: int) -> None:
        """Note the numbers that were taken, and rewind the cursor for the caller."""
        (last,) = cursor.fetchone() or (0,)
        cursor.scroll(0, mode="absolute")
        self._give_back_statements.append(f"select give_back_numbers('{series}', {last - count}, {last})")

    def _undo_statements(self) -> list[str]:
        return self._give_back_statements[::-1]

    def queue(self, sql: str, parameters: Parameters | None = None) -> None:
        self.begin()
        super().queue(sql, parameters)
        self._note_effects(translate_sql(sql))

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        return max(self.execute(sql, parameters).rowcount, 0)

    def insert_all(self, sql: str, rows: list[Parameters]) -> bool:
        statement, values = expand_rows(sql, rows)
        self.begin()
        self._queued.append(("savepoint attempt", None))
        try:
            self.send(statement, values)
        except psycopg.IntegrityError:
            self.send("rollback to savepoint attempt", None)
            return False
        self._queued.append(("release savepoint attempt", None))
        self._note_effects(translate_sql(sql))
        return True

    def try_run(self, sql: str, parameters: Parameters | None = None) -> None:
        self.begin()
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
            self.begin()  # assigns the number
            self._changes = self._event_number * CHANGES_PER_CALL
        self._changes += count
        return self._changes

    def advance_event_sequence(self, seq: int) -> None:
        self.begin()
        if seq >= self._event_number:
            self._event_number = seq + 1
            self._changes = 0
            advance = "select setval(pg_get_serial_sequence('events', 'seq'), greatest(:number, max(seq))) from events"
            self.execute(advance, {"number": self._event_number})

    def erase_after_commit(self, result: dict[str, Any], *, field: str, anything: bool) -> None:
        if anything:
            from moss_memory.storage.idempotency import sql  # only purges need it

            self.run(sql["empty_answers"])
            self._must_erase = True
        result.update({field: True, **self.erasure_scope})

    def _pause(self) -> None:
        self.release()

    def _insert_event(self, event: Parameters) -> None:
        number, self._event_number = self._event_number, 0
        self.queue(
            "insert into events (seq, event_id, workspace, tool, address, ts_ms, payload, origin) values ("
            f"{':seq' if number else 'default'}, :event_id, :workspace, :tool, :address, :ts_ms, :payload, :origin)",
            {**event, "seq": number},
        )

    def commit(self) -> None:
        if self._connection is None:
            return
        self._update_index()
        if self._event_number and not self._changes:
            self._queued.append((self._give_back_statements[0], None))  # no event uses the number
        warnings: list[str] = []

        def collect(notice: psycopg.errors.Diagnostic) -> None:
            # The server reports by a warning that it no longer waits for a standby.
            if notice.severity_nonlocalized == "WARNING":
                warnings.append(notice.message_primary or "a warning")

        self._connection.add_notice_handler(collect)
        try:
            self.send("commit", None)
        except psycopg.OperationalError as error:
            if not is_lost(error):
                raise
            raise UnconfirmedCommit("the connection was lost while it was committed") from error
        finally:
            self._connection.remove_notice_handler(collect)
        if warnings:
            raise UnconfirmedCommit(warnings[0])
        for generation, numbers in self._new_term_ids.items():
            self._engine.dictionary.cache(generation, numbers)
        self._new_term_ids = {}
        if self._index_is_due:
            self._index_is_due = False
            self._engine.maintain_index(self.call)

    def known_terms(self, generation: int) -> dict[str, int]:
        """Return the cached ids of terms, valid for this generation of the dictionary."""
        new_ids = self._new_term_ids.get(generation)
        cached_ids = self._engine.dictionary.known(generation)
        return {**cached_ids, **new_ids} if new_ids else cached_ids

    def cache_terms(self, generation: int, numbers: dict[str, int]) -> None:
        """Cache ids of terms for later calls, once this one is committed."""
        self._new_term_ids.setdefault(generation, {}).update(numbers)

    def _update_index(self) -> None:
        """Index changed documents, and remove erased ones from the index."""
        if self._indexes or self._must_erase:
            from .indexer import index_changes

            self._index_is_due = index_changes(self, erases=self._must_erase) or self._index_is_due
            self._indexes = self._must_erase = False

    def begin_snapshot(self) -> None:
        """Index the changes of this call, so that its own searches find them."""
        self._update_index()


class MigrationTransaction(PostgresWrite):
    """The transaction of a migration, which has begun on its connection."""

    def __init__(self, engine: PostgresEngine, call: CallContext, connection: Connection) -> None:
        super().__init__(engine, 0.0, call)
        self._connection = connection

    def index_queued(self) -> None:
        """Index the documents that the migration has queued."""
        self._indexes = True
        self._update_index()
        self.send("select 1", None)  # sends the queued statements


def _run_pipeline(
    connection: Connection,
    before: list[tuple[str, list[Any] | None]],
    statements: list[tuple[str, list[Any] | None]],
    binary: bool,
) -> list[Cursor]:
    """Run queued statements and then others in one message; return the cursors of the others."""
    if not before and len(statements) == 1:
        return [connection.execute(*statements[0], binary=binary)]
    with connection.pipeline():
        for earlier, parameters in before:
            connection.execute(earlier, parameters)
        return [connection.execute(sql, values, binary=binary) for sql, values in statements]
