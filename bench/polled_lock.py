"""A write lock that everybody polls, to compare with: luck decides who is next."""

from __future__ import annotations

import fcntl
import os
import time
from typing import Any


class PolledLock:
    """An `flock` that is asked for again and again; it is here to be compared with, and nobody else's."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "moss.lock")
        os.makedirs(home, mode=0o700, exist_ok=True)
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def hold(self, before_release: Any = None) -> PolledLock:
        """This lock itself: only one thread uses it."""
        return self

    def __enter__(self) -> PolledLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self, timeout_s: float, call: Any = None) -> None:
        """Asks every half millisecond, later every five."""
        pause_s = 0.0005
        while not self._take():
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.005)

    def _take(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return os.path.samestat(os.fstat(self._fd), os.stat(self._path))

    def release(self) -> None:
        """Lets whoever asks first have it."""
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def pause(self, timeout_s: float) -> bool:
        """Nothing else in this process writes."""
        return True

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._fd)
        self._fd = -1
