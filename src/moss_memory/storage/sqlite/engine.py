"""The embedded engine: SQLite through apsw, in WAL mode, durable when a call returns."""

from __future__ import annotations

import fcntl
import os
import time
from _thread import allocate_lock, get_ident
from _weakref import ref

import apsw

from ...errors import MossError
from ..folders import make_private_folder
from .failures import BUSY_TIMEOUT_MS, busy_error, storage_error
from .identity import APPLICATION_ID, EMPTY, ORIGINAL, refuse_special, schema_of
from .migrate import SCHEMA_VERSION, migrations_after
from .transaction import SqliteTransaction, SqliteWrite, only_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..engine import Call
    from ..vector_matrix import VectorMatrix

DATABASE = "moss.db"
LOCK = "moss.lock"
WRITE_PATIENCE_S = 10.0
LOOK_EVERY_S = 0.1
"""How often readers look whether the database is still the one they have open; writers look every time."""

NOBODY, FORKING = 0, -1
_WRITE_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
_LOCK_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
_READONLY_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class SqliteEngine:
    """One database file, any number of readers, one writer at a time among all processes."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._path = os.path.join(home, DATABASE)
        self._lock_fd = -1
        self._thread_lock = allocate_lock()
        self._writer: apsw.Connection | None = None
        self._readers: list[apsw.Connection] = []
        self._empty_readers: list[apsw.Connection] = []
        self._unwritable = False
        self._reading = 0
        self._identity: tuple[int, int] | None = None
        self._look_again_at = 0.0
        self._owner = NOBODY
        self._vectors: VectorMatrix | None = None
        self._vectors_lock = allocate_lock()
        _engines.append(ref(self, _engines.remove))

    def begin_read(self, *, snapshot: bool, call: Call) -> SqliteTransaction:
        """A transaction that sees one state of the store and never waits for a writer."""
        self._refuse_after_fork()
        if time.monotonic() > self._look_again_at:
            self._notice_a_move()
        connection = _pop(self._readers) or self._open_reader()
        if snapshot:
            connection.execute("begin")
        self._reading += 1
        return SqliteTransaction(self, connection, call)

    def _notice_a_move(self) -> None:
        """Lets go of a database that was moved or removed, so that nothing is written where nobody finds it."""
        self._look_again_at = time.monotonic() + LOOK_EVERY_S
        if self._identity is not None and file_identity(self._path) != self._identity:
            self._close_connections()
            self._identity = None

    def begin_write(self, *, patience_s: float, call: Call) -> SqliteWrite:
        """The only writing transaction at this moment, in this process and all others."""
        self._refuse_after_fork()
        self._acquire(patience_s, call)
        try:
            self._notice_a_move()
            if self._writer is None:
                self._writer = self._open_writer()
            self._writer.execute("begin immediate")
            return SqliteWrite(self, self._writer, call)
        except BaseException:
            self.end_write()
            raise

    @property
    def identity(self) -> tuple[int, int] | None:
        """What tells the open database apart from any that stood or will stand in its place."""
        return self._identity

    def vectors(self) -> VectorMatrix:
        """The vectors of this database in memory; the first search by meaning fills them."""
        if self._vectors is None:
            from ..vector_matrix import VectorMatrix

            with self._vectors_lock:
                self._vectors = self._vectors or VectorMatrix()
        return self._vectors

    def index(self, *, call: Call, patience_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
        """Makes missing vectors; how many it made, and how many are still missing."""
        from .vectors import index

        return index(self, call, patience_s=patience_s, most=most, rebuild=rebuild)

    def close(self) -> None:
        """Lets go of every connection and lock."""
        self._vectors = None
        self._close_connections()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def _close_connections(self) -> None:
        connections = [*self._readers, *([self._writer] if self._writer else [])]
        self._readers.clear()
        self._writer = None
        for connection in connections:
            try:
                connection.close()
            except apsw.Error:
                continue  # the last one to leave could not empty the log; it stays for the next

    def translate(self, error: Exception) -> MossError | None:
        """What a driver's or the system's error means to a caller."""
        return storage_error(error, self._home)

    def take_back(self, reader: apsw.Connection) -> None:
        """Keeps a reading transaction's connection for the next one."""
        self._reading -= 1
        if is_empty_store(reader):
            self._empty_readers.append(reader)
        elif self._unwritable:
            reader.close()  # it may not see what others write
        else:
            self._readers.append(reader)

    def erase(self, connection: apsw.Connection, *, patience_s: float) -> bool:
        """Leaves no byte of deleted text on disk; false while a reader holds the write-ahead log.

        `secure_delete` alone is not enough: when SQLite rebuilds a page, what stood in its gap stays there.
        """
        if only_value(connection, "select 1 from erasures where rebuilt = 0 limit 1"):
            connection.execute("vacuum")
            connection.execute("update erasures set rebuilt = 1")
        deadline = time.monotonic() + patience_s
        connection.set_busy_timeout(0)
        try:
            while not self._empty_log(connection):
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.01)
        finally:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute("delete from erasures")
        return True

    def _empty_log(self, connection: apsw.Connection) -> bool:
        try:
            busy: int = only_value(connection, "pragma wal_checkpoint(truncate)")
        except apsw.BusyError:
            return False
        return not busy

    def _acquire(self, patience_s: float, call: Call | None = None) -> None:
        """Takes the write lock of this process, then that of all processes, or gives up at the deadline.

        SQLite's own busy handler is not enough: with it alone, 37 of 16,000 writes from 16 processes failed.
        """
        deadline = time.monotonic() + patience_s
        if not self._thread_lock.acquire(patience_s > 0, patience_s if patience_s > 0 else -1):
            raise busy_error(patience_s)
        try:
            if self._lock_fd < 0:
                self._lock_fd = self._open_lock_file()
            pause_s = 0.0005
            while True:
                try:
                    fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if self._is_the_lock():
                        self._owner = get_ident()
                        return
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise busy_error(patience_s) from None
                    if call is not None:
                        call.check_cancelled()
                    time.sleep(pause_s)
                    pause_s = min(pause_s * 1.5, 0.005)
        except BaseException:
            self._thread_lock.release()
            raise

    def _is_the_lock(self) -> bool:
        """Whether the descriptor is still the lock file that other processes find; if not, that one is opened."""
        status = os.fstat(self._lock_fd)
        if file_identity(os.path.join(self._home, LOCK)) == (status.st_dev, status.st_ino):
            return True
        os.close(self._lock_fd)
        self._lock_fd = -1
        self._lock_fd = self._open_lock_file()
        return False

    def end_write(self) -> None:
        """Lets the next writer in."""
        self._owner = NOBODY
        fcntl.flock(self._lock_fd, fcntl.LOCK_UN)
        self._thread_lock.release()

    def _open_lock_file(self) -> int:
        """Opens the lock file as it is; one that is not there is made, private whatever the umask."""
        make_private_folder(self._home)
        path = os.path.join(self._home, LOCK)
        while True:
            try:
                return os.open(path, _LOCK_FLAGS)
            except FileNotFoundError:
                pass
            try:
                fd = os.open(path, _LOCK_FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue  # another process was quicker
            os.fchmod(fd, 0o600)
            return fd

    def _open_writer(self) -> apsw.Connection:
        """A connection for writing; the caller holds the lock, so creation and migration race with nobody."""
        if not os.path.lexists(self._path):
            self._create_file()
        refuse_special(self._path)
        connection = apsw.Connection(self._path, flags=_WRITE_FLAGS)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if schema_of(connection, self._path) == ORIGINAL:
            from .original import move_in  # once in a store's life

            move_in(connection, self._path, run_migrations)
        settle(connection, "journal_mode = wal", "wal")
        settle(connection, "synchronous = full", 2)
        settle(connection, "secure_delete = on", 1)
        migrate(connection)
        self._identity = file_identity(self._path)
        return connection

    def _create_file(self) -> None:
        # SQLite gives -wal and -shm the mode of the database, so the file is made private before it is opened.
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        os.fchmod(fd, 0o600)
        os.close(fd)

    def _open_reader(self) -> apsw.Connection:
        if not is_there(self._path):
            return self._empty_reader()
        refuse_special(self._path)
        try:
            connection = apsw.Connection(self._path, flags=_WRITE_FLAGS)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            version = schema_of(connection, self._path)
            self._unwritable = False
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            self._unwritable = True
            connection = self._open_unwritable()
            version = schema_of(connection, self._path)
        if version == EMPTY:
            connection.close()  # a file that its maker has not filled yet
            return self._empty_reader()
        if version < SCHEMA_VERSION:
            self._prepare()
        self._identity = file_identity(self._path)
        connection.execute("pragma query_only = on")
        return connection

    def _empty_reader(self) -> apsw.Connection:
        """What reads see where there is no store yet: one without a row, in memory. Reading makes none on disk."""
        return _pop(self._empty_readers) or open_empty_store()

    def _prepare(self) -> None:
        """Migrates the database, under the lock that every process respects."""
        self._acquire(WRITE_PATIENCE_S)
        try:
            if self._writer is None:
                self._writer = self._open_writer()
        finally:
            self.end_write()

    def _open_unwritable(self) -> apsw.Connection:
        """Reads go on where nothing can be written: a read-only folder or file system."""
        log = self._path + "-wal"
        immutable = not os.path.exists(log) or os.path.getsize(log) == 0
        name = self._path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        uri = f"file:{name}?mode=ro" + ("&immutable=1" if immutable else "")
        return apsw.Connection(uri, flags=_READONLY_FLAGS)

    def _refuse_after_fork(self) -> None:
        if self._path in _forked_in_use:
            raise MossError(
                "STORAGE_BUSY",
                "this process was forked while the store was in use and cannot share it; start a fresh process",
            )

    def before_fork(self) -> None:
        """Closes what is idle: SQLite keeps its locks by process, so a child would believe it had ours."""
        if self._owner != get_ident() and self._thread_lock.acquire(True, WRITE_PATIENCE_S):
            self._owner = FORKING
            self._close_connections()

    def after_fork_in_parent(self) -> None:
        """Goes on; connections are opened again when they are needed."""
        if self._owner == FORKING:
            self._owner = NOBODY
            self._thread_lock.release()

    def after_fork_in_child(self) -> None:
        """Starts afresh, unless a call of the parent was under way."""
        if self._reading or self._writer is not None:
            _forked_in_use[self._path] = (self._writer, self._readers)
        if self._lock_fd >= 0:
            os.close(self._lock_fd)  # else a killed parent's lock would live on in the child
        SqliteEngine.__init__(self, self._home)


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


def migrate(connection: apsw.Connection) -> None:
    """Brings the schema to the newest version, whole or not at all."""
    if connection.pragma("user_version") == SCHEMA_VERSION:
        return
    connection.execute("begin immediate")
    try:
        run_migrations(connection, connection.pragma("user_version"))
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def run_migrations(connection: apsw.Connection, version: int) -> None:
    """Every migration after the version, in the transaction that the caller has begun."""
    for number, sql in migrations_after(version):
        for _ in connection.execute(sql):
            pass
        connection.execute(f"pragma user_version = {number}")
    connection.execute(f"pragma application_id = {APPLICATION_ID}")


def open_empty_store() -> apsw.Connection:
    """A store in memory that nothing was ever written to, with the newest schema."""
    connection = apsw.Connection(":memory:")
    migrate(connection)
    connection.execute("pragma query_only = on")
    return connection


def is_empty_store(connection: apsw.Connection) -> bool:
    """Whether a connection is to a store in memory."""
    return not connection.filename


def _pop(connections: list[apsw.Connection]) -> apsw.Connection | None:
    try:
        return connections.pop()
    except IndexError:
        return None


def settle(connection: apsw.Connection, pragma: str, expected: str | int) -> None:
    """Sets a pragma and makes sure that it took; SQLite ignores what it cannot do without a word."""
    connection.execute(f"pragma {pragma}")
    name = pragma.partition(" ")[0]
    actual = only_value(connection, f"pragma {name}")
    if actual != expected:
        raise MossError("STORAGE_READONLY", f"the database refuses {pragma!r} (it says {actual!r})")


def is_there(path: str) -> bool:
    """Whether a file of any kind is there; raises where that cannot be told, as below a file or a closed folder."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def file_identity(path: str) -> tuple[int, int] | None:
    """What tells a file apart from every other, whatever its name; none when there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
