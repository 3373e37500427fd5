"""Idempotent calls: a call with a key is executed once; if it is sent again, its stored answer is returned.

Callers give keys to calls that they may send again; an engine that may have to repeat a call itself, because the result
of a commit can be lost, generates one for every call.

The answer is stored for a day, in the transaction of the call. It may contain stored text: if anything is purged or
erased, the engine empties every stored answer. The key stays, so that the call is still not executed again.
"""

from __future__ import annotations

import json
import os

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.budget import ARGUMENTS
from moss_memory.registry.decode import check_json, check_unicode
from moss_memory.rows.names import normalize_workspace

from .queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .engine import Transaction

sql = load_queries(__file__)

KEPT_MS = 86_400_000
"""Time that an answer is stored."""
KEY_MAX_CHARS = 256
_MAX_EXPIRED = 100
"""The maximum number of expired answers that one call removes."""

_encode = json.JSONEncoder(separators=(",", ":")).encode
"""ASCII, because an answer may contain a file name that is not valid Unicode."""
_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


class IdempotentCall:
    """One call by its key; keys are distinct by workspace and tool.

    Only a hash of a caller's key is stored: its text may contain something that is erased later. Keys of older
    versions, stored unhashed, are valid until they expire. A generated key need not be claimed by the first attempt.
    """

    __slots__ = ("_answer", "_arguments", "_attempts", "_is_generated", "_key_columns", "_plain")

    def __init__(
        self, key: str, tool: str, values: dict[str, Any], sent: dict[str, Any], *, is_generated: bool
    ) -> None:
        workspace = values.get("workspace")
        self._key_columns = {
            "workspace": "" if workspace is None else normalize_workspace(workspace),
            "tool": tool,
            "key": key if is_generated else _hash_key(key),
        }
        self._plain = key
        self._is_generated = is_generated
        self._attempts = 0
        """The number of attempts to execute the call, also of those whose commit was lost."""
        self._arguments = _digest(values, sent)
        self._answer = ""

    def claim_or_stored_answer(self, tx: Transaction) -> dict[str, Any] | None:
        """Claim the key for one more attempt, or return the stored answer of an earlier one.

        Return None if the call is to be executed now. A concurrent call with the same key waits here for this one.
        """
        self._attempts += 1
        if self._is_generated and self._attempts == 1:
            return None
        tx.begin()
        before = tx.now_ms - KEPT_MS
        key_values = {**self._key_columns, "plain": self._plain}
        if tx.run(sql["claim"], {**key_values, "arguments": self._arguments, "now_ms": tx.now_ms, "before": before}):
            return None
        row = tx.row(sql["stored_answer"], key_values)
        assert row is not None, "a key that was not claimed is already stored"
        return self._stored_answer(*row)

    def _stored_answer(self, arguments: str | None, answer: str | None) -> dict[str, Any] | None:
        if arguments is None:
            raise _conflict(
                "a call with this `idempotency_key` was executed, but its stored answer was erased when something "
                "was purged; nothing was done. Fetch the row to see the result"
            )
        if arguments != self._arguments:
            raise _conflict(
                "another call of this tool had this `idempotency_key`; nothing was done. Use another key for each "
                "call, and send a call again only with the same arguments"
            )
        if answer is None:
            return None  # it ran in slices and was stopped before the last
        self._answer = answer
        stored: dict[str, Any] = json.loads(answer)
        return stored

    def store_answer(self, tx: Transaction, answer: dict[str, Any]) -> None:
        """Store the answer, in the transaction of the call."""
        self._answer = _encode(answer)
        row = {**self._key_columns, "arguments": self._arguments, "answer": self._answer, "now_ms": tx.now_ms}
        tx.queue(sql["store_answer"], row)
        if not self._is_generated or self._key_columns["key"].startswith("0"):  # one in sixteen generated keys
            tx.queue(sql["delete_expired_answers"], {"before": tx.now_ms - KEPT_MS, "most": _MAX_EXPIRED})

    def replace_answer(self, tx: Transaction, answer: dict[str, Any]) -> None:
        """Replace the stored answer, unless it was emptied meanwhile."""
        tx.run(sql["replace_answer"], {**self._key_columns, "answer": _encode(answer)})

    def is_outdated(self, answer: dict[str, Any]) -> bool:
        """Return True if the answer changed after the commit, as that of an erasure does if it ends only then."""
        return _encode(answer) != self._answer


def new_key() -> str:
    return os.urandom(16).hex()


def check_key(key: Any) -> str:
    """Return a caller's key; refuse an invalid one."""
    if not isinstance(key, str) or not key.strip() or len(key) > KEY_MAX_CHARS:
        raise invalid_request(
            f"`idempotency_key` must be a string of 1 to {KEY_MAX_CHARS} characters", path="idempotency_key"
        )
    check_unicode(key, "idempotency_key")
    return key


def _hash_key(key: str) -> str:
    import hashlib  # imported late: most calls have no key

    return hashlib.sha256(key.encode()).hexdigest()


def _digest(values: dict[str, Any], sent: dict[str, Any]) -> str:
    """Return a digest that is equal only for calls with equivalent arguments."""
    import hashlib  # imported late: most calls have no key

    meant = {name: value for name, value in values.items() if name != "budget"}
    check_json(meant, "arguments")
    meant |= {name: sent[name] for name in ARGUMENTS if sent.get(name) is not None}
    return hashlib.sha256(_sorted(meant).encode()).hexdigest()


def _conflict(message: str) -> MossError:
    return MossError("CONFLICT", message, details={"path": "idempotency_key"})
