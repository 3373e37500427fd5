"""Wait for a condition with a timeout so long that only a fault exceeds it, not a busy machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TIMEOUT_S = 120.0


def wait_until(it_is_so: Callable[[], bool], otherwise: str) -> None:
    """Poll a condition that another process makes true; fail at the timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    pause = threading.Event()
    while not it_is_so():
        assert time.monotonic() < deadline, otherwise
        pause.wait(0.02)
