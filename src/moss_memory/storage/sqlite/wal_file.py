"""Check that the write-ahead log is as SQLite wrote it: programs that sync files change it in place.

SQLite trusts the index of the log in shared memory, and never reads the log again while anybody has it open. If another
program truncates, zeroes or replaces the log, SQLite continues to append to it, and a checkpoint copies garbage into
the database. So a writer compares the log with that index before it writes and before it acknowledges: its length, its
header, and its last frame. It reads the log through SQLite's own file layer. That takes 3 µs.
"""

from __future__ import annotations

import os
import struct

import apsw

from moss_memory.errors import MossError

_MAGIC = 0x377F0682
_HEADER, _FRAME_HEADER = 32, 24
_NUMBERS = struct.Struct(">8I")
_FLAGS = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_WAL, 0]


class Log:
    """The log of one connection, and its last known state; the caller holds the write lock."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._connection = connection
        try:
            self._file = apsw.VFSFile("", path, list(_FLAGS))
        except apsw.CantOpenError:
            os.close(os.dup(2))  # raises the reason if no descriptor is left, which SQLite does not report
            raise
        self._frame_size = _FRAME_HEADER + connection.pragma("page_size")
        self._seen: tuple[int, bytes, bytes] = (0, b"", b"")
        self._known: tuple[int, tuple[int, bytes, bytes]] | None = None

    def is_sound(self) -> bool:
        """Return whether header and last frame of the log match the shared index."""
        count, _ = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if count <= 0:
            self._seen = 0, b"", b""
            return True  # empty: the next write starts it anew
        try:
            header = self._file.xRead(_HEADER, 0)
            frame = self._file.xRead(self._frame_size, _HEADER + (count - 1) * self._frame_size)
        except apsw.IOError:
            return False
        if len(frame) < self._frame_size:
            return False  # truncated
        # The frame contains the salts of its log, and the header a checksum.
        is_sound = frame[8:16] == header[16:24] and (header == self._seen[1] or _is_valid(header))
        self._seen = count, header, frame
        return is_sound

    def is_known(self) -> bool:
        """Return whether the log is as `remember` found it, or others have written since; a transaction has begun."""
        known = self._known
        return known is None or known[0] != self._connection.data_version() or known[1] == self._seen

    def remember(self) -> None:
        """Remember the log as `is_sound` found it after a commit."""
        self._known = self._connection.data_version(), self._seen

    def close(self) -> None:
        """Close the file."""
        self._file.xClose()


def is_changed(path: str, connection: apsw.Connection) -> bool:
    """Return whether another program has changed the log; False if there is no log."""
    try:
        log = Log(path + "-wal", connection)
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
    """Return whether the checksum of the header is correct."""
    numbers = _NUMBERS.unpack(header)
    if numbers[0] & ~1 != _MAGIC:
        return False
    summed = numbers if numbers[0] & 1 else struct.unpack("<8I", header)
    one = two = 0
    for index in range(0, 6, 2):
        one = (one + summed[index] + two) & 0xFFFFFFFF
        two = (two + summed[index + 1] + one) & 0xFFFFFFFF
    return (one, two) == (numbers[6], numbers[7])


def log_changed(path: str) -> MossError:
    """Return the refusal of a log that another program has changed."""
    return MossError(
        "STORAGE_CORRUPT",
        f"another program has changed {path}-wal while the store was in use, as programs that sync files do; nothing "
        "was written, and the database itself is as it was. Stop every program that uses this store, then run "
        "`moss doctor`; what was written last may be lost. Keep the home outside of synced folders",
        details={"file": f"{path}-wal"},
    )
