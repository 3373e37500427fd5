"""Detect if another program removed, replaced or changed the files that a writer has open.

If a log is removed, only processes that have it open still see its content; if a database is truncated, it looks
complete to processes with cached pages. So a writer checks before it begins and before it acknowledges a write.
"""

from __future__ import annotations

import os
import time

import apsw

from moss_memory.errors import MossError

from .connections import file_identity, only_value
from .wal_file import Log, log_changed

TIMEOUT_S = 5.0
"""How long to wait for readers that block the checkpoint of a removed log."""

_LOG = "-wal"


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
        self._frames = Log(path + _LOG, connection)

    def is_in_place(self) -> bool:
        """Return whether the open database is the file at its path."""
        try:
            status = os.lstat(self._path)
        except FileNotFoundError:
            return False
        self._seen_bytes = status.st_size
        return (status.st_dev, status.st_ino) == self._database

    def has_its_log(self) -> bool:
        """Return whether the open log is the file at its path."""
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
        self.refuse_changed_log()
        self._frames.remember()

    def _refuse_log(self) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise log_changed(self._path)

    def close(self) -> None:
        """Prepare the connection to be closed: a changed log is kept out of the database."""
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
                raise cut(self._path)
        self._size_bytes = self._seen_bytes

    def _is_whole(self) -> bool:
        """Return whether a connection without cached pages can read everything; a purge shortens a database, too."""
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


def cut(path: str) -> MossError:
    """Return the error for a truncated database."""
    return MossError(
        "STORAGE_CORRUPT",
        f"{path} was cut off while it was in use. `moss restore-backup` brings back a copy, and "
        "`moss export --salvage` what can still be read",
        details={"file": path},
    )


def log_removed(path: str) -> MossError:
    """Return the error while a removed log cannot be recovered."""
    return MossError(
        "STORAGE_BUSY",
        f"{path}{_LOG} was removed while the store was in use, and others still read what was in it; nothing was "
        "written. Try again when they are done",
        details={"retryable": True, "file": path + _LOG},
    )


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0
