"""Ratios of medians: both sides are measured in turn, in one run."""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns

from moss_memory.storage.sqlite.schema_migrations import migrations_after

CACHE = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".cache")
"""Files that stay after a run: the packages of the peers, and the stores that take long to build."""


@dataclass(frozen=True)
class BenchmarkRow:
    """One row of the table; `measured` is None if it could not be measured."""

    title: str
    measured: float | None
    limit: float
    unit: str = "x"
    note: str = ""

    @property
    def is_within_limit(self) -> bool:
        return self.measured is None or self.measured <= self.limit

    def cells(self) -> tuple[str, str, str, str]:
        limit = _format(self.limit, self.unit)
        if self.measured is None:
            return self.title, self.note, limit, "-"
        measured = _format(self.measured, self.unit) + (f" ({self.note})" if self.note else "")
        return self.title, measured, limit, "yes" if self.is_within_limit else "**no**"


def _format(value: float, unit: str) -> str:
    if unit == "x":
        return f"{value:.2f} x"
    if unit == "MB":
        return f"{value:.1f} MB"
    return f"{value:,.0f} {unit}"


def medians_us(
    *sides: Callable[[], object], rounds: int, calls: int = 1, block: int = 1, warm_up: int = 3
) -> tuple[float, ...]:
    """Return the median time of a call of each side in microseconds, measured in turn: A B A B …

    `calls` calls are timed together, if one is too short for the clock. Each turn measures `block` times; with
    more than one, the disk writes of one side do not delay the first sync of the next.
    """
    for _ in range(warm_up):
        for side in sides:
            side()
    times_us: list[list[float]] = [[] for _ in sides]
    gc.collect()
    for _ in range(rounds):
        for side, times in zip(sides, times_us, strict=True):
            for _ in range(block):
                start = perf_counter_ns()
                for _ in range(calls):
                    side()
                times.append((perf_counter_ns() - start) / calls / 1000)
    return tuple(map(median, times_us))


def worst_row(title: str, times: dict[str, tuple[float, float]], limit: float) -> BenchmarkRow:
    """Return the row of the case with the highest ratio."""
    worst = max(times, key=lambda name: times[name][0] / times[name][1])
    one, other = times[worst]
    return BenchmarkRow(title, one / other, limit, note=f"worst is “{worst}”, {compare_times(one, other)}")


def compare_times(one_us: float, other_us: float) -> str:
    return f"{format_time(one_us)} : {format_time(other_us)}"


def format_time(microseconds: float) -> str:
    """Format a time with three digits and a suitable unit."""
    if microseconds >= 999_500:
        return f"{microseconds / 1_000_000:.3g} s"
    return f"{microseconds:.3g} µs" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"


def cached(kind: str, build: Callable[[str], None]) -> str:
    """Build a folder once for each database schema and return its path; remove the folders of older schemas."""
    schema = "".join(sql for _, sql in migrations_after(0))
    path = os.path.join(CACHE, f"{kind}-{hashlib.sha256(schema.encode()).hexdigest()[:12]}")
    if os.path.exists(path):
        return path
    os.makedirs(CACHE, exist_ok=True)
    for stale in os.listdir(CACHE):
        if stale.startswith(f"{kind}-"):
            shutil.rmtree(os.path.join(CACHE, stale))
    building = tempfile.mkdtemp(prefix="run-", dir=CACHE)
    build(building)
    os.rename(building, path)
    return path


def read_once(path: str) -> None:
    """Read a file into the cache of the system, so that no first read of the disk is measured.

    Call it before the database is opened: closing a file drops the locks of SQLite on it.
    """
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


@contextmanager
def scratch_folder() -> Iterator[str]:
    """Create a temporary folder inside the cache, so that all stores of a run are on the same file system."""
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="run-", dir=CACHE)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
