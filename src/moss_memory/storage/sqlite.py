"""The embedded engine: SQLite through apsw, in WAL mode, durable when a call returns."""

from __future__ import annotations

import fcntl
import os
import time
from _thread import allocate_lock

import apsw

from ..errors import MossError
from .migrate import SCHEMA_VERSION, migrations_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..search.hits import Hits
    from ..search.query import Query
    from .engine import Call, Parameters, Row

DATABASE = "moss.db"
LOCK = "moss.lock"
APPLICATION_ID = 0x4D6F7373
BUSY_TIMEOUT_MS = 5000
WRITE_PATIENCE_S = 10.0
ERASE_PATIENCE_S = 2.0
_CHANGES_PER_CALL = 1 << 24
_WRITE_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
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
        self._pid = os.getpid()

    def begin_read(self, *, snapshot: bool, call: Call) -> SqliteTransaction:
        """A transaction that sees one state of the store and never waits for a writer."""
        self._after_fork()
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = self._open_reader()
        if snapshot:
            connection.execute("begin")
        return SqliteTransaction(self, connection, call, writes=False)

    def begin_write(self, *, patience_s: float, call: Call) -> SqliteTransaction:
        """The only writing transaction at this moment, in this process and all others."""
        self._after_fork()
        self._acquire(patience_s, call)
        try:
            if self._writer is None:
                self._writer = self._open_writer()
            self._writer.execute("begin immediate")
            return SqliteTransaction(self, self._writer, call, writes=True)
        except BaseException:
            self._release()
            raise

    def close(self) -> None:
        """Lets go of every connection and lock."""
        for connection in [*self._readers, *([self._writer] if self._writer else [])]:
            connection.close()
        self._readers.clear()
        self._writer = None
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def translate(self, error: Exception) -> MossError | None:
        """What a driver's or the system's error means to a caller."""
        return storage_error(error, self._home)

    def give_back(self, connection: apsw.Connection, *, writes: bool) -> None:
        """Takes a transaction's connection for the next one."""
        if writes:
            self._release()
        else:
            self._readers.append(connection)

    def erase(self, connection: apsw.Connection, *, patience_s: float) -> bool:
        """Empties the write-ahead log, so that deleted text is nowhere on disk; false when a reader holds it."""
        deadline = time.monotonic() + patience_s
        connection.set_busy_timeout(0)
        try:
            while True:
                try:
                    busy = only_value(connection, "pragma wal_checkpoint(truncate)")
                except apsw.BusyError:
                    busy = 1
                if not busy:
                    connection.execute("delete from erasures")
                    return True
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.01)
        finally:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)

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
                    return
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise busy_error(patience_s) from None
                    if call is not None:
                        check_cancelled(call)
                    time.sleep(pause_s)
                    pause_s = min(pause_s * 1.5, 0.005)
        except BaseException:
            self._thread_lock.release()
            raise

    def _release(self) -> None:
        fcntl.flock(self._lock_fd, fcntl.LOCK_UN)
        self._thread_lock.release()

    def _open_lock_file(self) -> int:
        make_private_folder(self._home)
        fd = os.open(os.path.join(self._home, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if os.fstat(fd).st_mode & 0o777 != 0o600:
            os.fchmod(fd, 0o600)
        return fd

    def _open_writer(self) -> apsw.Connection:
        """A connection for writing; the caller holds the lock, so creation and migration race with nobody."""
        if not os.path.lexists(self._path):
            self._create_file()
        connection = apsw.Connection(self._path, flags=_WRITE_FLAGS)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        settle(connection, "journal_mode = wal", "wal")
        settle(connection, "synchronous = full", 2)
        settle(connection, "secure_delete = on", 1)
        self._migrate(connection)
        return connection

    def _create_file(self) -> None:
        # SQLite gives -wal and -shm the mode of the database, so the file is made private before it is opened.
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        os.fchmod(fd, 0o600)
        os.close(fd)

    def _open_reader(self) -> apsw.Connection:
        if not os.path.lexists(self._path):
            self._prepare()
        try:
            connection = apsw.Connection(self._path, flags=_WRITE_FLAGS)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            version = check_version(connection)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            connection = self._open_unwritable()
            version = check_version(connection)
        if version < SCHEMA_VERSION:
            self._prepare()
        connection.execute("pragma query_only = on")
        return connection

    def _prepare(self) -> None:
        """Makes or migrates the database, under the lock that every process respects."""
        self._acquire(WRITE_PATIENCE_S)
        try:
            if self._writer is None:
                self._writer = self._open_writer()
        finally:
            self._release()

    def _open_unwritable(self) -> apsw.Connection:
        """Reads go on where nothing can be written: a read-only folder or file system."""
        log = self._path + "-wal"
        immutable = not os.path.exists(log) or os.path.getsize(log) == 0
        name = self._path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        uri = f"file:{name}?mode=ro" + ("&immutable=1" if immutable else "")
        return apsw.Connection(uri, flags=_READONLY_FLAGS)

    def _migrate(self, connection: apsw.Connection) -> None:
        if check_version(connection) == SCHEMA_VERSION:
            return
        connection.execute("begin immediate")
        try:
            for number, sql in migrations_after("sqlite", check_version(connection)):
                for _ in connection.execute(sql):
                    pass
                connection.execute(f"pragma user_version = {number}")
            connection.execute(f"pragma application_id = {APPLICATION_ID}")
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise

    def _after_fork(self) -> None:
        """A forked child starts with fresh connections: SQLite's must not cross a fork."""
        if os.getpid() != self._pid:
            abandoned.append((self._writer, self._readers))
            self.__init__(self._home)  # type: ignore[misc]


abandoned: list[Any] = []
"""Connections inherited by a fork: closing them in the child would drop the parent's locks."""


class SqliteTransaction:
    """One call's statements on one connection: all of them happen, or none do."""

    __slots__ = (
        "_address", "_changes", "_engine", "_erase_into", "_workspace", "_writes", "call", "config", "connection",
        "now", "now_ms",
    )  # fmt: skip

    def __init__(self, engine: SqliteEngine, connection: apsw.Connection, call: Call, *, writes: bool) -> None:
        self._engine = engine
        self.connection = connection
        self.call = call
        self.config = call.config
        self.now_ms = call.clock_ms()
        self.now = self.now_ms // 1000
        self._writes = writes
        self._workspace: str | None = None
        self._address: str | None = None
        self._changes = 0
        self._erase_into: dict[str, Any] | None = None

    def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        return self.connection.execute(sql, parameters)

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        found: Row | None = self.connection.execute(sql, parameters).fetchone()
        return found

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        for _ in self.connection.execute(sql, parameters):
            pass
        return self.connection.changes()

    def new_id(self) -> str:
        return self.call.new_id(self.now_ms)

    def next_change(self) -> int:
        if not self._changes:
            last = only_value(self.connection, "select max(seq) from events") or 0
            self._changes = (last + 1) * _CHANGES_PER_CALL
        self._changes += 1
        return self._changes

    def concerns(self, *, workspace: str | None = None, address: str | None = None) -> None:
        self._workspace = workspace
        self._address = address

    def check_cancelled(self) -> None:
        check_cancelled(self.call)

    def progress(self, done: int, total: int | None = None) -> None:
        if self.call.progress is not None:
            self.call.progress(done, total)

    def search(self, query: Query, **filters: Any) -> Hits:
        from ..search.hits import Hit, Hits
        from .sqlite_search import FAMILIES, search  # most calls search nothing

        found = search(self.connection, query, **filters)
        names = {code: family for family, (code, _) in FAMILIES.items()}
        items = [Hit(names[doc & 15], doc >> 4, score) for doc, score in found.items]
        return Hits(items, found.total, found.matcher)

    def contains_tag(self, column: str, parameter: str) -> str:
        return f"exists (select 1 from json_each({column}) where value = :{parameter})"

    def erase_after_commit(self, result: dict[str, Any]) -> None:
        self.connection.execute("insert into erasures default values")
        self._erase_into = result

    def append_event(self, tool: str) -> None:
        self.connection.execute(
            "insert into events (event_id, workspace, tool, address, ts_ms)"
            " values (:event_id, :workspace, :tool, :address, :ts_ms)",
            {
                "event_id": self.new_id(),
                "workspace": self._workspace,
                "tool": tool,
                "address": self._address,
                "ts_ms": self.now_ms,
            },
        )

    def commit(self) -> None:
        if not self._writes:
            if self.connection.in_transaction:
                self.connection.execute("commit")
            return
        unfinished = self.connection.execute("select 1 from erasures limit 1").fetchone()
        self.connection.execute("commit")
        if unfinished:
            patience_s = 0.0 if self._erase_into is None else ERASE_PATIENCE_S
            erased = self._engine.erase(self.connection, patience_s=patience_s)
            if self._erase_into is not None:
                self._erase_into["erased"] = erased

    def rollback(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("rollback")

    def release(self) -> None:
        self._engine.give_back(self.connection, writes=self._writes)


def check_cancelled(call: Call) -> None:
    """Ends a call whose caller has given up; its transaction is undone."""
    if call.cancelled is not None and call.cancelled():
        raise MossError("CANCELLED", f"{call.operation} was cancelled; nothing was changed")


def only_value(connection: apsw.Connection, sql: str) -> Any:
    """The first column of a statement's first row."""
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]


def settle(connection: apsw.Connection, pragma: str, expected: str | int) -> None:
    """Sets a pragma and makes sure that it took; SQLite ignores what it cannot do without a word."""
    connection.execute(f"pragma {pragma}")
    name = pragma.partition(" ")[0]
    actual = only_value(connection, f"pragma {name}")
    if actual != expected:
        raise MossError("STORAGE_READONLY", f"the database refuses {pragma!r} (it says {actual!r})")


def check_version(connection: apsw.Connection) -> int:
    """The schema version of the database; a newer one than this code knows is refused, untouched."""
    version: int = only_value(connection, "pragma user_version")
    if version > SCHEMA_VERSION:
        raise MossError(
            "STORAGE_READONLY",
            f"the database has schema version {version}, this Moss knows {SCHEMA_VERSION}; upgrade moss-memory",
            details={"database_version": version, "known_version": SCHEMA_VERSION},
        )
    return version


def make_private_folder(path: str) -> None:
    """Makes a folder that only its owner may enter, whatever the umask; an own one left open is closed."""
    try:
        os.makedirs(path, mode=0o700)
    except FileExistsError:
        status = os.stat(path)
        shared_on_purpose = status.st_mode & 0o1000 or status.st_uid != os.geteuid()
        if status.st_mode & 0o077 and not shared_on_purpose:
            os.chmod(path, 0o700)
        return
    os.chmod(path, 0o700)


def busy_error(patience_s: float) -> MossError:
    return MossError(
        "STORAGE_BUSY",
        f"other processes kept the store busy for {patience_s:g} s; nothing was written, try again",
        details={"retryable": True},
    )


def storage_error(error: Exception, home: str) -> MossError | None:
    """The typed error that a failure of SQLite or of the file system means."""
    text = str(error)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return busy_error(BUSY_TIMEOUT_MS / 1000)
    if isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in (28, 122)):
        return MossError("STORAGE_FULL", f"no space is left for the store in {home}; free some and try again")
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return MossError("STORAGE_CORRUPT", f"the database in {home} is damaged ({text}); run `moss doctor`")
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, PermissionError)) or (
        isinstance(error, OSError) and error.errno == 30
    ):
        return MossError("STORAGE_READONLY", f"the store in {home} cannot be written ({text}); check its permissions")
    if isinstance(error, apsw.IOError):
        return MossError("STORAGE_READONLY", f"the store in {home} could not be read or written ({text})")
    if isinstance(error, (NotADirectoryError, IsADirectoryError, FileExistsError, FileNotFoundError)):
        return MossError("STORAGE_READONLY", f"{home} is not a usable folder ({text}); set MOSS_HOME to one")
    return None
