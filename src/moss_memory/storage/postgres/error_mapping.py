"""Translate errors of PostgreSQL to errors of Moss. No message contains a password."""

from __future__ import annotations

import errno

import psycopg
from psycopg import errors

from moss_memory.errors import MossError, descriptor_limit_error

_FULL = ("53100", "53000")  # disk_full, insufficient_resources
_TOO_MANY = ("53300",)
_TOO_MANY_TEXTS = ("too many clients", "too many connections", "remaining connection slots")
_REFUSED_TEXTS = ("password", "authentication", "certificate", "SSL", "does not exist", "not permitted")
_INVALID_OPTION_TEXTS = ("connection is bad: invalid", "bad value for")
"""Messages about an option with an invalid value, before any connection was tried."""
_LOST_TEXTS = ("SYSCALL", "closed", "eof")
"""Messages about a lost connection, which may mention SSL too."""
_RETRYABLE = ("40001", "40P01", "55P03")  # serialization_failure, deadlock_detected, lock_not_available
_STOPPED = ("57P01", "57P02", "57P03", "57P05")  # the server is stopped, crashed or not yet up
_REFUSED = ("28000", "28P01", "3D000", "42501", "3F000")
_READ_ONLY = ("25006",)
_READ_ONLY_TEXT = "session is read-only"
"""The message of the driver if no server that it reached takes writes."""


class UnconfirmedCommit(MossError):  # noqa: N818 - the outcome is unknown, so it may be no error
    """A commit with unknown outcome."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "STORAGE_UNKNOWN",
            f"it is not known if the last write succeeded ({reason}); read before you try again",
        )


def busy_error(timeout_s: float) -> MossError:
    return MossError(
        "STORAGE_BUSY",
        f"other writers kept the store busy for {timeout_s:g} s; nothing was written, try again",
        details={"retryable": True},
    )


def is_lost(error: BaseException) -> bool:
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate in _STOPPED or error.sqlstate.startswith("08")


def is_refused(error: psycopg.Error) -> bool:
    """Return True if a server was reached and refused the connection, so that a retry is useless."""
    message = str(error)
    lost = any(text in message for text in _LOST_TEXTS)
    return not lost and any(text in message for text in _REFUSED_TEXTS)


def is_retryable(error: BaseException) -> bool:
    """Return True if the transaction conflicted with others and may succeed if it is run again."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _RETRYABLE


def public_error(error: Exception, url: str) -> MossError | None:
    """Translate an error, None if it has no translation; only a note, sent to no client, names host and role."""
    mapped = storage_error(error, "the database", detailed=False)
    if mapped is not None and isinstance(error, psycopg.Error):
        full = storage_error(error, url)
        if full is not None and full.message != mapped.message:
            mapped.add_note(full.message)
    return mapped


def storage_error(error: Exception, url: str, *, detailed: bool = True) -> MossError | None:
    """Translate an error, None if it has no translation; `url` is the URL without its password.

    Unless it is `detailed`, the message repeats no text of the server or the driver.
    """
    short = descriptor_limit_error(error)
    if short is not None:
        return short
    if isinstance(error, OSError):
        return _file_error(error)
    if not isinstance(error, psycopg.Error):
        return None
    return _server_error(error, url, _message(error) if detailed else _public_reason(error))


def _file_error(error: OSError) -> MossError:
    """Translate the error of a local file, which an export writes or an import reads."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MossError("STORAGE_FULL", "no space is left on the disk of this machine; free some and try again")
    return MossError("STORAGE_READONLY", f"a file of this machine could not be read or written ({error})")


def _server_error(error: psycopg.Error, url: str, reason: str) -> MossError | None:
    state = error.sqlstate or ""
    if state in _FULL:
        return MossError("STORAGE_FULL", f"the server of {url} has no space left; free some there and try again")
    if state in _TOO_MANY or any(text in str(error) for text in _TOO_MANY_TEXTS):
        return _busy(f"the server of {url} has no connection left; nothing was done, try again")
    if state in _RETRYABLE:
        return _busy("the call conflicted with other writers; nothing was written, try again")
    if state in _REFUSED or state in _READ_ONLY:
        if state in _READ_ONLY:
            reason = "takes no writes: it is a standby, or set to be read only"
        return MossError("STORAGE_READONLY", f"the server of {url}: {reason}")
    if isinstance(error, errors.QueryCanceled):
        return _busy(f"the server of {url} cancelled a slow statement ({reason}); nothing was written")
    if any(text in str(error) for text in _INVALID_OPTION_TEXTS):
        return MossError("INVALID_REQUEST", f"{url} is no URL that can be opened: {reason}")
    if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
        return MossError("STORAGE_CORRUPT", f"the database of {url} is damaged ({reason})")
    if isinstance(error, (errors.CharacterNotInRepertoire, errors.UntranslatableCharacter)):
        return MossError("INVALID_REQUEST", "a text has a character that PostgreSQL cannot store; remove it")
    return _connection_error(error, url, reason) if is_lost(error) else None


def _connection_error(error: psycopg.Error, url: str, reason: str) -> MossError:
    if is_refused(error):
        todo = "; the password goes into the file that PGPASSFILE names" if "password" in str(error) else ""
        return MossError("STORAGE_READONLY", f"{url} could not be opened: {reason}{todo}")
    return _busy(f"{url} cannot be reached ({reason}); nothing was written, try again")


def _busy(message: str) -> MossError:
    return MossError("STORAGE_BUSY", message, details={"retryable": True})


def _public_reason(error: psycopg.Error) -> str:
    """Return the reason without the text of the server or the driver, which names hosts and roles."""
    if _READ_ONLY_TEXT in str(error):
        return "the server is read-only, as a standby is"
    return "the log of the server says why"


def _message(error: psycopg.Error) -> str:
    """Return the message of the server or the driver, without hints, the statement and its parameters."""
    message = error.diag.message_primary or str(error)
    return "; ".join([line.strip() for line in message.splitlines() if line.strip() and line[0] != "\t"])[:500]
