"""The engine on PostgreSQL, for a store that several machines share; durable when a call returns."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock
from _weakref import ref

import psycopg
from psycopg.sql import quote

from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .clock import CLOCK, clock_offset_ms, is_wall_clock
from .connections import Connections
from .error_mapping import busy_error, is_lost, storage_error
from .retry import run_with_retry
from .schema import prepare, refuse_other, version_of
from .term_dictionary import TermDictionary
from .transaction import PostgresTransaction, PostgresWrite
from .url import without_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.search.vectors import VectorMatrix
    from moss_memory.storage.engine import CallContext, ReadTransaction, Result, Row
    from moss_memory.storage.health import CheckResult

    from .connections import Connection

WRITE_TIMEOUT_S = 60.0
LARGE_BYTES = 64 << 20
LARGE_KNOWN_S = 10.0
"""For so long the answer to whether the store is large is believed."""
_WAIT_S = 0.5
"""After so long a writer that may be cancelled looks whether it was, and waits on."""
_PAGE_BYTES = 8192
_MARK = "select sum(changes), (select max(seq) from events) from activity_counts"


class PostgresEngine:
    """One database on a server, which any number of processes on any number of machines share."""

    def __init__(self, config: Config, *, bulk_load: bool = False) -> None:
        self.url = config.url
        """Where the store is; it may hold a password."""
        self._schema = -SCHEMA_VERSION if bulk_load else SCHEMA_VERSION
        self.place = without_password(self.url)
        """The URL as it may be told."""
        self._home = config.home
        self._most, self._idle = config.db_max_open_conns, config.db_max_idle_conns
        self.was_open = False
        """Whether its server was ever reached."""
        self._start_afresh()
        _engines.append(ref(self, _engines.remove))

    def _start_afresh(self) -> None:
        self._connections = Connections(self.url, most=self._most, idle=self._idle)
        self._prepared = False
        self._ahead_ms: int | None = None
        """How far the server's clock is ahead of this machine's; not known before the first connection."""
        self._large = False
        self._large_until_s = 0.0
        self._vectors: VectorMatrix | None = None
        self._vectors_lock = allocate_lock()
        self.dictionary = TermDictionary()
        """The numbers of words that were met."""

    def begin_read(self, *, snapshot: bool, call: CallContext) -> PostgresTransaction:
        """A transaction that sees one state of the store and never waits for a writer."""
        return PostgresTransaction(self, call, snapshot=snapshot)

    def begin_write(self, *, timeout_s: float, call: CallContext) -> PostgresWrite:
        """A transaction that becomes the only writing one in its workspace, or anywhere, at its first statement."""
        return PostgresWrite(self, timeout_s, call)

    def write(self, carry_out: Callable[[PostgresWrite], Result], *, timeout_s: float, call: CallContext) -> Result:
        """Carries a call out in a writing transaction and commits it; its result."""
        return run_with_retry(self, carry_out, timeout_s=timeout_s, call=call)

    def generate_key(self) -> str | None:
        """One that nobody has used."""
        return os.urandom(16).hex()

    def take(self) -> Connection:
        """A connection for one call."""
        return self._connections.take(self._prepare)

    def take_again(self, lost: Connection) -> Connection:
        """A new connection in place of one that was cut off while it waited; the others that wait go too."""
        self._connections.drop(lost)
        self.dictionary = TermDictionary()  # another server may be the next to answer
        return self._connections.take(self._prepare, fresh=True)

    def give_back(self, connection: Connection) -> None:
        """Takes the connection of a transaction that is over."""
        self._connections.give_back(connection)

    def _prepare(self, connection: Connection) -> None:
        if not self._prepared:
            prepare(connection, self._schema)
            self._prepared = self.was_open = True
        self._ahead_ms = clock_offset_ms(connection)

    def now_ms(self, call: CallContext, at_ms: int) -> int:
        """A time by this machine's clock as it is by the server's; where a caller has brought a clock it stays so."""
        if not is_wall_clock(call):
            return at_ms
        if self._ahead_ms is None:
            self.give_back(self.take())  # whoever connects compares the clocks
        return at_ms + (self._ahead_ms or 0)

    def begin_write_lock(self, timeout_s: float, call: CallContext) -> tuple[Connection, int, int]:
        """Begins a transaction that has the writers' lock; also the number of its change, and its time."""
        connection = self.take()
        try:
            try:
                return connection, *self._lock(connection, timeout_s, call)
            except psycopg.OperationalError as error:
                if not is_lost(error):
                    raise
            connection = self.take_again(connection)
            return connection, *self._lock(connection, timeout_s, call)
        except BaseException:
            if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.close()
            self.give_back(connection)
            raise

    def _lock(self, connection: Connection, timeout_s: float, call: CallContext) -> tuple[int, int]:
        """Waits for the lock in one message with all that a transaction begins with."""
        until = time.monotonic() + timeout_s
        while True:
            left_s = max(until - time.monotonic(), 0.001)
            wait_s = left_s if call.cancelled is None else min(left_s, _WAIT_S)
            try:
                number, now_ms = self._locked(connection, wait_s, call.workspace)
                return number, now_ms if is_wall_clock(call) else call.clock_ms()
            except psycopg.errors.LockNotAvailable:
                connection.execute("rollback")
                call.check_cancelled()
                if time.monotonic() >= until:
                    raise busy_error(timeout_s) from None

    def _locked(self, connection: Connection, wait_s: float, workspace: str | None) -> tuple[int, int]:
        place = "null" if workspace is None else quote(normalize_workspace(workspace), connection)
        cursor = connection.execute(
            f"begin; select version, change, {CLOCK} from enter_write({place}, {int(wait_s * 1000) or 1})"
        )
        cursor.nextset()
        row = cursor.fetchone()
        version, number, now_ms = (0, 0, 0) if row is None else row
        if version != self._schema:
            connection.execute("rollback")
            self._prepared = False
            refuse_other(version, self._schema)
            raise MossError("STORAGE_BUSY", "the schema of the store is being changed; try again")
        return int(number), int(now_ms)

    def vectors(self) -> VectorMatrix:
        """The vectors of this database in memory; the first search by meaning fills them."""
        if self._vectors is None:
            from moss_memory.search.vectors import VectorMatrix

            with self._vectors_lock:
                self._vectors = self._vectors or VectorMatrix()
        return self._vectors

    def index(self, *, call: CallContext, timeout_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
        """Makes missing vectors; how many it made, and how many are still missing."""
        from moss_memory.search.embedding_queue import index

        return index(self, call, timeout_s=timeout_s, most=most, rebuild=rebuild)

    def restore(self, backup: str, *, call: CallContext) -> str | None:
        """Refused: a server's backups are its own."""
        raise self._server_keeps("put back")

    def salvage(self, target: str, *, call: CallContext) -> list[dict[str, Any]]:
        """Refused: there is no file that could be read around its damage."""
        raise self._server_keeps("salvaged")

    def copy_to(self, path: str) -> int:
        """Refused: a server's backups are its own."""
        raise self._server_keeps("copied")

    def _server_keeps(self, done: str) -> MossError:
        return MossError(
            "INVALID_REQUEST",
            f"{self.place} is kept by a server and cannot be {done} as a file; use `moss export --all`, which any "
            "store takes in, or the server's own pg_dump and pg_restore",
        )

    def about(self) -> str:
        """What this engine is and in which version."""
        return f"PostgreSQL through psycopg {psycopg.__version__}"

    def files(self) -> tuple[str, ...]:
        """None: it keeps nothing in the home folder."""
        return ()

    def exists(self) -> bool:
        """Whether there is a store; a server that cannot be asked may have one."""
        try:
            version = self._version()
        except (psycopg.Error, MossError):
            return True
        return version < 0 if self._schema < 0 else version != 0

    def is_taken(self) -> bool:
        """Whether there is a store that holds anything; a new schema does not, and an unfinished one is no store."""
        if self._version() <= 0:
            return False
        connection = self.take()
        try:
            return connection.execute("select 1 from events limit 1").fetchone() is not None
        finally:
            self.give_back(connection)

    def _version(self) -> int:
        """The version of the schema that is there, whichever it is; 0 where there is none."""
        connection = self._connections.take(lambda _: None)
        try:
            return version_of(connection)
        finally:
            self._connections.drop(connection)  # it was not prepared

    def is_large(self) -> bool:
        """Whether the tables are, by the server's own count of their pages."""
        if time.monotonic() >= self._large_until_s:
            self._large = self._size_bytes() > LARGE_BYTES
            self._large_until_s = time.monotonic() + LARGE_KNOWN_S
        return self._large

    def _size_bytes(self) -> int:
        pluralize = (
            "select coalesce(sum(relpages), 0) from pg_class where relnamespace = current_schema()::regnamespace"
        )
        try:
            connection = self.take()
        except (psycopg.Error, MossError):
            return 0
        try:
            row = connection.execute(pluralize).fetchone()
            return int(row[0]) * _PAGE_BYTES if row else 0
        except psycopg.Error:
            return 0
        finally:
            self.give_back(connection)

    def check_health(self, *, call: CallContext, fix: bool) -> Iterator[CheckResult]:
        """Everything worth knowing of the store's condition; with `fix` what can be mended is mended first."""
        from .health_checks import check_health

        return check_health(self, call, fix=fix)

    def dump(self, *, call: CallContext) -> Iterator[tuple[str, Row]]:
        """Every row of one state of the store, without what follows from others."""
        from .dump import dump

        tx = self.begin_read(snapshot=True, call=call)
        try:
            yield from dump(tx)
        finally:
            tx.rollback()
            tx.release()

    def tables(self, tx: ReadTransaction) -> list[str]:
        """The names of the tables of which `dump` gives rows."""
        from .dump import tables

        return [name for name, _ in tables(tx)]

    def columns(self, tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of a table that follow from no other, and those of its key; none where there is no table."""
        from .dump import columns

        return columns(tx, table)

    def finish_load(self, *, call: CallContext) -> None:
        """Counts on from what was filled in, and takes the mark away, in one transaction."""
        from .dump import count_on

        tx = self.begin_write(timeout_s=WRITE_TIMEOUT_S, call=call)
        try:
            count_on(tx)
            tx.run(f"update moss_schema set version = {SCHEMA_VERSION}")
            tx.commit()
        finally:
            tx.rollback()
            tx.release()

    def forget(self, *, call: CallContext, but: tuple[str, ...] = ()) -> None:
        """Empties every table but those and begins to count anew, as one transaction among the others."""
        from .dump import forget

        tx = self.begin_write(timeout_s=WRITE_TIMEOUT_S, call=call)
        try:
            forget(tx, but=but)
            tx.commit()
        finally:
            tx.rollback()
            tx.release()

    def mark(self) -> object:
        """How many changes there are: each is counted in its own transaction, in whatever order they are committed."""
        connection = self.take()
        try:
            return connection.execute(_MARK).fetchone()
        finally:
            self.give_back(connection)

    def close(self) -> None:
        """Lets go of every connection; what another thread is using, as soon as it is done with it."""
        self._vectors = None
        self.dictionary = TermDictionary()
        self._connections.close()

    def translate(self, error: Exception) -> MossError | None:
        """What a driver's or the system's error means to a caller."""
        return storage_error(error, self.place)

    def after_fork_in_child(self) -> None:
        """Starts afresh: the parent's connections are its own, and must not even be closed here."""
        _left_alone.append(self._connections)
        self._start_afresh()


_engines: list[ref[PostgresEngine]] = []
_left_alone: list[Connections] = []
"""Connections that crossed a fork: never used here, nor closed, which would end the parent's sessions."""


def _after_fork() -> None:
    for engine in [reference() for reference in list(_engines)]:
        if engine is not None:
            engine.after_fork_in_child()


os.register_at_fork(after_in_child=_after_fork)
