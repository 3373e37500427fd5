"""Results that take long: computed on a thread of their own, cached until the store changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from moss_memory.errors import MossError
from moss_memory.log import INFO, log

_MAX_CACHED = 50
_REST = 20
"""The pause after a computation, as a multiple of its duration."""


class BackgroundCache:
    """The last result of each computation, and the computations that run."""

    def __init__(self) -> None:
        self._results: dict[str, tuple[int, float, Any]] = {}
        """The number of the store's last change, the time until which later changes are ignored, and the result."""
        self._running: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def get(self, key: str, seq: int, compute: Callable[[], Any], *, wait_s: float = 0.0) -> tuple[Any, bool]:
        """Return the last result, None before the first, and True if it belongs to this number of the last change.

        If it does not, a thread computes it again, one for each key; wait for it at most `wait_s`. A result that took
        long is used for longer, so that a store that changes all the time costs at most a twentieth of a core.
        """
        with self._lock:
            entry = self._results.get(key)
            if entry is not None and (entry[0] == seq or time.monotonic() < entry[1]):
                return entry[2], entry[0] == seq
            done = self._running.get(key)
            if done is None:
                done = self._running[key] = threading.Event()
                threading.Thread(target=self._compute, args=(key, seq, compute, done), daemon=True).start()
        if wait_s:
            done.wait(wait_s)
        with self._lock:
            entry = self._results.get(key)
        return (None, False) if entry is None else (entry[2], entry[0] == seq)

    def _compute(self, key: str, seq: int, compute: Callable[[], Any], done: threading.Event) -> None:
        began_s = time.monotonic()
        try:
            result = compute()
            ended_s = time.monotonic()
            with self._lock:
                if len(self._results) >= _MAX_CACHED:
                    self._results.clear()
                self._results[key] = (seq, ended_s + _REST * (ended_s - began_s), result)
        except MossError as error:
            log(INFO, "%s failed with %s", key, error.code)
        finally:
            with self._lock:
                self._running.pop(key, None)
            done.set()
