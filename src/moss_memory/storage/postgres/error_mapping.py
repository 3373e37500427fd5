"""What failures of PostgreSQL mean to a caller; translated here and nowhere else. No message holds a password."""

from __future__ import annotations

import errno

import psycopg
from psycopg import errors

from moss_memory.errors import MossError, descriptor_limit_error

_FULL = ("53100", "53000")  # disk_full, insufficient_resources
_TOO_MANY = ("53300",)
_SAID_OF_TOO_MANY = ("too many clients", "too many connections", "remaining connection slots")
_SAID_OF_REFUSAL = ("password", "authentication", "certificate", "SSL", "does not exist", "not permitted")
_SAID_OF_A_MISTAKE = ("connection is bad: invalid", "bad value for")
"""What is said of an option whose value means nothing: no server was asked."""
_SAID_OF_A_CUT = ("SYSCALL", "closed", "eof")
"""What is said, also of SSL, when a connection that was there is gone."""
_AGAIN = ("40001", "40P01", "55P03")  # serialization_failure, deadlock_detected, lock_not_available
_STOPPED = ("57P01", "57P02", "57P03", "57P05")  # the server is stopped, crashed or not yet up
_REFUSED = ("28000", "28P01", "3D000", "42501", "3F000")
_READ_ONLY = ("25006",)


class Unconfirmed(MossError):  # noqa: N818 - it says what is not known
    """A commit of which nobody knows how it ended."""

    def __init__(self, said: str) -> None:
        super().__init__(
            "STORAGE_UNKNOWN",
            f"it is not known whether what was just written is there ({said}); look before you try again",
        )


def busy_error(timeout_s: float) -> MossError:
    """Says that a write had to wait too long for other writers."""
    return MossError(
        "STORAGE_BUSY",
        f"other writers kept the store busy for {timeout_s:g} s; nothing was written, try again",
        details={"retryable": True},
    )


def is_lost(error: BaseException) -> bool:
    """Whether an error says that the connection is gone, or that none could be had."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate in _STOPPED or error.sqlstate.startswith("08")


def is_refused(error: psycopg.Error) -> bool:
    """Whether a server was there and turned the caller away: trying again is of no use."""
    said = str(error)
    was_cut = any(word in said for word in _SAID_OF_A_CUT)
    return not was_cut and any(word in said for word in _SAID_OF_REFUSAL)


def is_passing(error: BaseException) -> bool:
    """Whether the same statements, sent again, may well succeed: others were in the way."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _AGAIN


def storage_error(error: Exception, place: str) -> MossError | None:
    """The typed error that a failure of PostgreSQL means; `place` is the URL without its password."""
    short = descriptor_limit_error(error)
    if short is not None:
        return short
    if isinstance(error, OSError):
        return _of_a_file(error)
    return _meaning_of(error, place) if isinstance(error, psycopg.Error) else None


def _of_a_file(error: OSError) -> MossError:
    """What it means that a file of this machine failed, which an export writes or an import reads."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MossError("STORAGE_FULL", "no space is left on the disk of this machine; free some and try again")
    return MossError("STORAGE_READONLY", f"a file of this machine could not be read or written ({error})")


def _meaning_of(error: psycopg.Error, place: str) -> MossError | None:
    state = error.sqlstate or ""
    if state in _FULL:
        return MossError("STORAGE_FULL", f"the server of {place} has no space left; free some there and try again")
    if state in _TOO_MANY or any(said in str(error) for said in _SAID_OF_TOO_MANY):
        return _busy(f"the server of {place} has no connection left; nothing was done, try again")
    if state in _AGAIN:
        return _busy("other writers were in the way; nothing was written, try again")
    if state in _REFUSED or state in _READ_ONLY:
        told = "takes no writes: it is a standby, or set to be read only" if state in _READ_ONLY else _said(error)
        return MossError("STORAGE_READONLY", f"the server of {place}: {told}")
    if isinstance(error, errors.QueryCanceled):
        return _busy(f"the server of {place} broke off what took too long for it ({_said(error)}); nothing was written")
    if any(said in str(error) for said in _SAID_OF_A_MISTAKE):
        return MossError("INVALID_REQUEST", f"{place} is no URL that can be opened: {_said(error)}")
    if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
        return MossError("STORAGE_CORRUPT", f"the database of {place} is damaged ({_said(error)})")
    if isinstance(error, (errors.CharacterNotInRepertoire, errors.UntranslatableCharacter)):
        return MossError("INVALID_REQUEST", "a text holds what PostgreSQL cannot keep; remove it")
    return _lost(error, place) if is_lost(error) else None


def _lost(error: psycopg.Error, place: str) -> MossError:
    if is_refused(error):
        todo = "; the password goes into the file that PGPASSFILE names" if "password" in str(error) else ""
        return MossError("STORAGE_READONLY", f"{place} could not be opened: {_said(error)}{todo}")
    return _busy(f"{place} cannot be reached ({_said(error)}); nothing was written, try again")


def _busy(message: str) -> MossError:
    return MossError("STORAGE_BUSY", message, details={"retryable": True})


def _said(error: psycopg.Error) -> str:
    """What the server or the driver said of every host, without hints, the statement and what was bound."""
    told = error.diag.message_primary or str(error)
    return "; ".join([line.strip() for line in told.splitlines() if line.strip() and line[0] != "\t"])[:500]
