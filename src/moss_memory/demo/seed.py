"""Fills a store from story.jsonl: one call a line, with its age in hours and its actor, the oldest first."""

from __future__ import annotations

import json
import os

from moss_memory.rows.times import format_time
from moss_memory.storage.call import wall_clock_ms
from moss_memory.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.code_state.work_tree import CodeState

_STORY = os.path.join(os.path.dirname(__file__), "story.jsonl")
_HOUR_MS = 3_600_000
_SECOND_COMMIT_HOURS_AGO = 160


def fill(store: Store, states: Sequence[CodeState] = ()) -> None:
    """Fill an empty store with the calls of the story, spread over the last nine weeks.

    `states` are the states of the project's repository at its two commits.
    """
    with open(_STORY, encoding="utf-8") as file:
        calls = [json.loads(line) for line in file]
    now_ms = wall_clock_ms()
    times_ms = [now_ms - int(call["hours_ago"] * _HOUR_MS) for call in calls]
    clock = [now_ms]
    with Store(store.config, clock_ms=lambda: clock[0], counts_loads=True) as past:
        for call, time_ms in zip(calls, times_ms, strict=True):
            clock[0] = time_ms
            times = {"(now)": format_time(time_ms), "(begun)": format_time(times_ms[0])}
            code = states[call["hours_ago"] < _SECOND_COMMIT_HOURS_AGO] if len(states) > 1 else None
            past.call(call["tool"], _replace_times(call["arguments"], times), actor=call["by"], code=code)


def _replace_times(value: Any, times: dict[str, str]) -> Any:
    """Return a value in which each placeholder is the time of the call, or that of the first call."""
    if isinstance(value, dict):
        return {name: _replace_times(part, times) for name, part in value.items()}
    return times.get(value, value) if isinstance(value, str) else value
