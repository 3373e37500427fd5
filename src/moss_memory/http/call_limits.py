"""Limits on the calls of one token: in a minute, and at once. Each server counts its own."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable

from moss_memory.errors import MossError

WINDOW_S = 60.0
_BUSY_S = 1


class CallLimits:
    """The times of the calls of the last minute and the number of running calls, by token."""

    def __init__(self, per_minute: int, at_once: int, *, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock_s = clock_s
        self._times: dict[str, deque[float]] = {}
        self._running: Counter[str] = Counter()

    def enter(self, token: str) -> MossError | None:
        """Count a call; return the refusal of a call that is too many, which is not counted."""
        now = self._clock_s()
        times = self._times.setdefault(token, deque())
        while times and times[0] <= now - WINDOW_S:
            times.popleft()
        if len(times) >= self._per_minute:
            wait_s = max(1, math.ceil(times[0] + WINDOW_S - now))
            return _refusal(f"this token has made {self._per_minute} calls within a minute", wait_s)
        if self._running[token] >= self._at_once:
            return _refusal(f"{self._at_once} calls of this token are running", _BUSY_S)
        times.append(now)
        self._running[token] += 1
        return None

    def leave(self, token: str) -> None:
        self._running[token] -= 1
        if self._running[token] <= 0:
            del self._running[token]


def retry_after_s(error: MossError) -> int:
    return int((error.details or {}).get("retry_after_s", _BUSY_S))


def _refusal(why: str, wait_s: int) -> MossError:
    return MossError(
        "RATE_LIMITED",
        f"{why}, which is the limit; nothing was done. Send the call again after {wait_s} s",
        details={"retry_after_s": wait_s},
    )
