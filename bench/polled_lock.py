"""A write lock that each process polls, as a baseline for the lock of a store."""

from __future__ import annotations

import fcntl
import os
import time
from typing import Any


class PolledLock:
    """An `flock` that is polled; it has the methods of the write lock and is used by one thread."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "moss.lock")
        os.makedirs(home, mode=0o700, exist_ok=True)
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def new_hold(self, before_release: Any = None) -> PolledLock:
        return self

    def __enter__(self) -> PolledLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self, timeout_s: float, call: Any = None) -> None:
        """Poll after 0.5 ms, later after up to 5 ms."""
        pause_s = 0.0005
        while not self._try_lock():
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.005)

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return os.path.samestat(os.fstat(self._fd), os.stat(self._path))

    def release(self) -> None:
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def pause(self, timeout_s: float) -> bool:
        return True

    def close(self) -> None:
        os.close(self._fd)
        self._fd = -1
