"""The part of sessions that the store keeps: the key that signs their ids, when they were seen, if they have ended.

A store that is missing, read-only or cannot be reached is no reason to refuse a client: the key is then made from the
client's token, which every server of the store can read, and the rest is in the memory of this process only.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets

from moss_memory.errors import MossError
from moss_memory.storage import server_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.store import Store

_TIMEOUT_S = 2.0


class SessionJournal:
    """Reads and writes these rows; every method runs on a thread of the pool."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._store_key: bytes | None = None
        self.problem: MossError | None = None
        """The error that prevents reading the key of the store, if any."""

    def keys(self, token: str) -> tuple[bytes, ...]:
        """Return the accepted keys for the session of a token, given its hash; the first one signs.

        A client could make the key of its own token, but it opens only sessions that the token may open.
        """
        if self._store_key is None:
            self._store_key = self._load_key()
        token_key = hmac.digest(bytes.fromhex(token), b"moss session ids", "sha256")
        return (token_key,) if self._store_key is None else (self._store_key, token_key)

    def read(self, id: str) -> tuple[int, bool] | None:
        """Return when a session was last seen and if it has ended; None if that is not known."""
        with contextlib.suppress(MossError):
            key = _hash(id)
            store = self._store()
            return store.read(
                server_tables.read_session, what="session", snapshot=False, timeout_s=_TIMEOUT_S, session=key
            )
        return None

    def note(self, id: str, seen_s: float, *, ended: bool = False) -> None:
        with contextlib.suppress(MossError):
            store = self._store()
            if store.exists():
                parameters = {"session": _hash(id), "seen_at": int(seen_s), "ended": ended}
                store.write(
                    server_tables.note_session, what="session", repeatable=True, timeout_s=_TIMEOUT_S, **parameters
                )

    def _load_key(self) -> bytes | None:
        self.problem = None
        key: str | None = None
        try:
            store = self._store()
            key = store.read(server_tables.read_session_key, what="session", snapshot=False, timeout_s=_TIMEOUT_S)
        except MossError as error:
            self.problem = error
            return None
        with contextlib.suppress(MossError):
            if key is None and store.exists():
                fresh = secrets.token_hex(32)
                key = store.write(
                    server_tables.make_session_key, what="session", repeatable=True, timeout_s=_TIMEOUT_S, key=fresh
                )
        return None if key is None else key.encode()


def _hash(id: str) -> str:
    return server_tables.hash_of(id.encode())[:32]
