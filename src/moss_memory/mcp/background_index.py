"""Background indexing of stored text for vector search while the server is idle, and slowly while it is not.

It starts with the first vector search, because only then is the model in memory: a server without such searches stays
small. It runs in steps of a few texts. While calls arrive, it runs one step each second, because a server with many
clients is never idle.
"""

from __future__ import annotations

import time

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Condition
    from typing import Any

    from moss_memory.store import Store

IDLE_S = 0.5
"""Seconds without a call before a step starts."""

BUSY_S = 1.0
"""Seconds after which a step starts although calls arrive."""

STEP = 4
RETRY_S = 5.0


class BackgroundIndexer:
    """The background thread of one server, which works while it is idle."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._changed: Condition | None = None
        self._stopping = False
        self._working = False
        self._is_scheduled = False
        self._last_call_s = 0.0
        self._due_s = 0.0
        self.is_running = False

    def begin(self, found: dict[str, Any]) -> None:
        """Start the thread after a vector search, unless it runs already or the model is missing."""
        if self._changed is None and not self._stopping and "degraded" not in found:
            import threading

            self._changed = threading.Condition()
            self.is_running = True
            threading.Thread(target=self._work, args=(self._changed,), name="moss-index", daemon=True).start()
        self.note_call()

    def note_call(self) -> None:
        """Restart the idle timer and schedule a step after it."""
        if self._changed is None:
            return
        self._last_call_s = time.monotonic()
        if not self._is_scheduled:
            with self._changed:
                self._due_s = self._last_call_s + BUSY_S
                self._is_scheduled = True
                self._changed.notify_all()

    def stop(self, within_s: float) -> bool:
        """Stop the thread; return False if it is still running after `within_s`."""
        self._stopping = True
        if self._changed is None:
            return True
        with self._changed:
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._working, within_s)

    def _work(self, changed: Condition) -> None:
        pause_s = 0.0
        while True:
            with changed:
                self._working = False
                changed.notify_all()
                changed.wait_for(lambda: self._stopping or self._is_scheduled)
                changed.wait_for(lambda: self._stopping, max(pause_s, self._wait_s()))
                if self._stopping:
                    return
                if self._wait_s() > 0:
                    continue
                self._working = True
                self._is_scheduled = False
            pause_s = self._step()
            self._due_s = time.monotonic() + BUSY_S

    def _wait_s(self) -> float:
        """Return the seconds until the next step: until the server is idle, or until the step is due."""
        return max(0.0, min(self._last_call_s + IDLE_S, self._due_s) - time.monotonic())

    def _step(self) -> float:
        """Index a few texts and return the seconds to pause before the next step."""
        try:
            answer = self._store().index(most=STEP, wait=False, cancelled=lambda: self._stopping or self._wait_s() > 0)
            self._is_scheduled = self._is_scheduled or answer["pending"] > 0
        except MossError as error:
            if error.code == "SEMANTIC_UNAVAILABLE":
                return 0.0  # there is never anything to index
            self._is_scheduled = True
            return 0.0 if error.code == "CANCELLED" else RETRY_S
        return 0.0
