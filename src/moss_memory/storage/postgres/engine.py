"""The PostgreSQL engine, for a store that several machines share; a write is durable when its call returns."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock
from _weakref import ref
from contextlib import contextmanager

import psycopg
from psycopg.sql import quote

from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.call import LARGE_BYTES, WRITE_TIMEOUT_S
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.transaction_context import committing

from .clock import CLOCK, ServerClock, is_wall_clock
from .connections import Connections, is_idle
from .error_mapping import busy_error, is_lost, public_error
from .retry import read_with_retry, run_with_retry
from .schema import prepare_schema, refuse_unusable, upgrade_schema, version_of
from .term_dictionary import TermDictionary
from .transaction import PostgresTransaction, PostgresWrite
from .url import without_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Thread
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.search.vectors import VectorMatrix
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import ReadTransaction, Result, Row
    from moss_memory.storage.health import CheckResult

    from .connections import Connection

LARGE_KNOWN_S = 10.0
"""The time for which the result of `is_large` is cached."""
_WAIT_S = 0.5
"""The interval at which a waiting writer checks if it was cancelled."""
_MAINTENANCE_S = 10.0
"""The maximum time for which a closing store waits for the maintenance of its index."""
_PAGE_BYTES = 8192
_MISSING = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.UndefinedFunction)
_COUNT_CHANGES = "select sum(changes), (select max(seq) from events) from activity_counts"


class PostgresEngine:
    """One database on a server, shared by any number of processes and machines."""

    can_lose_commits = True
    locks_workspaces = True

    def __init__(self, config: Config, *, bulk_load: bool = False) -> None:
        self.url = config.url
        """The URL of the store; it may contain a password."""
        self._schema = -SCHEMA_VERSION if bulk_load else SCHEMA_VERSION
        self.shown_url = without_password(self.url)
        """The URL without secrets, for messages."""
        self._home = config.home
        self._most, self._idle = config.db_max_open_conns, config.db_max_idle_conns
        self.was_open = False
        """True if its server was ever reached."""
        self._reset()
        _engines.append(ref(self, _engines.remove))

    def _reset(self) -> None:
        self._connections = Connections(self.url, most=self._most, idle=self._idle)
        self._prepared = False
        self._seen_version = 0
        """The version of the schema when it was last checked."""
        self._clock = ServerClock()
        self._large = False
        self._large_until_s = 0.0
        self._vectors: VectorMatrix | None = None
        self._vectors_lock = allocate_lock()
        self.dictionary = TermDictionary()
        """The cached ids of terms."""
        self._maintenance: Thread | None = None

    def read_transaction(self, *, snapshot: bool, call: CallContext) -> PostgresTransaction:
        return PostgresTransaction(self, call, snapshot=snapshot)

    def read(
        self,
        body: Callable[..., Result],
        values: dict[str, Any],
        *,
        snapshot: bool,
        timeout_s: float,
        call: CallContext,
    ) -> Result:
        return read_with_retry(self, body, values, snapshot=snapshot, timeout_s=timeout_s, call=call)

    def connections(self) -> tuple[int, int]:
        return self._connections.usage()

    def write_transaction(self, *, timeout_s: float, call: CallContext) -> PostgresWrite:
        """Return a transaction that locks its workspace, or the whole store, in `begin` or at its first statement."""
        return PostgresWrite(self, timeout_s, call)

    def write(self, run: Callable[[PostgresWrite], Result], *, timeout_s: float, call: CallContext) -> Result:
        return run_with_retry(self, run, timeout_s=timeout_s, call=call)

    def acquire(self) -> Connection:
        return self._connections.acquire(self._prepare)

    def replace_lost(self, lost: Connection) -> Connection:
        """Replace a connection that was lost while idle, and close all other idle ones."""
        self._connections.drop(lost)
        self.dictionary = TermDictionary()  # the new connection may be to another server
        return self._connections.acquire(self._prepare, fresh=True)

    def give_back(self, connection: Connection) -> None:
        self._connections.give_back(connection)

    @contextmanager
    def _pooled_connection(self) -> Iterator[Connection]:
        connection = self.acquire()
        try:
            yield connection
        finally:
            self.give_back(connection)

    @contextmanager
    def _unprepared_connection(self) -> Iterator[Connection]:
        """Yield a new connection to a store of any schema, or of none."""
        connection = self._connections.acquire(lambda _: None)
        try:
            yield connection
        finally:
            self._connections.drop(connection)

    def _prepare(self, connection: Connection) -> None:
        if not self._prepared:
            self._seen_version = prepare_schema(connection, self._schema)
            self._prepared = self.was_open = True
        self._clock.measure(connection)

    def server_ms(self, monotonic_s: float, connection: Connection | None) -> int:
        """Return the server's time at a moment of the monotonic clock; `connection` is one that may be queried."""
        if self._clock.is_stale():
            if connection is not None:
                self._clock.measure(connection)
            else:
                with self._pooled_connection() as pooled:
                    self._clock.measure(pooled)
        return self._clock.at(monotonic_s)

    def upgrade(self, *, call: CallContext) -> tuple[int, int]:
        from .transaction import MigrationTransaction

        with self._unprepared_connection() as connection:
            try:
                return upgrade_schema(connection, MigrationTransaction(self, call, connection).index_queued)
            finally:
                self._prepared = False

    def is_current(self, version: int | None) -> bool:
        return version == self._schema

    def begin_write_lock(self, timeout_s: float, call: CallContext) -> tuple[Connection, int, int]:
        """Begin a transaction with the write lock; return its connection, the number of its event, and its time."""
        connection = self.acquire()
        try:
            try:
                return connection, *self._wait_for_lock(connection, timeout_s, call)
            except psycopg.OperationalError as error:
                if not is_lost(error):
                    raise
            connection = self.replace_lost(connection)
            return connection, *self._wait_for_lock(connection, timeout_s, call)
        except BaseException:
            if not connection.closed and not is_idle(connection):
                connection.close()
            self.give_back(connection)
            raise

    def _wait_for_lock(self, connection: Connection, timeout_s: float, call: CallContext) -> tuple[int, int]:
        """Acquire the write lock, or raise `STORAGE_BUSY` after the timeout."""
        until = time.monotonic() + timeout_s
        while True:
            left_s = max(until - time.monotonic(), 0.001)
            wait_s = left_s if call.cancelled is None else min(left_s, _WAIT_S)
            try:
                number, now_ms = self._lock_within(connection, wait_s, call.workspace)
                return number, now_ms if is_wall_clock(call) else call.clock_ms()
            except psycopg.errors.LockNotAvailable:
                connection.execute("rollback")
                call.check_cancelled()
                if time.monotonic() >= until:
                    raise busy_error(timeout_s) from None

    def _lock_within(self, connection: Connection, wait_s: float, workspace: str | None) -> tuple[int, int]:
        """Begin a transaction and acquire the write lock in one message."""
        workspace_sql = "null" if workspace is None else quote(normalize_workspace(workspace), connection)
        cursor = connection.execute(
            f"begin; select version, change, {CLOCK} from enter_write({workspace_sql}, {int(wait_s * 1000) or 1})"
        )
        cursor.nextset()
        row = cursor.fetchone()
        version, number, now_ms = (0, 0, 0) if row is None else row
        if version != self._seen_version:
            connection.execute("rollback")
            refuse_unusable(connection, version, self._schema)
            self._seen_version = version  # another process has upgraded the schema
            return self._lock_within(connection, wait_s, workspace)
        return int(number), int(now_ms)

    def vectors(self) -> VectorMatrix:
        if self._vectors is None:
            from moss_memory.search.vectors import VectorMatrix

            with self._vectors_lock:
                self._vectors = self._vectors or VectorMatrix()
        return self._vectors

    def index(self, *, call: CallContext, timeout_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
        from moss_memory.search.embedding_queue import index

        return index(self, call, timeout_s=timeout_s, most=most, rebuild=rebuild)

    def restore(self, backup: str, *, call: CallContext) -> str | None:
        raise self._unsupported_error("restored")

    def salvage(self, target: str, *, call: CallContext) -> list[dict[str, Any]]:
        raise self._unsupported_error("salvaged")

    def copy_to(self, path: str) -> int:
        raise self._unsupported_error("copied")

    def _unsupported_error(self, action: str) -> MossError:
        return MossError(
            "INVALID_REQUEST",
            f"{self.shown_url} is on a server and cannot be {action} as a file; use `moss export --all` and `moss "
            "import`, or the server's own pg_dump and pg_restore",
        )

    def about(self) -> str:
        return f"PostgreSQL through psycopg {psycopg.__version__}"

    def files(self) -> tuple[str, ...]:
        return ()

    def exists(self) -> bool:
        """Return True if there is a store, or if the server cannot be reached."""
        try:
            version = self._version()
        except (psycopg.Error, MossError):
            return True
        return version < 0 if self._schema < 0 else version != 0

    def has_data(self) -> bool:
        """Return True if there is a store with data; a new schema or an unfinished bulk load has none."""
        if self._version() <= 0:
            return False
        with self._pooled_connection() as connection:
            return connection.execute("select 1 from events limit 1").fetchone() is not None

    def _version(self) -> int:
        """Return the version of the schema, supported or not; 0 if there is none."""
        with self._unprepared_connection() as connection:
            return version_of(connection)

    def is_large(self) -> bool:
        if time.monotonic() >= self._large_until_s:
            self._large = self.size_bytes() > LARGE_BYTES
            self._large_until_s = time.monotonic() + LARGE_KNOWN_S
        return self._large

    def size_bytes(self) -> int:
        """Return the size of the tables by the count of their pages, 0 if the server cannot be reached."""
        pages = "select coalesce(sum(relpages), 0) from pg_class where relnamespace = current_schema()::regnamespace"
        try:
            with self._pooled_connection() as connection:
                row = connection.execute(pages).fetchone()
        except (psycopg.Error, MossError):
            return 0
        return int(row[0]) * _PAGE_BYTES if row else 0

    def check_health(self, *, call: CallContext, fix: bool) -> Iterator[CheckResult]:
        from .health_checks import check_health

        return check_health(self, call, fix=fix)

    def dump(self, *, call: CallContext) -> Iterator[tuple[str, Row]]:
        from .dump import dump

        with committing(self.read_transaction(snapshot=True, call=call)) as tx:
            yield from dump(tx)

    def tables(self, tx: ReadTransaction) -> list[str]:
        from .dump import tables

        return [name for name, _ in tables(tx)]

    def columns(self, tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        from .dump import columns

        return columns(tx, table)

    def finish_load(self, *, call: CallContext) -> None:
        """Advance the sequences after a bulk load and mark the store as complete, in one transaction."""
        from .dump import advance_sequences

        with committing(self.write_transaction(timeout_s=WRITE_TIMEOUT_S, call=call)) as tx:
            advance_sequences(tx)
            tx.run(f"update moss_schema set version = {SCHEMA_VERSION}")

    def truncate_all(self, *, call: CallContext, but: tuple[str, ...] = ()) -> None:
        """Empty every table except `but` and reset the sequences, in one transaction."""
        from .dump import truncate_all

        with committing(self.write_transaction(timeout_s=WRITE_TIMEOUT_S, call=call)) as tx:
            truncate_all(tx, but=but)

    def change_token(self) -> object:
        with self._pooled_connection() as connection:
            return connection.execute(_COUNT_CHANGES).fetchone()

    def maintain_index(self, call: CallContext) -> None:
        """Maintain the index in a background thread, unless one runs already: no call waits for it."""
        if self._maintenance is None or not self._maintenance.is_alive():
            from threading import Thread

            from .index_maintenance import maintain

            self._maintenance = Thread(target=maintain, args=(self, call), name="moss-segments", daemon=True)
            self._maintenance.start()

    def close(self) -> None:
        """Wait for the maintenance of the index, and close every connection."""
        if self._maintenance is not None:
            self._maintenance.join(_MAINTENANCE_S)
        self.disconnect()

    def disconnect(self) -> None:
        """Close every connection; one that another thread uses is closed when it is given back."""
        self._vectors = None
        self.dictionary = TermDictionary()
        self._connections.close()

    def translate(self, error: Exception) -> MossError | None:
        if isinstance(error, _MISSING):
            return self._schema_error()
        return public_error(error, self.shown_url)

    def _schema_error(self) -> MossError | None:
        """Return the error if the schema was changed so that this process cannot work with it, else None."""
        with self._unprepared_connection() as connection:
            try:
                refuse_unusable(connection, version_of(connection), self._schema)
            except MossError as error:
                return error
        return None

    def after_fork_in_child(self) -> None:
        """Reset the engine; the connections of the parent must be neither used nor closed here."""
        _inherited.append(self._connections)
        self._reset()


_engines: list[ref[PostgresEngine]] = []
_inherited: list[Connections] = []
"""Connections inherited by a fork, kept alive because closing them would end the sessions of the parent."""


def _after_fork() -> None:
    for engine in [reference() for reference in list(_engines)]:
        if engine is not None:
            engine.after_fork_in_child()


os.register_at_fork(after_in_child=_after_fork)
