"""Detect if another program removed, replaced or changed the files that a writer has open.

If a log is removed, only processes that have it open still see its content; if a database is truncated, it looks
complete to processes with cached pages. So a writer checks before it begins and before it acknowledges a write.

SQLite uses the index of the log in shared memory without a check, and never reads the log again while anybody has it
open. If another program truncates, zeroes or replaces the log, SQLite continues to append to it, and a checkpoint
copies garbage into the database. So a writer compares the log with that index before it writes and before it
acknowledges: its length, its header, its first and its last frame. It reads the log through SQLite's own file layer.
That takes 3 µs.
"""

from __future__ import annotations

import os
import struct
import time

import apsw

from moss_memory.errors import MossError

from .functions import only_value

TIMEOUT_S = 5.0
"""Timeout for readers that block the checkpoint of a removed log."""

_LOG = "-wal"
_MAGIC = 0x377F0682
_HEADER, _FRAME_HEADER = 32, 24
_NUMBERS = struct.Struct(">8I")
_FLAGS = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_WAL, 0]


class OpenFiles:
    """The files of a writer: the database with its last known size, and the log."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._path = path
        self._connection = connection
        status = os.lstat(path)
        self._database = (status.st_dev, status.st_ino)
        self._size_bytes = self._seen_bytes = status.st_size
        self._log = file_identity(path + _LOG)
        self._refuse_other_log()
        self._frames = WalFile(path + _LOG, connection)

    def is_in_place(self) -> bool:
        """Return True if the open database is the file at its path."""
        try:
            status = os.lstat(self._path)
        except FileNotFoundError:
            return False
        self._seen_bytes = status.st_size
        return (status.st_dev, status.st_ino) == self._database

    def has_its_log(self) -> bool:
        """Return True if the open log is the file at its path."""
        return file_identity(self._path + _LOG) == self._log

    def refuse_changed_log(self) -> None:
        """Refuse a log that another program has changed in place; nothing of it may reach the database."""
        if not self._frames.is_sound():
            self._refuse_log()

    def refuse_unknown_log(self) -> None:
        """Refuse a log that has changed although nobody has written by it; a transaction has begun."""
        if not self._frames.is_known():
            self._refuse_log()

    def remember_log(self) -> None:
        """Remember the log as it is after a commit; refuse it if another program has changed it meanwhile."""
        if not self._frames.is_sound():
            self._refuse_log(committed=True)
        self._frames.remember()

    def _refuse_log(self, *, committed: bool = False) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise log_changed(self._path, committed=committed)

    def close(self) -> None:
        try:
            self.refuse_changed_log()
            self._connection.execute("begin")
            self._connection.execute("select 1 from sqlite_schema").fetchall()
            self.refuse_unknown_log()
        except (MossError, apsw.Error):
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        finally:
            self._frames.close()
        if self._connection.in_transaction:
            self._connection.execute("rollback")

    def refuse_truncated(self) -> None:
        """Refuse a database that became shorter although nothing was deleted."""
        if self._seen_bytes < self._size_bytes:
            page = self._connection.pragma("page_size")
            if page * only_value(self._connection, "pragma page_count") > self._seen_bytes and not self._is_whole():
                raise truncated_error(self._path)
        self._size_bytes = self._seen_bytes

    def _is_whole(self) -> bool:
        """Return True if a connection without cached pages can read everything; a purge shortens a database, too."""
        if self._seen_bytes == 0:
            return False  # opening it would remove the log
        fresh = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            return bool(only_value(fresh, "pragma quick_check(1)") == "ok")
        except apsw.CorruptError:
            return False
        finally:
            fresh.close()

    def checkpoint_orphaned_wal(self, *, timeout_s: float = TIMEOUT_S) -> bool:
        """Checkpoint a removed log into the database; return False while readers block that.

        If another process has started a new log, it has checkpointed the old one first: leave it alone.
        """
        if _size(self._path + _LOG):
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            return True
        deadline = time.monotonic() + timeout_s
        while not self._empty_log():
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.01)
        return True

    def _empty_log(self) -> bool:
        try:
            busy: int = only_value(self._connection, "pragma wal_checkpoint(truncate)")
        except apsw.BusyError:
            return False
        return not busy

    def _refuse_other_log(self) -> None:
        """Refuse a log that lacks the writes of processes that have a removed log open."""
        frames, _ = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if frames > 0 and _size(self._path + _LOG) == 0:
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            raise log_removed(self._path)


class WalFile:
    """The log of one connection, and its last known state; the caller holds the write lock."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._connection = connection
        try:
            self._file = apsw.VFSFile("", path, list(_FLAGS))
        except apsw.CantOpenError:
            os.close(os.dup(2))  # raises the reason if no descriptor is left, which SQLite does not report
            raise
        self._frame_size = _FRAME_HEADER + connection.pragma("page_size")
        self._log_state: tuple[int, bytes, bytes] = (0, b"", b"")
        self._remembered: tuple[int, tuple[int, bytes, bytes]] | None = None

    def is_sound(self) -> bool:
        """Return True if the header, the first and the last frame of the log match the shared index."""
        count, _ = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if count <= 0:
            self._log_state = 0, b"", b""
            return True  # empty: the next write starts it anew
        try:
            begin = self._file.xRead(_HEADER + _FRAME_HEADER, 0)
            frame = self._file.xRead(self._frame_size, _HEADER + (count - 1) * self._frame_size)
        except apsw.IOError:
            return False
        if len(frame) < self._frame_size:
            return False  # truncated
        header, first = begin[:_HEADER], begin[_HEADER:]
        # A frame contains the salts of its log, and the header a checksum.
        is_sound = frame[8:16] == first[8:16] == header[16:24] and (header == self._log_state[1] or _is_valid(header))
        self._log_state = count, header, frame
        return is_sound

    def is_known(self) -> bool:
        """Return True if the log is as `remember` found it, or others have written since; a transaction has begun."""
        remembered = self._remembered
        return (
            remembered is None or remembered[0] != self._connection.data_version() or remembered[1] == self._log_state
        )

    def remember(self) -> None:
        """Remember the log as `is_sound` found it after a commit."""
        self._remembered = self._connection.data_version(), self._log_state

    def close(self) -> None:
        self._file.xClose()


