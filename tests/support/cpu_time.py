"""The processor time of a function: the promise that time grows linearly can be checked by nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_S = 0.05
"""Less is mostly noise, and is not compared."""


def cpu_seconds(run: Callable[[], object]) -> float:
    """Return how long the processor works on a function; other processes do not count."""
    start = time.process_time()
    run()
    return time.process_time() - start


def growth(run: Callable[[int], object], smaller: int, larger: int) -> float:
    """Return how many times as long a function works on the larger size; 0 if that is hardly measurable."""
    after = cpu_seconds(lambda: run(larger))
    if after < LEAST_S:
        return 0.0
    return after / min(cpu_seconds(lambda: run(smaller)) for _ in range(3))
