"""The embedded engine: SQLite through apsw, in WAL mode, durable when a call returns."""

from __future__ import annotations

import os
from _thread import allocate_lock
from _weakref import ref

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.call import LARGE_BYTES, WRITE_TIMEOUT_S
from moss_memory.storage.files.private_files import make_private_folder

from .connections import UNFINISHED, close_all, open_writer
from .error_mapping import missing_store, storage_error
from .functions import only_value
from .lock import LOCK_FILE, QUEUE_FILE, WriteLock
from .open_files import OpenFiles, file_identity, is_changed, log_changed, log_removed, schema_numbers
from .readers import Readers
from .transaction import SqliteTransaction, SqliteWrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.search.vectors import VectorMatrix
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import ReadTransaction, Result, Row
    from moss_memory.storage.health import CheckResult

    from .lock import Hold
    from .readers import Reader

DATABASE = "moss.db"
FORK_TIMEOUT_S = 10.0


class SqliteEngine:
    """One database file with any number of readers and one writer at a time among all processes."""

    can_lose_commits = locks_workspaces = False

    def __init__(self, home: str, *, bulk_load: bool = False) -> None:
        self._home = home
        self._path = os.path.join(home, DATABASE + UNFINISHED if bulk_load else DATABASE)
        self._reset()
        _engines.append(ref(self, _engines.remove))

    def _reset(self) -> None:
        self._lock = WriteLock(self._home)
        self._fork_hold = self._lock.new_hold()
        self.readers = Readers(self._path)
        self._writer: apsw.Connection | None = None
        self._open_files: OpenFiles | None = None
        self._schema: tuple[int, int] | None = None
        """The schema numbers checked when the writer was opened."""
        self._vectors: VectorMatrix | None = None
        self._vectors_lock = allocate_lock()
        self._watcher: Reader | None = None
        self._watches = 0
        self._watch_lock = allocate_lock()

    def read_transaction(self, *, snapshot: bool, call: CallContext) -> SqliteTransaction:
        """Begin a transaction that reads a snapshot and never waits for a writer."""
        self._refuse_after_fork()
        reader = self.readers.acquire(self._prepare)
        try:
            if snapshot:
                reader.connection.execute("begin")
        except BaseException:
            self.readers.give_back(reader)
            raise
        return SqliteTransaction(self, call, reader)

    def read(
        self,
        body: Callable[..., Result],
        values: dict[str, Any],
        *,
        snapshot: bool,
        timeout_s: float,
        call: CallContext,
    ) -> Result:
        """Run a call in a reading transaction and return its result; a read never waits."""
        tx = self.read_transaction(snapshot=snapshot, call=call)
        try:
            return body(tx, **values)
        finally:
            tx.release()

    def connections(self) -> tuple[int, int]:
        return self.readers.count_in_use(), 0

    def size_bytes(self) -> int:
        paths = [path for path in (self._path, f"{self._path}-wal") if os.path.exists(path)]
        try:
            return sum([os.stat(path).st_size for path in paths])
        except OSError:
            return 0  # it was removed just now

    def write_transaction(self, *, timeout_s: float, call: CallContext) -> SqliteWrite:
        """Return a transaction that acquires the write lock in `begin` or at its first statement."""
        return SqliteWrite(self, timeout_s, call)

    def write(self, run: Callable[[SqliteWrite], Result], *, timeout_s: float, call: CallContext) -> Result:
        tx = SqliteWrite(self, timeout_s, call)
        with tx, tx:  # twice: an interrupt during the first exit leaves the second
            result = run(tx)
            tx.commit()
        return result

    def new_hold(self) -> Hold:
        """Return a new attempt to hold the write lock; its release rolls back uncommitted changes."""
        self._refuse_after_fork()
        return self._lock.new_hold(self._roll_back)

    def begin_immediate(self) -> apsw.Connection:
        """Begin a writing transaction; the caller holds the lock. The release of its hold ends the transaction."""
        writer = self._ready_writer()
        writer.execute("begin immediate")
        if schema_numbers(writer) != self._schema:
            self._close_writer()  # another process has changed the schema; opening refuses that, or migrates again
            writer = self._ready_writer()
            writer.execute("begin immediate")
        if self._open_files is not None:
            self._open_files.refuse_unknown_log()
        return writer

    def acquire(self, hold: Hold, call: CallContext | None = None) -> apsw.Connection:
        """Acquire the lock and return the connection that writes; nobody else writes until the release of the hold."""
        hold.acquire(WRITE_TIMEOUT_S, call)
        return self._ready_writer()

    def _roll_back(self) -> None:
        """Roll back the writer's transaction; the caller holds the lock."""
        try:
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("rollback")
        except apsw.Error:
            self._close_writer()  # closing rolls back, too

    def verify_committed(self) -> None:
        """Check that the committed data is in the files that other processes open."""
        files = self._open_files
        assert files is not None
        if files.is_in_place():
            files.refuse_truncated()
            if files.has_its_log():
                files.remember_log()
                return
            if files.checkpoint_orphaned_wal():
                self._close_stale()
                return
        raise MossError(
            "STORAGE_UNKNOWN",
            f"the files of the store in {self._home} were removed or replaced while this call wrote; check if its "
            "changes are stored before you send it again",
        )

    def vectors(self) -> VectorMatrix:
        """Return the vectors of this database in memory; the first semantic search loads them."""
        if self._vectors is None:
            from moss_memory.search.vectors import VectorMatrix

            with self._vectors_lock:
                self._vectors = self._vectors or VectorMatrix()
        return self._vectors

    def index(self, *, call: CallContext, timeout_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
        from moss_memory.search.embedding_queue import index

        return index(self, call, timeout_s=timeout_s, most=most, rebuild=rebuild)

    def restore(self, backup: str, *, call: CallContext) -> str | None:
        """Replace the store by a backup under the write lock; return the name of the copy of the old one."""
        from .restore_backup import copy_backup, discard, swap

        self._refuse_after_fork()
        make_private_folder(self._home)
        prepared = copy_backup(self._path, backup)
        try:
            with self.new_hold() as hold, hold:
                hold.acquire(WRITE_TIMEOUT_S, call)
                self._close_writer()
                try:
                    return swap(self._path, prepared)
                finally:
                    self.readers.check_at_next_call()
        finally:
            discard(prepared)

    def about(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}"

    def files(self) -> tuple[str, ...]:
        return DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK_FILE, QUEUE_FILE

    def exists(self) -> bool:
        """Return True if there is a store, or any other file in its place."""
        return os.path.lexists(self._path)

    has_data = exists

    def is_large(self) -> bool:
        """Return True if the file is larger than 20,000 capsules of 1,000 characters, in which a search takes 20 ms."""
        try:
            return os.stat(self._path).st_size > LARGE_BYTES
        except OSError:
            return False

    def check_health(self, *, call: CallContext, fix: bool) -> Iterator[CheckResult]:
        from .health_checks import check_health

        return check_health(self, call, fix=fix)

    def copy_to(self, path: str) -> int:
        from .backup import make_durable, remove, reserve_path

        reserve_path(path, self._home, DATABASE)
        try:
            reader = self.readers.acquire(self._prepare)
            try:
                # Outside of a transaction, in which SQLite refuses to copy: the statement has its own snapshot.
                reader.connection.execute("pragma query_only = off")  # the new file counts as a change, too
                reader.connection.execute("vacuum into :path", {"path": path})
            finally:
                reader.lasts = False
                self.readers.give_back(reader)
            make_durable(path)
        except BaseException:
            remove(path)
            raise
        return os.path.getsize(path)

    def dump(self, *, call: CallContext) -> Iterator[tuple[str, Row]]:
        from .dump import dump

        tx = self.read_transaction(snapshot=True, call=call)
        try:
            yield from dump(tx)
        finally:
            tx.release()

    def tables(self, tx: ReadTransaction) -> list[str]:
        from .dump import tables

        return tables(tx)

    def columns(self, tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        from .dump import columns

        return columns(tx, table)

    def upgrade(self, *, call: CallContext) -> tuple[int, int]:
        from .schema_upgrade import upgrade_schema

        return upgrade_schema(self, self._path, call)

    def finish_load(self, *, call: CallContext) -> None:
        """Give the database its final name, under the lock that keeps others from creating one."""
        from .bulk_load import put_in_place

        with self.new_hold() as hold, hold:
            self.acquire(hold, call)
            self.readers.close()
            self._close_writer()
            put_in_place(self._path, os.path.join(self._home, DATABASE))

    def truncate_all(self, *, call: CallContext, but: tuple[str, ...] = ()) -> None:
        from .dump import truncate_all

        self.write(lambda tx: truncate_all(tx, but=but), timeout_s=WRITE_TIMEOUT_S, call=call)

    def change_token(self) -> object:
        """Return an idle connection and SQLite's counter of the commits of other connections since it was opened."""
        with self._watch_lock:
            if self._watcher is not None and self._watcher.database != file_identity(self._path):
                self._stop_watching()
            watcher = self._watcher
            if watcher is None and self.readers.has_opened and not self.exists():
                return None  # moved or removed; reads and writes report it
            if watcher is None:
                self.readers.check_at_next_call()
                watcher = self._watcher = self.readers.acquire(self._prepare)
                self._watches += 1
            token = (self._watches, only_value(watcher.connection, "pragma data_version"))
            if not watcher.lasts:
                self._stop_watching()
            return token

    def _stop_watching(self) -> None:
        if self._watcher is not None:
            watcher, self._watcher = self._watcher, None
            watcher.lasts = False
            self.readers.give_back(watcher)

    def close(self) -> None:
        """Close every connection and release every lock; one in use by another thread, as soon as it is idle."""
        self._vectors = None
        with self._watch_lock:
            self._stop_watching()
        self.readers.close()
        with self._lock.new_hold(self._roll_back) as hold, hold:
            if hold.block_process_writes(WRITE_TIMEOUT_S):
                self._close_writer()
                self._lock.close()
        self.readers.has_opened = False
        self._lock.creates_home = True

    def _close_writer(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            files, self._open_files, self._schema = self._open_files, None, None
            if files is not None:
                files.close()
            close_all([writer])

    def translate(self, error: Exception) -> MossError | None:
        mapped = None
        if isinstance(error, apsw.SQLError):
            mapped = self._schema_error()
        elif isinstance(error, UnicodeDecodeError):
            mapped = self._encoding_error()
        else:
            mapped = self._changed_log_error(error) or storage_error(error, self._home)
        return mapped or self._damage_error()

    def _changed_log_error(self, error: Exception) -> MossError | None:
        """Return the error for a log that another program has changed, if that is why a read failed, else None."""
        if not isinstance(error, (apsw.IOError, apsw.CorruptError, apsw.NotADBError)):
            return None
        try:
            reader = self.readers.acquire(self._prepare)
        except (MossError, OSError, apsw.Error):
            return None
        try:
            return log_changed(self._path) if is_changed(self._path, reader.connection) else None
        finally:
            reader.lasts = False
            self.readers.give_back(reader)

    def _schema_error(self) -> MossError | None:
        """Return the error if another version of Moss has migrated the store meanwhile, else None."""
        self.readers.renew()
        try:
            self.readers.give_back(self.readers.acquire(self._prepare))
        except MossError as error:
            return error
        except apsw.Error:
            return None
        return None

    def _encoding_error(self) -> MossError | None:
        """Return the error for a row with invalid UTF-8 if there is one, else None."""
        from moss_memory.storage.sqlite.repair.encoding_check import invalid_utf8_error, rows_with_invalid_text

        reader = self.readers.acquire(self._prepare)
        try:
            invalid_row = next(rows_with_invalid_text(reader.connection), None)
        finally:
            self.readers.give_back(reader)
        return None if invalid_row is None else invalid_utf8_error(invalid_row, self._home)

    def _damage_error(self) -> MossError | None:
        """Return the error for damaged rows or a damaged index if there are any, else None."""
        from .diagnosis import diagnose_damage

        try:
            reader = self.readers.acquire(self._prepare)
        except (MossError, OSError, apsw.Error):
            return None
        try:
            return diagnose_damage(reader.connection, self._home, is_large=self.is_large())
        finally:
            reader.lasts = False
            self.readers.give_back(reader)

    def salvage(self, target: str, *, call: CallContext) -> list[dict[str, Any]]:
        from moss_memory.storage.sqlite.repair.salvage import salvage_rows

        with self.new_hold() as hold, hold:
            hold.acquire(WRITE_TIMEOUT_S, call)
            return salvage_rows(self._path, target)

    def erase(self, call: CallContext, *, timeout_s: float) -> bool:
        """Remove all deleted bytes from the disk; return False while a reader uses the write-ahead log."""
        from .secure_delete import SecureDelete  # imported late: only after a purge

        return SecureDelete(self, call, path=self._path, timeout_s=timeout_s).finish()

    def _ready_writer(self) -> apsw.Connection:
        """Return the connection of the writer, opened if needed; the caller holds the lock."""
        self._roll_back()
        if self._writer is not None and self._open_files is not None:
            if not self._open_files.is_in_place():
                self._close_writer()
            elif self._open_files.has_its_log():
                self._open_files.refuse_truncated()
                self._open_files.refuse_changed_log()
                return self._writer
            elif self._open_files.checkpoint_orphaned_wal():
                self._close_stale()
            else:
                raise log_removed(self._path)
        self.readers.check_at_next_call()
        if self.readers.has_opened and not os.path.lexists(self._path):
            raise missing_store(self._home)
        self._writer = open_writer(self._path)
        try:
            self._schema = schema_numbers(self._writer)
            self._open_files = OpenFiles(self._path, self._writer)
            self._open_files.refuse_changed_log()
        except BaseException:
            self._close_writer()
            raise
        self.readers.has_opened = True
        self._lock.creates_home = False
        return self._writer

    def _close_stale(self) -> None:
        """Close connections to a removed log; a reader in use is closed after its call."""
        self._close_writer()
        self.readers.renew()

    def _prepare(self) -> None:
        """Open the writer with the write lock held; this creates or migrates the database if necessary."""
        with self.new_hold() as hold, hold:
            self.acquire(hold)

    def _refuse_after_fork(self) -> None:
        if self._path in _forked_in_use:
            raise MossError(
                "STORAGE_BUSY",
                "this process was forked while the store was in use and cannot share it; start a fresh process",
            )

    def before_fork(self) -> None:
        """Close idle connections: SQLite's locks belong to the process, so a child would assume that it held them."""
        self._fork_hold = self._lock.new_hold()
        if self._fork_hold.block_process_writes(FORK_TIMEOUT_S):
            with self._watch_lock:
                self._stop_watching()
            self.readers.close()
            self._close_writer()

    def after_fork_in_parent(self) -> None:
        """Continue; connections are opened again at the next call."""
        self._fork_hold.release()

    def after_fork_in_child(self) -> None:
        """Start with new connections, unless a call of the parent was running."""
        if self.readers.count_in_use() or self._writer is not None:
            _forked_in_use[self._path] = (self._writer, self.readers)
        self._lock.close_in_child()
        self._reset()


_engines: list[ref[SqliteEngine]] = []
_forked_in_use: dict[str, Any] = {}
"""Databases whose connections crossed a fork: never used here, nor closed, which would drop the parent's locks."""


def _at_fork(step: str) -> None:
    for engine in [reference() for reference in list(_engines)]:
        if engine is not None:
            getattr(engine, step)()


os.register_at_fork(
    before=lambda: _at_fork("before_fork"),
    after_in_parent=lambda: _at_fork("after_fork_in_parent"),
    after_in_child=lambda: _at_fork("after_fork_in_child"),
)
