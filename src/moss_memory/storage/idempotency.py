"""Calls that are sent again: one that has a key is carried out once, and then answered as before.

Callers give keys to calls that they may send again; an engine that may have to repeat a call itself, because it does
not know how a commit ended, gives one to every call.

The answer is kept for a day, in the transaction that carries the call out. It may show what was stored: when anything
is purged or erased, the engine empties every kept answer, whatever it was about. The key stays, so that the call is
still not carried out again.
"""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.budget import ARGUMENTS
from moss_memory.registry.decode import check_json, check_text
from moss_memory.rows.names import normalize_workspace

from .queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .engine import Transaction

sql = load_queries(__file__)

KEPT_MS = 86_400_000
"""For how long an answer is kept."""
KEY_MAX_CHARS = 256
_EXPIRED_AT_ONCE = 100
"""How many answers for which nobody may ask any more a call removes at the most."""

_spelled = json.JSONEncoder(separators=(",", ":")).encode
"""In ASCII, for an answer may tell of a file whose name is no text."""
_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


class IdempotentCall:
    """One call by its key; keys are told apart by workspace and tool.

    Of a caller's key only a hash is kept: its text may name what is erased later. Keys that were kept before as they
    are still count, for the day that they are kept. A key that `is_new` was made for this call, so nobody has used it
    when the call is carried out for the first time.
    """

    __slots__ = ("_answer", "_arguments", "_is_new", "_is_own", "_place", "_plain")

    def __init__(self, key: str, tool: str, values: dict[str, Any], sent: dict[str, Any], *, is_new: bool) -> None:
        workspace = values.get("workspace")
        self._place = {
            "workspace": "" if workspace is None else normalize_workspace(workspace),
            "tool": tool,
            "key": key if is_new else _hashed(key),
        }
        self._plain = key
        self._is_new = self._is_own = is_new
        self._arguments = _digest(values, sent)
        self._answer = ""

    def begin(self, tx: Transaction) -> dict[str, Any] | None:
        """What the call was answered when it was carried out; none where it is to be carried out now.

        Whoever sends the same call meanwhile waits here until this one is over.
        """
        if self._is_new:
            self._is_new = False
            return None
        before = tx.now_ms - KEPT_MS
        named = {**self._place, "plain": self._plain}
        if tx.run(sql["claim"], {**named, "arguments": self._arguments, "now_ms": tx.now_ms, "before": before}):
            return None
        row = tx.row(sql["remembered"], named)
        assert row is not None, "a key that cannot be claimed is there"
        return self._told_again(*row)

    def _told_again(self, arguments: str | None, answer: str | None) -> dict[str, Any] | None:
        if arguments is None:
            raise _conflict(
                "a call with this `idempotency_key` was carried out, and its answer was taken out since because "
                "something was purged; nothing was done. Look at what is there"
            )
        if arguments != self._arguments:
            raise _conflict(
                "another call of this tool had this `idempotency_key`; nothing was done. Give every call a key of its "
                "own, and send it again only with the same arguments"
            )
        if answer is None:
            return None  # it went by slices, and was ended before the last
        self._answer = answer
        found: dict[str, Any] = json.loads(answer)
        return found

    def remember(self, tx: Transaction, answer: dict[str, Any]) -> None:
        """Keeps the answer, in the transaction of the call."""
        self._answer = _spelled(answer)
        kept = {**self._place, "arguments": self._arguments, "answer": self._answer, "now_ms": tx.now_ms}
        tx.queue(sql["remember"], kept)
        if not self._is_own or self._place["key"].startswith("0"):  # of keys that engines make, one in sixteen
            tx.queue(sql["forget_expired"], {"before": tx.now_ms - KEPT_MS, "most": _EXPIRED_AT_ONCE})

    def correct(self, tx: Transaction, answer: dict[str, Any]) -> None:
        """Keeps another answer in the place of the one that was kept, unless that was emptied meanwhile."""
        tx.run(sql["correct"], {**self._place, "answer": _spelled(answer)})

    def is_outdated(self, answer: dict[str, Any]) -> bool:
        """Whether the answer has changed since it was kept: after the commit it is known whether bytes are gone."""
        return _spelled(answer) != self._answer


def checked_key(key: Any) -> str:
    """A key as callers may choose it; everything else is refused."""
    if not isinstance(key, str) or not key.strip() or len(key) > KEY_MAX_CHARS:
        raise invalid_request(
            f"`idempotency_key` must be a string of 1 to {KEY_MAX_CHARS} characters", path="idempotency_key"
        )
    check_text(key, "idempotency_key")
    return key


def _hashed(key: str) -> str:
    import hashlib  # most calls have no key

    return hashlib.sha256(key.encode()).hexdigest()


def _digest(values: dict[str, Any], sent: dict[str, Any]) -> str:
    """What two calls have in common only if their arguments mean the same."""
    import hashlib  # most calls have no key

    meant = {name: value for name, value in values.items() if name != "budget"}
    check_json(meant, "arguments")
    meant |= {name: sent[name] for name in ARGUMENTS if sent.get(name) is not None}
    return hashlib.sha256(_sorted(meant).encode()).hexdigest()


def _conflict(message: str) -> MossError:
    return MossError("CONFLICT", message, details={"path": "idempotency_key"})
