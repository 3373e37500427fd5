"""Limits on the calls of one token: in a minute, and at once. Each server counts its own."""

from __future__ import annotations

import math
import time
from collections import deque

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW_S = 60.0
_BUSY_S = 1


class CallLimits:
    """The times of the calls of the last minute and the number of running calls, by token."""

    def __init__(self, per_minute: int, at_once: int, *, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock_s = clock_s
        self._times: dict[str, deque[float]] = {}
        self._running: dict[str, int] = {}

    def enter(self, token: str) -> MossError | None:
        """Count a call; return the refusal of a call that is too many, which is not counted."""
        now = self._clock_s()
        times = self._times.setdefault(token, deque())
        while times and times[0] <= now - WINDOW_S:
            times.popleft()
        if len(times) >= self._per_minute:
            wait_s = max(1, math.ceil(times[0] + WINDOW_S - now))
            return _refusal(f"this token has made {self._per_minute} calls within a minute", wait_s)
        if self._running.get(token, 0) >= self._at_once:
            return _refusal(f"{self._at_once} calls of this token are running", _BUSY_S)
        times.append(now)
        self._running[token] = self._running.get(token, 0) + 1
        return None

    def leave(self, token: str) -> None:
        """Count a call that has ended."""
        left = self._running.get(token, 0) - 1
        if left > 0:
            self._running[token] = left
        else:
            self._running.pop(token, None)


def retry_after_s(error: MossError) -> int:
    """Return after how many seconds a refused call may be sent again."""
    return int((error.details or {}).get("retry_after_s", _BUSY_S))


def _refusal(why: str, wait_s: int) -> MossError:
    return MossError(
        "RATE_LIMITED",
        f"{why}, which is the limit; nothing was done. Send the call again after {wait_s} s",
        details={"retry_after_s": wait_s},
    )
