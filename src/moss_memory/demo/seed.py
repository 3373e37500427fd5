"""Plays the story of the demonstration into a store, each call at its own time in the past."""

from __future__ import annotations

from moss_memory.rows.times import wall_clock_ms
from moss_memory.store import Store

from . import days, handovers, tasks_and_records, thoughts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .story import Line

_HOUR_MS = 3_600_000


def story() -> list[Line]:
    """Every call of the story, the oldest first."""
    lines = [*handovers.lines(), *thoughts.lines(), *tasks_and_records.lines(), *days.lines()]
    return sorted(lines, key=lambda line: -line.hours_ago)


def fill(store: Store) -> None:
    """Fills an empty store with the story: what it tells is dated as if it had happened in the last nine weeks."""
    now_ms = wall_clock_ms()
    at_ms = [now_ms]
    lines = story()
    begun_ms = now_ms - int(lines[0].hours_ago * _HOUR_MS)
    with Store(store.config, clock_ms=lambda: at_ms[0]) as past:
        for line in lines:
            at_ms[0] = now_ms - int(line.hours_ago * _HOUR_MS)
            past.call(line.tool, line.told(at_ms[0], begun_ms))
