"""How long a test waits for what must come: so long that a busy machine is no reason to fail, only a fault is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TIMEOUT_S = 120.0


def wait_until(it_is_so: Callable[[], bool], otherwise: str) -> None:
    """Looks again and again until something is so that another process brings about."""
    deadline = time.monotonic() + TIMEOUT_S
    pause = threading.Event()
    while not it_is_so():
        assert time.monotonic() < deadline, otherwise
        pause.wait(0.02)
