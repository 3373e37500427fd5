"""Sessions of protocol versions with a handshake: running calls, stream, expiry.

A session ends when its client ends it, when its token is revoked, or when it was idle for a day; never to make
room for others. Its id contains all of its state, so a process can forget it without ending it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from moss_memory.mcp.protocol import ToolCall
from moss_memory.mcp.subscriptions import Subscription
from moss_memory.storage.server_tables import HOUR_S, SESSION_IDLE_S

from .session_ids import is_session_id, read_session_id, sign_session_id
from .session_journal import SessionJournal
from .sse import Stream
from .thread_pools import POOL, in_thread

IDLE_S = SESSION_IDLE_S
MAX_IN_MEMORY = 4096
"""Maximum number of sessions without a stream, a subscription or a running call that a process remembers."""
_SWEEP_EVERY_S = 60.0


class Session:
    """A client's name and protocol version, running calls by id, and event stream."""

    def __init__(self, id: str, version: str, client: str, token: str, seen_s: float) -> None:
        self.id = id
        self.version = version
        self.client = client
        """The client's name from the handshake."""
        self.token = token
        """The hash of the token that opened it."""
        self.seen_s = seen_s
        self.noted_s = seen_s
        """When the store last learned that it was seen."""
        self.stream: Stream | None = None
        self.subscription: Subscription | None = None
        self._running: dict[object, list[ToolCall]] = {}

    def begin(self, call: ToolCall) -> None:
        """Register a running call, so that it can be cancelled by its id."""
        self._running.setdefault(call.key, []).append(call)

    def finish(self, call: ToolCall) -> None:
        calls = self._running[call.key]
        calls.remove(call)
        if not calls:
            del self._running[call.key]

    def cancel(self, key: object) -> None:
        for call in self._running.get(key, ()):
            call.cancelled = True

    def set_stream(self, stream: Stream) -> None:
        if self.stream is not None:
            self.stream.close()
        self.stream = stream

    @property
    def is_listening(self) -> bool:
        return self.stream is not None and not self.stream.is_closed

    @property
    def is_in_use(self) -> bool:
        return self.is_listening or bool(self._running)

    def end(self) -> None:
        for key in list(self._running):
            self.cancel(key)
        if self.stream is not None:
            self.stream.close()


class Sessions:
    """The sessions of this process, in the order of their last use."""

    def __init__(self, journal: SessionJournal, clock_s: Callable[[], float] = time.time) -> None:
        self._journal = journal
        self._clock_s = clock_s
        self._sessions: dict[str, Session] = {}
        self._ended: dict[str, float] = {}
        self._next_sweep_s = 0.0

    async def open(self, version: str, client: str, token: str) -> Session:
        """Return a new session; `token` is the hash of the token that opens it."""
        keys = await in_thread(self._journal.keys, token)
        now = self._clock_s()
        session = Session(sign_session_id(keys[0], version, client, token, now), version, client, token, now)
        self._sessions[session.id] = session
        self._sweep(now)
        return session

    async def find(self, id: str, token: str) -> Session | None:
        """Return the session with this id and renew it; None if it has ended or belongs to another token.

        Raise `MossError` if the store does not answer and only it has the key of the id.
        """
        session = self._sessions.get(id)
        if session is None:
            restored_session = await in_thread(self._read, id, token)
            if restored_session is None:
                return None
            session = self._sessions.setdefault(id, restored_session)
            self._sweep(self._clock_s())
        now = self._clock_s()
        if id in self._ended or session.token != token or self._is_idle(session, now):
            return None
        session.seen_s = now
        self._sessions[id] = self._sessions.pop(id)  # the last used one is the last one to be forgotten
        if now - session.noted_s > HOUR_S:
            session.noted_s = now
            POOL.run(lambda: self._journal.note(id, now))
        return session

    def _read(self, id: str, token: str) -> Session | None:
        """Return the session of an id that another process, or an earlier one, has opened; runs on a thread."""
        info = read_session_id(self._journal.keys(token), id)
        if info is None and self._journal.problem is not None and is_session_id(id):
            raise self._journal.problem
        if info is None or not token.startswith(info.token):
            return None
        seen_s, ended = self._journal.read(id) or (info.opened_s, False)
        if ended:
            return None
        session = Session(id, info.version, info.client, token, max(info.opened_s, seen_s))
        if seen_s > info.opened_s:
            session.seen_s += HOUR_S  # it is stored once in an hour
        return session

    async def end(self, session: Session) -> None:
        self._forget(session)
        self._ended[session.id] = now = self._clock_s()
        await in_thread(self._journal.note, session.id, now, ended=True)

    def revoke_token(self, token: str) -> None:
        for session in [candidate for candidate in self._sessions.values() if candidate.token == token]:
            self._forget(session)

    def all(self) -> list[Session]:
        return list(self._sessions.values())

    def _forget(self, session: Session) -> None:
        self._sessions.pop(session.id, None)
        session.end()

    def _is_idle(self, session: Session, now_s: float) -> bool:
        return session.seen_s + IDLE_S < now_s and not session.is_in_use

    def _sweep(self, now_s: float) -> None:
        """Forget idle sessions, and the longest unused ones if there are too many."""
        if now_s >= self._next_sweep_s:
            self._next_sweep_s = now_s + _SWEEP_EVERY_S
            for session in [candidate for candidate in self._sessions.values() if self._is_idle(candidate, now_s)]:
                self._forget(session)
            self._ended = {
                session_id: ended_s
                for session_id, ended_s in self._ended.items()
                if ended_s + IDLE_S + 2 * HOUR_S > now_s
            }
        surplus = len(self._sessions) - MAX_IN_MEMORY
        if surplus > 0:
            unused = (
                candidate
                for candidate in self._sessions.values()
                if not candidate.is_in_use and candidate.subscription is None
            )
            for session in [candidate for candidate, _ in zip(unused, range(surplus), strict=False)]:
                del self._sessions[session.id]
