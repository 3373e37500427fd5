"""Sessions of the handshake era: running calls, stream, expiry."""

from __future__ import annotations

import secrets
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.mcp.protocol import ToolCall
    from moss_memory.mcp.subscriptions import Subscription

    from .sse import Stream

MAX_SESSIONS = 64
IDLE_S = 24 * 3600


class Session:
    """A client's name and protocol version, running calls by id, and event stream."""

    def __init__(self, version: str, client: str, seen_s: float) -> None:
        self.id = secrets.token_hex(16)
        self.version = version
        self.client = client
        """The client's name from the handshake."""
        self.seen_s = seen_s
        self.stream: Stream | None = None
        self.subscription: Subscription | None = None
        self._running: dict[object, list[ToolCall]] = {}

    def begin(self, call: ToolCall) -> None:
        """Register a running call, so that it can be cancelled by its id."""
        self._running.setdefault(call.key, []).append(call)

    def finish(self, call: ToolCall) -> None:
        """Remove a finished call."""
        calls = self._running[call.key]
        calls.remove(call)
        if not calls:
            del self._running[call.key]

    def cancel(self, key: object) -> None:
        """Cancel the calls with this id."""
        for call in self._running.get(key, ()):
            call.cancelled = True

    def listen(self, stream: Stream) -> None:
        """Set the session's stream and close the previous one."""
        if self.stream is not None:
            self.stream.close()
        self.stream = stream

    def end(self) -> None:
        """Cancel running calls and close the stream."""
        for key in list(self._running):
            self.cancel(key)
        if self.stream is not None:
            self.stream.close()


class Sessions:
    """At most 64; one more ends the one that idled longest. One that idles for a day ends too."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._sessions: dict[str, Session] = {}

    def open(self, version: str, client: str = "") -> Session:
        """Return a new session."""
        self._end_idle()
        if len(self._sessions) >= MAX_SESSIONS:
            self.end(min(self._sessions.values(), key=lambda session: session.seen_s))
        session = Session(version, client, self._clock_s())
        self._sessions[session.id] = session
        return session

    def find(self, id: str) -> Session | None:
        """Return the session with this id and renew it; None if it has ended."""
        session = self._sessions.get(id)
        if session is None:
            return None
        now = self._clock_s()
        if session.seen_s + IDLE_S < now:
            self.end(session)
            return None
        session.seen_s = now
        return session

    def end(self, session: Session) -> None:
        """End a session and forget its id."""
        self._sessions.pop(session.id, None)
        session.end()

    def all(self) -> list[Session]:
        """Return all open sessions."""
        return list(self._sessions.values())

    def _end_idle(self) -> None:
        now = self._clock_s()
        for session in [one for one in self._sessions.values() if one.seen_s + IDLE_S < now]:
            self.end(session)
