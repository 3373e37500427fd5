"""The sessions of clients that shook hands: which there are, what runs in them, and when they end."""

from __future__ import annotations

import secrets
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.mcp.protocol import ToolCall
    from moss_memory.mcp.subscriptions import Subscription

    from .sse import Stream

MOST = 64
IDLE_S = 24 * 3600


class Session:
    """One client: the version it speaks, its calls under way by its own ids, and its stream if it listens."""

    def __init__(self, version: str, seen_s: float) -> None:
        self.id = secrets.token_hex(16)
        self.version = version
        self.seen_s = seen_s
        self.stream: Stream | None = None
        self.watch: Subscription | None = None
        self._running: dict[object, list[ToolCall]] = {}

    def begin(self, call: ToolCall) -> None:
        """Notes a call that begins, so that it can be cancelled by its id."""
        self._running.setdefault(call.key, []).append(call)

    def finish(self, call: ToolCall) -> None:
        """Forgets a call that is over."""
        calls = self._running[call.key]
        calls.remove(call)
        if not calls:
            del self._running[call.key]

    def cancel(self, key: object) -> None:
        """Asks the calls of this id to stop."""
        for call in self._running.get(key, ()):
            call.cancelled = True

    def listen(self, stream: Stream) -> None:
        """Gives the session its stream; one that it had before ends."""
        if self.stream is not None:
            self.stream.close()
        self.stream = stream

    def end(self) -> None:
        """Cancels what runs and ends the stream."""
        for key in list(self._running):
            self.cancel(key)
        if self.stream is not None:
            self.stream.close()


class Sessions:
    """At most 64; one more ends the one that idled longest. One that idles for a day ends too."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._found: dict[str, Session] = {}

    def open(self, version: str) -> Session:
        """A new session."""
        self._forget_idle()
        if len(self._found) >= MOST:
            self.end(min(self._found.values(), key=lambda session: session.seen_s))
        made = Session(version, self._clock_s())
        self._found[made.id] = made
        return made

    def find(self, id: str) -> Session | None:
        """The session of that id, which counts as seen; none when it has ended."""
        found = self._found.get(id)
        if found is None:
            return None
        now = self._clock_s()
        if found.seen_s + IDLE_S < now:
            self.end(found)
            return None
        found.seen_s = now
        return found

    def end(self, session: Session) -> None:
        """Ends a session; its id is unknown from then on."""
        self._found.pop(session.id, None)
        session.end()

    def all(self) -> list[Session]:
        """Those there are now."""
        return list(self._found.values())

    def _forget_idle(self) -> None:
        now = self._clock_s()
        for session in [one for one in self._found.values() if one.seen_s + IDLE_S < now]:
            self.end(session)
