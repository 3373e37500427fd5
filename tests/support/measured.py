"""How long something takes, for the few promises that name a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable


def waited_s(do: Callable[[], object]) -> float:
    """Return how many seconds pass while something is done."""
    began = time.monotonic()
    do()
    return time.monotonic() - began


def cpu_s(do: Callable[[], object]) -> float:
    """Return how many seconds of CPU this process uses while something is done; a busy machine does not count."""
    began = time.process_time()
    do()
    return time.process_time() - began


def thread_cpu_s(do: Callable[[], object]) -> float:
    """Return how many seconds of CPU this thread uses while something is done; other threads do not count."""
    began = time.thread_time()
    do()
    return time.thread_time() - began


def cpu_s_of(pid: int, do: Callable[[], object]) -> float:
    """Return how many seconds of CPU another process uses while something is done."""
    began = _used_s(pid)
    do()
    return _used_s(pid) - began


def _used_s(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


LEAST_S = 0.05
"""Less is mostly noise, and is not compared."""


def growth(run: Callable[[int], object], smaller: int, larger: int) -> float:
    """Return the ratio of the CPU times of a function for two sizes; 0 if the larger one is hardly measurable."""
    after = min(thread_cpu_s(lambda: run(larger)) for _ in range(2))
    if after < LEAST_S:
        return 0.0
    return after / min(thread_cpu_s(lambda: run(smaller)) for _ in range(3))
