"""How a ratio is taken: both sides in turn, in one run, judged by their medians."""

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
"""Everything a run leaves behind: the peers' packages and the store of 100,000 capsules."""


@dataclass(frozen=True)
class Line:
    """One row of the table: what was measured, what came out, and what is allowed at most."""

    what: str
    measured: float | None
    limit: float | None
    """None where the figure is only worth knowing: nothing is promised."""
    unit: str = "x"
    note: str = ""

    @property
    def held(self) -> bool:
        return self.measured is None or self.limit is None or self.measured <= self.limit

    def cells(self) -> tuple[str, str, str, str]:
        limit = "-" if self.limit is None else _number(self.limit, self.unit)
        if self.measured is None:
            return self.what, self.note, limit, "-"
        shown = _number(self.measured, self.unit) + (f" ({self.note})" if self.note else "")
        if self.limit is None:
            return self.what, shown, limit, "-"
        return self.what, shown, limit, "yes" if self.held else "**no**"


def _number(value: float, unit: str) -> str:
    if unit == "x":
        return f"{value:.2f} x"
    if unit == "MB":
        return f"{value:.1f} MB"
    return f"{value:,.0f} {unit}"


def medians_us(
    *sides: Callable[[], object], rounds: int, calls: int = 1, block: int = 1, warm_up: int = 3
) -> tuple[float, ...]:
    """The median microseconds of one call of each side, taken in turn: A B A B …, so noise meets both.

    `calls` are timed together, where one alone is too short for the clock. Each turn takes `block` such
    times; more than one keeps a side's disk writes from being paid for by the next side's first sync.
    """
    for _ in range(warm_up):
        for side in sides:
            side()
    taken: list[list[float]] = [[] for _ in sides]
    gc.collect()
    for _ in range(rounds):
        for side, times in zip(sides, taken, strict=True):
            for _ in range(block):
                start = perf_counter_ns()
                for _ in range(calls):
                    side()
                times.append((perf_counter_ns() - start) / calls / 1000)
    return tuple(map(median, taken))


def worst_line(what: str, taken: dict[str, tuple[float, float]], limit: float | None) -> Line:
    """The line of the case whose first time is the most times its second."""
    worst = max(taken, key=lambda name: taken[name][0] / taken[name][1])
    one, other = taken[worst]
    return Line(what, one / other, limit, note=f"worst is “{worst}”, {compared_us(one, other)}")


def compared_us(one: float, other: float) -> str:
    """Both medians behind a ratio, for readers who wonder what it is a ratio of."""
    return f"{duration(one)} : {duration(other)}"


def duration(microseconds: float) -> str:
    """A time with three digits and the unit that suits it."""
    if microseconds >= 999_500:
        return f"{microseconds / 1_000_000:.3g} s"
    return f"{microseconds:.3g} µs" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"


def cached(kind: str, build: Callable[[str], None]) -> str:
    """The path of something built once for each schema of the database; what an older schema left is removed."""
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
    """Brings a file into the system's cache, so that nobody's first read of the disk is measured.

    Only before anything opens the database: closing a file drops the locks that SQLite holds on it.
    """
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder beside the cache, so that every store of a run lies on the same file system; gone afterwards."""
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="run-", dir=CACHE)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
