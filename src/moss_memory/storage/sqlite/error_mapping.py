"""What failures of SQLite and of the file system mean to a caller; translated here and nowhere else."""

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
"""How long SQLite itself waits for a lock that a program outside Moss holds."""


def busy_error(timeout_s: float, holder: dict[str, Any] | None = None) -> MossError:
    """Says that a write had to wait too long, and whom for where that is known."""
    return MossError(
        "STORAGE_BUSY",
        f"other processes kept the store busy for {timeout_s:g} s{_told(holder)}; nothing was written, try again",
        details={"retryable": True, **({"holder": holder} if holder else {})},
    )


def _told(holder: dict[str, Any] | None) -> str:
    if holder is None:
        return ""
    try:
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(holder["since_ms"] / 1000))
    except (OverflowError, ValueError, OSError):
        since = "an unknown time"  # the clock of the holder was wrong
    return f" (process {holder['pid']} has held it since {since}, with `{holder['tool']}`)"


def has_no_room(home: str) -> bool:
    """Whether the disk lacks room for the memory that readers and writers share, which SQLite calls an I/O error."""
    try:
        found = os.statvfs(home)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _SHARED_BYTES


def _reason(error: Exception) -> Exception:
    """Why a file could not be opened, which SQLite does not tell: it is tried."""
    if isinstance(error, (apsw.CantOpenError, apsw.IOError)):
        try:
            os.close(os.dup(2))
        except OSError as found:
            return found
    return error


def storage_error(error: Exception, home: str) -> MossError | None:
    """The typed error that a failure of SQLite or of the file system means."""
    text = str(error)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return busy_error(BUSY_TIMEOUT_MS / 1000)
    if (
        isinstance(error, apsw.FullError)
        or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT))
        or (isinstance(error, apsw.IOError) and has_no_room(home))
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
