"""The activity chart: bars of days as rectangles with numbers for attributes, drawn by the server."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

WIDTH, HEIGHT = 1040, 200
_LEFT, _TOP, _BOTTOM = 30, 8, 28
_GAP = 0.26
_STEPS = (1, 2, 5)


def build_chart(days: list[dict[str, Any]], families: list[str], weeks: int, today: date) -> dict[str, Any]:
    """Return the data of the chart, which ends today: bars, grid lines and labels of days."""
    by_day = {day["day"]: day for day in days}
    highest = max((sum(day[name] for name in families) for day in days), default=0)
    step = _step(highest)
    top = max(step * -(-highest // step), step)
    width = (WIDTH - _LEFT) / (weeks * 7)
    scale = (HEIGHT - _TOP - _BOTTOM) / top
    floor = HEIGHT - _BOTTOM
    bars, marks = [], []
    for index in range(weeks * 7):
        day = today - timedelta(days=weeks * 7 - 1 - index)
        left = _LEFT + index * width
        bars += _bars(by_day.get(str(day), {}), families, left + width * _GAP / 2, width, scale)
        if day.weekday() == 0 and index // 7 % 2 and (today - day).days > 1:
            marks.append({"x": _round(left + width / 2), "text": f"{day:%-d %b}"})
    lines = [{"y": _round(floor - value * scale), "text": _format_count(value)} for value in range(0, top + 1, step)]
    return {"bars": bars, "lines": lines, "marks": marks, "width": WIDTH, "height": HEIGHT, "left": _LEFT}


def _bars(day: dict[str, Any], families: list[str], left: float, width: float, scale: float) -> list[dict[str, Any]]:
    bars, floor = [], HEIGHT - _BOTTOM
    used = 0
    for name in families:
        if count := day.get(name, 0):
            used += count
            bars.append(
                {
                    "family": name,
                    "day": day["day"],
                    "x": _round(left),
                    "y": _round(floor - used * scale + 0.5),
                    "width": _round(width * (1 - _GAP)),
                    "height": _round(max(count * scale - 1, 1)),
                    "title": f"{day['day']}: {count} {name}",
                }
            )
    return bars


def _step(highest: int) -> int:
    """Return the distance of the grid lines, so that there are at most five."""
    size = 1
    while True:
        for step in _STEPS:
            if step * size * 5 >= highest:
                return step * size
        size *= 10


def _format_count(value: int) -> str:
    """Return a number in at most four characters, the width beside the chart."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return str(value)


def _round(value: float) -> float:
    return round(value, 1)
