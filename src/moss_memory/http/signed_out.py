"""The browsers that signed out, in a file of the home, so that a copied cookie is refused after a restart too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from moss_memory.storage.files.private_files import write_private

from .browser_cookie import KEPT_S

FILE = "signed-out"
_MAX_BYTES = 1_000_000
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SignedOut:
    """The ids of browsers with the times of their sign-out; an id is deleted when all of its cookies have expired."""

    def __init__(self, path: str, clock_s: Callable[[], float]) -> None:
        self._path = path
        self._clock_s = clock_s
        self._times = self._read() if path else {}

    def __contains__(self, browser: bytes) -> bool:
        return browser in self._times

    def add(self, browser: bytes) -> None:
        """Store that a browser has signed out; if the file cannot be written, only this process refuses its cookie."""
        now_s = int(self._clock_s())
        valid_times = {browser_id: time_s for browser_id, time_s in self._times.items() if now_s - time_s < KEPT_S}
        # Another server of the home may have added some.
        self._times = {**(self._read() if self._path else {}), **valid_times, browser: now_s}
        lines = [f"{browser_id.hex()} {time_s}\n" for browser_id, time_s in self._times.items()]
        if self._path:
            with contextlib.suppress(OSError):
                write_private(self._path, "".join(lines).encode())

    def _read(self) -> dict[bytes, int]:
        try:
            fd = os.open(self._path, _READ_FLAGS)
        except OSError:  # none yet, or not a file of Moss
            return {}
        with os.fdopen(fd, "rb") as file:
            lines = file.read(_MAX_BYTES).decode("ascii", "replace").splitlines()
        times = {}
        for line in lines:
            browser, _, time_s = line.partition(" ")
            try:
                if self._clock_s() - int(time_s) < KEPT_S:
                    times[bytes.fromhex(browser)] = int(time_s)
            except ValueError:  # a line that was cut off
                continue
        return times
