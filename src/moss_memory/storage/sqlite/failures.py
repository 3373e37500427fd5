"""What failures of SQLite and of the file system mean to a caller; translated here and nowhere else."""

from __future__ import annotations

import errno

import apsw

from ...errors import MossError

BUSY_TIMEOUT_MS = 5000
"""How long SQLite itself waits for a lock that a program outside Moss holds."""


def busy_error(patience_s: float) -> MossError:
    """The refusal of a write that had to wait for others for too long."""
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
    if isinstance(error, apsw.FullError) or (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    ):
        return MossError("STORAGE_FULL", f"no space is left for the store in {home}; free some and try again")
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
