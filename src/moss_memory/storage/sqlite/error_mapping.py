"""Map errors of SQLite and of the file system to `MossError`."""

from __future__ import annotations

import errno
import os
import time

import apsw

from moss_memory.errors import MossError, descriptor_limit_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHARED_BYTES = 65_536
BUSY_TIMEOUT_MS = 5000
"""Timeout of SQLite itself for a lock of a program other than Moss."""


def busy_error(timeout_s: float, holder: dict[str, Any] | None = None) -> MossError:
    """Return the error for a lock timeout, with the holder if it is known."""
    return MossError(
        "STORAGE_BUSY",
        f"other processes kept the store busy for {timeout_s:g} s{_held_by(holder)}; nothing was written, try again",
        details={"retryable": True, **({"holder": holder} if holder else {})},
    )


def missing_store(home: str) -> MossError:
    """Return the error for an open store that has disappeared: an empty store in its place would hide that."""
    return MossError(
        "STORAGE_CORRUPT",
        f"the store in {home} was moved or removed while it was in use; nothing was written. Put it back, or restart "
        "the programs that use it with MOSS_HOME set to its new place",
        details={"home": home},
    )


def _held_by(holder: dict[str, Any] | None) -> str:
    if holder is None:
        return ""
    try:
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(holder["since_ms"] / 1000))
    except (OverflowError, ValueError, OSError):
        since = "an unknown time"  # the clock of the holder was wrong
    return f" (process {holder['pid']} has held it since {since}, with `{holder['tool']}`)"


def is_disk_full(home: str) -> bool:
    """Return True if the disk is too full for the shared-memory file, which SQLite reports as an I/O error."""
    try:
        file_system = os.statvfs(home)
    except OSError:
        return False
    return file_system.f_bavail * file_system.f_frsize < _SHARED_BYTES


def _reason(error: Exception) -> Exception:
    """Return the reason why a file cannot be opened, which SQLite does not report: try to open it."""
    if isinstance(error, (apsw.CantOpenError, apsw.IOError)):
        try:
            os.close(os.dup(2))
        except OSError as found:
            return found
    return error


def storage_error(error: Exception, home: str) -> MossError | None:
    """Return the `MossError` for an error of SQLite or of the file system."""
    text = str(error)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return busy_error(BUSY_TIMEOUT_MS / 1000)
    if (
        isinstance(error, apsw.FullError)
        or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT))
        or (isinstance(error, apsw.IOError) and is_disk_full(home))
    ):
        return MossError("STORAGE_FULL", f"no space is left for the store in {home}; free some and try again")
    short = descriptor_limit_error(_reason(error))
    if short is not None:
        return short
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return MossError("STORAGE_CORRUPT", f"the database in {home} is damaged ({text}); run `moss doctor`")
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, PermissionError)) or (
        isinstance(error, OSError) and error.errno == errno.EROFS
    ):
        return MossError("STORAGE_READONLY", f"the store in {home} cannot be written ({text}); check its permissions")
    if isinstance(error, apsw.IOError):
        return MossError("STORAGE_READONLY", f"the store in {home} could not be read or written ({text})")
    if isinstance(error, OSError):
        return MossError("STORAGE_READONLY", f"{home} is not a usable folder ({text}); set MOSS_HOME to one")
    return None