def is_changed(path: str, connection: apsw.Connection) -> bool:
    """Return True if another program has changed the log; False if there is no log."""
    try:
        log = WalFile(path + "-wal", connection)
        try:
            return not log.is_sound()
        finally:
            log.close()
    except (apsw.Error, OSError):
        return False  # there is no log, or no database, or no descriptor


def keep_out_if_changed(path: str, connection: apsw.Connection) -> None:
    """Keep a connection from checkpointing a log that another program has changed when it is closed."""
    if is_changed(path, connection):
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _is_valid(header: bytes) -> bool:
    """Return True if the checksum of the header is correct."""
    numbers = _NUMBERS.unpack(header)
    if numbers[0] & ~1 != _MAGIC:
        return False
    summed = numbers if numbers[0] & 1 else struct.unpack("<8I", header)
    first_sum = second_sum = 0
    for index in range(0, 6, 2):
        first_sum = (first_sum + summed[index] + second_sum) & 0xFFFFFFFF
        second_sum = (second_sum + summed[index + 1] + first_sum) & 0xFFFFFFFF
    return (first_sum, second_sum) == (numbers[6], numbers[7])


def log_changed(path: str, *, committed: bool = False) -> MossError:
    """Return the refusal of a log that another program has changed, before or after the commit of the call."""
    written = "it is not known if this call was written" if committed else "nothing was written"
    return MossError(
        "STORAGE_CORRUPT",
        f"another program has changed {path}-wal while the store was in use, as programs that sync files do; "
        f"{written}, and the database itself is as it was. Stop every program that uses this store, then run "
        "`moss doctor`; the last writes may be lost. Keep the home outside of synced folders",
        details={"file": f"{path}-wal"},
    )


def truncated_error(path: str) -> MossError:
    """Return the error for a truncated database."""
    return MossError(
        "STORAGE_CORRUPT",
        f"{path} was truncated while it was in use, and the last writes may be lost. `moss restore-backup` "
        "brings back a copy, and `moss export --salvage` what can still be read",
        details={"file": path},
    )


def log_removed(path: str) -> MossError:
    """Return the error while a removed log cannot be recovered."""
    return MossError(
        "STORAGE_BUSY",
        f"{path}{_LOG} was removed while the store was in use, and other processes still read its content; nothing "
        "was written. Try again after they have closed the store",
        details={"retryable": True, "file": path + _LOG},
    )


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def file_identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if it is missing.

    Raise if the folder cannot be searched.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def schema_numbers(connection: apsw.Connection) -> tuple[int, int]:
    """Return the version of the schema, and SQLite's own number, which changes whenever the schema does."""
    return connection.execute("pragma user_version").get, connection.execute("pragma schema_version").get
