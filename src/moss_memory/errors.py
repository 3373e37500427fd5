"""The error type of Moss and the closed list of its codes."""

from __future__ import annotations

import errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

STATUS: dict[str, int] = {
    "AMBIGUOUS_ADDRESSING": 400,
    "INVALID_REQUEST": 400,
    "UNKNOWN_CAPABILITY": 400,
    "VALIDATION_ERROR": 400,
    "READ_ONLY": 403,
    "NOT_FOUND": 404,
    "FILTER_REQUIRED": 400,
    "CHECKPOINTS_NOT_CONFIRMED": 409,
    "CONFLICT": 409,
    "NAME_ALREADY_EXISTS": 409,
    "VERSION_MISMATCH": 409,
    "CAPSULE_TOO_LARGE": 413,
    "COMPOSE_TOO_LARGE": 413,
    "DATA_TOO_LARGE": 413,
    "FILE_TOO_LARGE": 413,
    "TEXT_TOO_LARGE": 413,
    "CAPSULE_TOO_THIN": 422,
    "COMPOSE_MISSING_TEXT": 422,
    "SECRET_FOUND": 422,
    "RATE_LIMITED": 429,
    "CANCELLED": 499,
    "DB_INSERT_FAILED": 500,
    "DB_QUERY_FAILED": 500,
    "INTERNAL": 500,
    "NOT_A_STORE": 500,
    "STORAGE_CORRUPT": 500,
    "STORAGE_READONLY": 500,
    "SEMANTIC_UNAVAILABLE": 501,
    "STORAGE_BUSY": 503,
    "STORAGE_UNKNOWN": 503,
    "STORAGE_FULL": 507,
}


RETRYABLE = frozenset({"RATE_LIMITED", "STORAGE_BUSY", "STORAGE_UNKNOWN"})
"""Codes after which the same call may succeed unchanged; all others need a change first."""


class MossError(Exception):
    """An error with a code from `STATUS`, a message and, if known, the best next call."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: dict[str, Any] | None = None,
        recovery: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = STATUS[code]
        self.details = details
        self.recovery = recovery

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.code, self.message, self.details, self.recovery)

    @property
    def retryable(self) -> bool:
        """Return True if the same call may succeed later; record tools keep the storage error's code in the details."""
        return self.code in RETRYABLE or (self.details or {}).get("storage_code") in RETRYABLE

    def payload(self) -> dict[str, Any]:
        """Return the error as every interface shows it: `{"error": {"code", "message", "status", "retryable", …}}`."""
        error: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "status": self.status,
            "retryable": self.retryable,
        }
        if self.details is not None:
            error["details"] = self.details
        if self.recovery is not None:
            error["recovery"] = self.recovery
        return {"error": error}


def _rebuild(code: str, message: str, details: dict[str, Any] | None, recovery: dict[str, Any] | None) -> MossError:
    return MossError(code, message, details=details, recovery=recovery)


def invalid_request(message: str, **details: Any) -> MossError:
    return MossError("INVALID_REQUEST", message, details=details or None)


def backticked(names: Iterable[str]) -> str:
    """Mark names of arguments in a message, so that each interface can replace them by its own."""
    return ", ".join([f"`{name}`" for name in names])


def closest_match(name: str, known: list[str], *, cutoff: float = 0.0) -> str | None:
    """Return the known name most similar to this one; None if none is similar enough.

    The result is only a hint: names with common parts match too, above a cutoff that each caller chooses. `find_alike`
    is stricter, because a call may be corrected with its result.
    """
    import difflib  # imported late: only a refusal needs it

    return next(iter(difflib.get_close_matches(name[:100], known, n=1, cutoff=cutoff)), None)


def find_alike(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelled most alike; None if more than a third of the letters differ."""
    shown = name[:100]
    distances = [
        (_distance(shown, known_name), known_name)
        for known_name in known
        if abs(len(known_name) - len(shown)) * 3 <= max(len(known_name), len(shown))
    ]
    best = min(distances, key=lambda pair: pair[0], default=None)
    return None if best is None or best[0] * 3 > max(len(best[1]), len(shown)) else best[1]


def find_alike_argument(name: str, known: list[str]) -> str | None:
    """Return the known argument that is spelled alike, or else shares a whole word; None if none does."""
    words = set(words_of_name(name))
    return find_alike(name, known) or next(
        (known_name for known_name in known if words & set(words_of_name(known_name))), None
    )


def words_of_name(name: str) -> list[str]:
    """Return the words of a name in lower case: `addNote`, `add_note` and `add-note` have two."""
    import re

    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name[:100])]


def _distance(name: str, other: str) -> int:
    """Return the edit distance of two names: letters to insert, delete or replace, neighbours to swap."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for index, letter in enumerate(name, 1):
        older, before, row = before, row, [index]
        for column, other_letter in enumerate(other, 1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other_letter))
            if index > 1 and column > 1 and letter == other[column - 2] and name[index - 2] == other_letter:
                cost = min(cost, older[column - 2] + 1)
            row.append(cost)
    return row[-1]


def is_busy(error: Exception) -> bool:
    """Return True if an error means that another writer holds the lock, also in the details of record tools."""
    if not isinstance(error, MossError):
        return False
    return error.code == "STORAGE_BUSY" or (error.details or {}).get("storage_code") == "STORAGE_BUSY"


def descriptor_limit_error(error: BaseException) -> MossError | None:
    """Return `STORAGE_BUSY` if an error comes from too many open files, else None."""
    if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
        return None
    return MossError(
        "STORAGE_BUSY",
        "this process has no descriptor left to open a file with; nothing was changed. Try again when it has closed "
        "some, or raise its limit (`ulimit -n`)",
        details={"retryable": True},
    )


def not_json() -> MossError:
    """Return the error for a value that JSON cannot represent, such as bytes in a text column."""
    return MossError("STORAGE_CORRUPT", "a stored value has the wrong type; `moss doctor` names the row and the column")


def next_call(tool: str, arguments: dict[str, Any], reason: str) -> dict[str, Any]:
    """Return a `recovery`: the best next call after an error."""
    return {"tool": tool, "arguments": arguments, "reason": reason}
