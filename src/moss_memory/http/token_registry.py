"""The tokens that a server accepts: the one of its home, the named ones in the store, and JWTs if OAuth is on.

The named ones are read again when they are older than a second, so that a revoked token is refused soon after on every
server of the store. A server that gets only the token of the home never reads them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import time
from dataclasses import dataclass

from moss_memory.errors import MossError
from moss_memory.storage import server_tables

from .thread_pools import POOL, in_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.store import Store

    from .oauth import OAuth

CHECK_S = 1.0
"""The age at which the known tokens are read again for a request; open streams check them twice as often."""
_LOAD_EVERY_S = 0.05
"""The shortest time between two reads of the tokens: any client can send unknown ones."""
_NOTE_TIMEOUT_S = 2.0
_MAX_PEOPLE = 4_096


@dataclass(slots=True)
class Access:
    """The access of an accepted token."""

    name: str
    key: str
    """The hash of the token."""
    read_only: bool = False
    expires_at: int | None = None
    used_at: int | None = None


class TokenRegistry:
    """The accepted tokens, and the end of everything that a revoked one has opened."""

    def __init__(
        self,
        store: Callable[[], Store],
        owner_token: str,
        oauth: OAuth | None = None,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._oauth = oauth
        self._people: dict[str, Access] = {}
        """The accesses of valid JWTs, one for each person, that of the last request last."""
        self._clock_s = clock_s
        self.owner = Access(server_tables.OWNER, server_tables.hash_of(owner_token.encode()))
        self._accesses: dict[str, Access] = {}
        self._loaded_s = float("-inf")
        self._store_time_s = 0.0
        self._loading: asyncio.Task[MossError | None] | None = None
        self._noted_hours: dict[str, int] = {}
        self._watching: asyncio.Task[None] | None = None
        self.holders: Callable[[], set[str]] = set
        """Returns the tokens with open sessions, streams or calls."""
        self.on_revoke: Callable[[str], None] = lambda key: None
        """Ends all of them for one token."""

    async def find(self, presented: bytes) -> Access | None:
        """Return the access of a token, None if it is wrong, revoked or expired.

        Raise `MossError` if an unknown token cannot be looked up, and `InsufficientScopeError` as `OAuth.find` does.
        """
        key = server_tables.hash_of(presented)
        if hmac.compare_digest(key, self.owner.key):
            return self.owner
        if not presented.startswith(server_tables.TOKEN_PREFIX.encode()):
            return None if self._oauth is None else await self._find_person(self._oauth, presented)
        problem = await self._refresh(CHECK_S)
        if key not in self._accesses and problem is None:
            problem = await self._load_after_now()  # it may have been made just now
        access = self._valid(key)
        if access is None and problem is not None and key not in self._accesses:
            raise problem
        if access is not None:
            self._note_use(access)
            self._start_watch()
        return access

    async def _find_person(self, oauth: OAuth, presented: bytes) -> Access | None:
        access = await oauth.find(presented.decode("ascii", "replace"))
        if access is not None:
            self._people.pop(access.key, None)
            self._people[access.key] = access
            if len(self._people) > _MAX_PEOPLE:
                del self._people[next(iter(self._people))]
            self._start_watch()
        return access

    async def current(self, key: str) -> Access | None:
        """Return the access of a named token that was accepted before; None if it no longer is."""
        await self._refresh(CHECK_S)
        access = self._valid(key)
        if access is not None:
            self._start_watch()
        return access

    def _start_watch(self) -> None:
        if self._watching is None or self._watching.done():
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    def _valid(self, key: str) -> Access | None:
        if self._oauth is not None and key in self._people:
            person = self._people[key]
            return person if self._oauth.is_current(person) else None
        access = self._accesses.get(key)
        if access is None or (access.expires_at is not None and access.expires_at <= self._now_s()):
            return None
        return access

    def _now_s(self) -> float:
        """Return the present time by the clock of the store."""
        return self._store_time_s + self._clock_s() - self._loaded_s

    async def _refresh(self, max_age_s: float) -> MossError | None:
        """Read the tokens again if they are older than `max_age_s`; return the error if that fails."""
        if self._clock_s() - self._loaded_s < max_age_s:
            return None
        if self._loading is None or self._loading.done():
            self._loading = asyncio.get_running_loop().create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load_after_now(self) -> MossError | None:
        """Read the tokens by a read that begins now or later; return the error if that fails."""
        asked_s = self._clock_s()
        while self._loaded_s < asked_s:
            await asyncio.sleep(max(0.0, self._loaded_s + _LOAD_EVERY_S - self._clock_s()))
            problem = await self._refresh(0.0 if self._loaded_s < asked_s else CHECK_S)
            if problem is not None:
                return problem
        return None

    async def _load(self) -> MossError | None:
        began_s = self._clock_s()
        try:
            now, rows = await in_thread(
                lambda: self._store().read(server_tables.load_tokens, what="token", snapshot=False)
            )
        except MossError as error:
            return error  # a known token stays accepted: its calls need the same store
        self._accesses = {
            key: Access(name, key, read_only=bool(read_only), expires_at=expires_at, used_at=used_at)
            for key, name, read_only, expires_at, used_at in rows
        }
        self._loaded_s, self._store_time_s = began_s, float(now)
        return None

    def _note_use(self, access: Access) -> None:
        """Store the hour of a use, once an hour."""
        hour = int(self._now_s()) // server_tables.HOUR_S * server_tables.HOUR_S
        if (access.used_at or 0) >= hour or self._noted_hours.get(access.key) == hour:
            return
        self._noted_hours[access.key] = hour

        def note() -> None:
            with contextlib.suppress(MossError):
                self._store().write(
                    server_tables.note_use,
                    what="token_use",
                    repeatable=True,
                    timeout_s=_NOTE_TIMEOUT_S,
                    sha256=access.key,
                )

        POOL.run(note)

    async def _watch(self) -> None:
        """Close all sessions whose token is no longer accepted; stop when none is open."""
        while True:
            await asyncio.sleep(CHECK_S / 2)
            await self._refresh(CHECK_S / 2)
            tokens = self.holders() - {self.owner.key}
            for key in tokens:
                if self._valid(key) is None:
                    self.on_revoke(key)
            if not tokens:
                return
