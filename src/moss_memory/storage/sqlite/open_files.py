"""The files that a writer has open: whether another program has removed, replaced or changed them meanwhile.

A log that is removed takes along what is only in it, for everybody but those who have it open; a database that is cut
looks whole to those who have its pages in memory. So a writer looks before it begins and before anything it wrote is
acknowledged.
"""

from __future__ import annotations

import os
import time

import apsw

from moss_memory.errors import MossError

from .connections import file_identity, only_value
from .wal_file import Log, log_changed

TIMEOUT_S = 5.0
"""How long readers are waited for that keep a removed log from being brought into the database."""

_LOG = "-wal"


class OpenFiles:
    """What a writer has open: the database, how long it was last seen to be, and the log."""

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
        """Whether the database that is in the place is the one that is open."""
        try:
            status = os.lstat(self._path)
        except FileNotFoundError:
            return False
        self._seen_bytes = status.st_size
        return (status.st_dev, status.st_ino) == self._database

    def has_its_log(self) -> bool:
        """Whether the log that is in the place is the one that is open."""
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
        """Refuses a database that has become shorter and does not hold less, as it was when it was last looked for."""
        if self._seen_bytes < self._size_bytes:
            page = self._connection.pragma("page_size")
            if page * only_value(self._connection, "pragma page_count") > self._seen_bytes and not self._is_whole():
                raise cut(self._path)
        self._size_bytes = self._seen_bytes

    def _is_whole(self) -> bool:
        """Whether somebody who has no page in memory finds everything; a purge makes a database shorter too."""
        if self._seen_bytes == 0:
            return False  # to open it would remove the log
        fresh = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            return bool(only_value(fresh, "pragma quick_check(1)") == "ok")
        except apsw.CorruptError:
            return False
        finally:
            fresh.close()

    def checkpoint_orphaned_wal(self, *, timeout_s: float = TIMEOUT_S) -> bool:
        """Brings what a removed log holds into the database; false while readers keep it from that.

        Where another has begun a new log, what the old one held was brought there before: this one is left alone.
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
        """Refuses a log that lacks what others have written: they have open one that was removed."""
        frames, _ = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if frames > 0 and _size(self._path + _LOG) == 0:
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            raise log_removed(self._path)


def cut(path: str) -> MossError:
    """What to hear of a database whose end is gone."""
    return MossError(
        "STORAGE_CORRUPT",
        f"{path} was cut off while it was in use. `moss restore-backup` brings back a copy, and "
        "`moss export --salvage` what can still be read",
        details={"file": path},
    )


def log_removed(path: str) -> MossError:
    """What to hear while a log that was removed cannot be brought back."""
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
