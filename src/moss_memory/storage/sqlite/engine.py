"""The embedded engine: SQLite through apsw, in WAL mode, durable when a call returns."""

from __future__ import annotations

import os
from _thread import allocate_lock
from _weakref import ref

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.files.private_files import make_private_folder

from .connections import UNFINISHED, close_all, file_identity, only_value, open_writer, schema_numbers, vanished
from .error_mapping import storage_error
from .lock import LOCK_FILE, QUEUE_FILE, WriteLock
from .open_files import OpenFiles, log_removed
from .readers import Readers
from .transaction import SqliteTransaction, SqliteWrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.search.vectors import VectorMatrix
    from moss_memory.storage.engine import CallContext, ReadTransaction, Result, Row
    from moss_memory.storage.health import CheckResult

    from .lock import Hold
    from .readers import Identity, Reader

DATABASE = "moss.db"
WRITE_TIMEOUT_S = 60.0
FORK_TIMEOUT_S = 10.0
LARGE_BYTES = 64 << 20


class SqliteEngine:
    """One database file, any number of readers, one writer at a time among all processes."""

    def __init__(self, home: str, *, bulk_load: bool = False) -> None:
        self._home = home
        self._path = os.path.join(home, DATABASE + UNFINISHED if bulk_load else DATABASE)
        self._start_afresh()
        _engines.append(ref(self, _engines.remove))

    def _start_afresh(self) -> None:
        self._lock = WriteLock(self._home)
        self._fork_hold = self._lock.hold()
        self._readers = Readers(self._path)
        self._writer: apsw.Connection | None = None
        self._footing: OpenFiles | None = None
        self._schema: tuple[int, int] | None = None
        """The numbers of the schema that was checked when the writer was opened."""
        self._vectors: VectorMatrix | None = None
        self._vectors_lock = allocate_lock()
        self._watcher: Reader | None = None
        self._watches = 0
        self._watch_lock = allocate_lock()

    def begin_read(self, *, snapshot: bool, call: CallContext) -> SqliteTransaction:
        """A transaction that sees one state of the store and never waits for a writer."""
        self._refuse_after_fork()
        reader = self._readers.take(self._prepare)
        try:
            if snapshot:
                reader.connection.execute("begin")
        except BaseException:
            self.give_back(reader)
            raise
        return SqliteTransaction(self, call, reader)

    def give_back(self, reader: Reader) -> None:
        """Takes the connection of a reading transaction that is over."""
        self._readers.give_back(reader)

    def begin_write(self, *, timeout_s: float, call: CallContext) -> SqliteWrite:
        """A transaction that becomes the only writing one, in this process and all others, at its first statement."""
        return SqliteWrite(self, timeout_s, call)

    def write(self, carry_out: Callable[[SqliteWrite], Result], *, timeout_s: float, call: CallContext) -> Result:
        """Carries a call out in a writing transaction and commits it; its result."""
        tx = SqliteWrite(self, timeout_s, call)
        with tx, tx:  # twice: if an interrupt comes at the first exit, there is still the second
            result = carry_out(tx)
            tx.commit()
        return result

    def generate_key(self) -> str | None:
        """None: whether a commit was done is always known."""
        return None

    def hold(self) -> Hold:
        """Return a new attempt to hold the write lock; its release rolls back what was not committed."""
        return self._lock.hold(self._roll_back)

    def begin_immediate(self, hold: Hold, timeout_s: float, call: CallContext) -> apsw.Connection:
        """Acquire the lock and begin a writing transaction; the release of the hold ends both."""
        writer = self.acquire(hold, call, timeout_s)
        writer.execute("begin immediate")
        if schema_numbers(writer) != self._schema:
            self._close_writer()  # another has changed it meanwhile; opening refuses that, or migrates again
            writer = self._ready_writer()
            writer.execute("begin immediate")
        if self._footing is not None:
            self._footing.refuse_unknown_log()
        return writer

    def acquire(
        self, hold: Hold, call: CallContext | None = None, timeout_s: float = WRITE_TIMEOUT_S
    ) -> apsw.Connection:
        """Acquire the lock and return the connection that writes; nobody else writes until the release of the hold."""
        self._refuse_after_fork()
        try:
            hold.acquire(timeout_s, call)
        except FileNotFoundError:
            raise vanished(self._home) from None
        return self._ready_writer()

    def _roll_back(self) -> None:
        """Roll back what the connection that writes has begun; the caller holds the lock."""
        try:
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("rollback")
        except apsw.Error:
            self._close_writer()  # which rolls back, too

    def verify_committed(self) -> None:
        """Makes sure that what was just committed lies where everybody finds it."""
        footing = self._footing
        assert footing is not None
        if footing.is_in_place():
            footing.refuse_truncated()
            if footing.has_its_log():
                footing.remember_log()
                return
            if footing.checkpoint_orphaned_wal():
                self._let_go()
                return
        raise MossError(
            "STORAGE_UNKNOWN",
            f"the files of the store in {self._home} were removed or replaced while this call wrote; look whether what "
            "it wrote is there before you try again",
        )

    @property
    def identity(self) -> Identity | None:
        """What tells the open database apart from any that stood or will stand in its place."""
        return self._readers.identity

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
        """Puts a backup in the store's place, under the lock that every process respects; where the old one is kept."""
        from .restore_backup import discard, prepare, swap

        self._refuse_after_fork()
        make_private_folder(self._home)
        prepared = prepare(self._path, backup)
        try:
            with self.hold() as hold, hold:
                hold.acquire(WRITE_TIMEOUT_S, call)
                self._close_writer()
                try:
                    return swap(self._path, prepared)
                finally:
                    self._readers.look_at_once()
        finally:
            discard(prepared)

    def about(self) -> str:
        """What this engine is and in which version."""
        return f"SQLite {apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}"

    def files(self) -> tuple[str, ...]:
        """The names of the files that it keeps in the home folder."""
        return DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK_FILE, QUEUE_FILE

    def exists(self) -> bool:
        """Whether there is a store: a file of any kind in its place counts."""
        return os.path.lexists(self._path)

    def is_taken(self) -> bool:
        """Whether there is a store: a file of any kind in its place counts."""
        return self.exists()

    def is_large(self) -> bool:
        """Whether the file is; 20,000 capsules of 1,000 characters, of which a common word is found in 20 ms."""
        try:
            return os.stat(self._path).st_size > LARGE_BYTES
        except OSError:
            return False

    def check_health(self, *, call: CallContext, fix: bool) -> Iterator[CheckResult]:
        """Everything worth knowing of the store's condition; with `fix` what can be mended is mended first."""
        from .health_checks import check_health

        return check_health(self, call, fix=fix)

    def copy_to(self, path: str) -> int:
        """Copies one state of the whole store into a new file and says how many bytes it has."""
        from .backup import make_durable, remove, reserve_path

        reserve_path(path, self._home, DATABASE)
        try:
            reader = self._readers.take(self._prepare)
            try:
                # Outside of a transaction, where SQLite refuses to copy: the statement is a snapshot of its own.
                reader.connection.execute("pragma query_only = off")  # it counts the new file as a change too
                reader.connection.execute("vacuum into :path", {"path": path})
            finally:
                reader.lasts = False
                self._readers.give_back(reader)
            make_durable(path)
        except BaseException:
            remove(path)
            raise
        return os.path.getsize(path)

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

        return tables(tx)

    def columns(self, tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of a table that follow from no other, and those of its key; none where there is no table."""
        from .dump import columns

        return columns(tx, table)

    def finish_load(self, *, call: CallContext) -> None:
        """Gives the database its name, under the lock that keeps others from making one."""
        from .bulk_load import put_in_place

        with self.hold() as hold, hold:
            self.acquire(hold, call)
            self._readers.close()
            self._close_writer()
            put_in_place(self._path, os.path.join(self._home, DATABASE))

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
        """A connection that only watches, and SQLite's own number of what others committed since it was opened."""
        with self._watch_lock:
            if self._watcher is not None and self._watcher.database != file_identity(self._path):
                self._stop_watching()
            watcher = self._watcher
            if watcher is None and self._readers.has_opened and not self.exists():
                return None  # moved or removed; reads and writes say so
            if watcher is None:
                self._readers.look_at_once()
                watcher = self._watcher = self._readers.take(self._prepare)
                self._watches += 1
            found = (self._watches, only_value(watcher.connection, "pragma data_version"))
            if not watcher.lasts:
                self._stop_watching()
            return found

    def _stop_watching(self) -> None:
        if self._watcher is not None:
            watcher, self._watcher = self._watcher, None
            watcher.lasts = False
            self._readers.give_back(watcher)

    def close(self) -> None:
        """Lets go of every connection and lock; what another thread is using, as soon as it is done with it."""
        self._vectors = None
        with self._watch_lock:
            self._stop_watching()
        self._readers.close()
        with self.hold() as hold, hold:
            if hold.pause(WRITE_TIMEOUT_S):
                self._close_writer()
                self._lock.close()
        self._readers.has_opened = False
        self._lock.makes_home = True

    def _close_writer(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            footing, self._footing, self._schema = self._footing, None, None
            if footing is not None:
                footing.close()
            close_all([writer])

    def translate(self, error: Exception) -> MossError | None:
        """What a driver's or the system's error means to a caller."""
        found = None
        if isinstance(error, apsw.SQLError):
            found = self._other_schema()
        elif isinstance(error, UnicodeDecodeError):
            found = self._not_text()
        else:
            found = storage_error(error, self._home)
        return found or self._damaged_rows()

    def _other_schema(self) -> MossError | None:
        """Why a statement may have failed that is sound: another Moss has migrated the store meanwhile."""
        self._readers.renew()
        try:
            self._readers.give_back(self._readers.take(self._prepare))
        except MossError as error:
            return error
        except apsw.Error:
            return None
        return None

    def _not_text(self) -> MossError | None:
        """The row whose text cannot be read, where that is why something failed."""
        from moss_memory.storage.sqlite.repair.encoding_check import invalid_utf8_error, unreadable

        reader = self._readers.take(self._prepare)
        try:
            found = next(unreadable(reader.connection), None)
        finally:
            self._readers.give_back(reader)
        return None if found is None else invalid_utf8_error(found, self._home)

    def _damaged_rows(self) -> MossError | None:
        """Return what is wrong with the stored rows or with the index, if that may be why a call failed."""
        from .diagnosis import explain

        try:
            reader = self._readers.take(self._prepare)
        except (MossError, OSError, apsw.Error):
            return None
        try:
            return explain(reader.connection, self._home, is_large=self.is_large())
        finally:
            reader.lasts = False
            self._readers.give_back(reader)

    def salvage(self, target: str, *, call: CallContext) -> list[dict[str, Any]]:
        """Fills a new database with what can be read of this one, however damaged; what could not be, and why."""
        from moss_memory.storage.sqlite.repair.salvage import salvage

        with self.hold() as hold, hold:
            hold.acquire(WRITE_TIMEOUT_S, call)
            return salvage(self._path, target)

    def erase(self, call: CallContext, *, timeout_s: float) -> bool:
        """Leaves no byte of what was deleted on disk; false while a reader holds the write-ahead log."""
        from .secure_delete import SecureDelete  # after a purge

        return SecureDelete(self, call, path=self._path, timeout_s=timeout_s).finish()

    def _ready_writer(self) -> apsw.Connection:
        """A connection to the database that is in the place now, made where there is none; the caller has the lock."""
        self._roll_back()
        if self._writer is not None and self._footing is not None:
            if not self._footing.is_in_place():
                self._close_writer()
            elif self._footing.has_its_log():
                self._footing.refuse_truncated()
                self._footing.refuse_changed_log()
                return self._writer
            elif self._footing.checkpoint_orphaned_wal():
                self._let_go()
            else:
                raise log_removed(self._path)
        self._readers.look_at_once()
        if self._readers.has_opened and not os.path.lexists(self._path):
            raise vanished(self._home)
        self._writer = open_writer(self._path)
        try:
            self._schema = schema_numbers(self._writer)
            self._footing = OpenFiles(self._path, self._writer)
            self._footing.refuse_changed_log()
        except BaseException:
            self._close_writer()
            raise
        self._readers.has_opened = True
        self._lock.makes_home = False
        return self._writer

    def _let_go(self) -> None:
        """Closes what has a removed log open; readers that are at work, when they are done."""
        self._close_writer()
        self._readers.renew()

    def _prepare(self) -> None:
        """Migrates the database, under the lock that every process respects."""
        with self.hold() as hold, hold:
            self.acquire(hold)

    def _refuse_after_fork(self) -> None:
        if self._path in _forked_in_use:
            raise MossError(
                "STORAGE_BUSY",
                "this process was forked while the store was in use and cannot share it; start a fresh process",
            )

    def before_fork(self) -> None:
        """Closes what is idle: SQLite keeps its locks by process, so a child would believe it had ours."""
        self._fork_hold = self._lock.hold()
        if self._fork_hold.pause(FORK_TIMEOUT_S):
            with self._watch_lock:
                self._stop_watching()
            self._readers.close()
            self._close_writer()

    def after_fork_in_parent(self) -> None:
        """Goes on; connections are opened again when they are needed."""
        self._fork_hold.release()

    def after_fork_in_child(self) -> None:
        """Starts afresh, unless a call of the parent was under way."""
        if self._readers.in_use or self._writer is not None:
            _forked_in_use[self._path] = (self._writer, self._readers)
        self._lock.forget()
        self._start_afresh()


_engines: list[ref[SqliteEngine]] = []
_forked_in_use: dict[str, Any] = {}
"""Databases whose connections crossed a fork: never closed here, which would drop the parent's locks, nor used."""


def _at_fork(step: str) -> None:
    for engine in [reference() for reference in list(_engines)]:
        if engine is not None:
            getattr(engine, step)()


os.register_at_fork(
    before=lambda: _at_fork("before_fork"),
    after_in_parent=lambda: _at_fork("after_fork_in_parent"),
    after_in_child=lambda: _at_fork("after_fork_in_child"),
)
