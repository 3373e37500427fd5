"""Measure the duration and the CPU time of functions, for the guarantees that name a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable


def waited_s(do: Callable[[], object]) -> float:
    """Return the seconds that a function takes."""
    began = time.monotonic()
    do()
    return time.monotonic() - began


def cpu_s(do: Callable[[], object]) -> float:
    """Return the CPU seconds that this process uses during a function, which do not depend on other processes."""
    began = time.process_time()
    do()
    return time.process_time() - began


def thread_cpu_s(do: Callable[[], object]) -> float:
    """Return the CPU seconds that this thread uses during a function."""
    began = time.thread_time()
    do()
    return time.thread_time() - began


def cpu_s_of(pid: int, do: Callable[[], object]) -> float:
    """Return the CPU seconds that another process uses during a function."""
    began = _used_s(pid)
    do()
    return _used_s(pid) - began


def _used_s(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


LEAST_S = 0.05
"""A shorter time is mostly noise, and is not compared."""


def growth(run: Callable[[int], object], smaller: int, larger: int) -> float:
    """Return the ratio of the CPU times of a function for two sizes; 0 if the larger one is hardly measurable."""
    after = min(thread_cpu_s(lambda: run(larger)) for _ in range(2))
    if after < LEAST_S:
        return 0.0
    return after / min(thread_cpu_s(lambda: run(smaller)) for _ in range(3))
