"""Fits a result into `max_chars`, `max_bytes` and `max_lines`: long texts are shortened first, then old rows go.

Where a text must not be shortened, because code reads it, a page ends early instead.
"""

from __future__ import annotations

import json

from .invisible import escape_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Build = Callable[[list[Any]], dict[str, Any]]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_TEXT_STEPS = (16000, 8000, 4000, 2000, 1000, 500, 250, 120)
"""How many characters a text keeps, tried one after the other before any row is dropped."""
_LAST_STEPS = (120, 80, 60, 40, 24, 16, 8, 4, 2, 1, 0)
"""The same for the whole result, first without its names and then with them: what the smallest budget may need."""
_NAMES = frozenset({
    "branch", "chosen", "conflict_id", "doc", "event_id", "focus", "from", "graph_doc", "id", "into", "key", "kind",
    "name", "notes_doc", "parent", "path", "priority", "ref", "rel", "status", "step_id", "target", "to", "tool",
    "trace_doc", "ts", "type", "workspace",
})  # fmt: skip
_OWN = frozenset({"chosen", "code", "conflict_id", "event_id", "kind", "status", "step_id", "tool", "ts"})
"""Short words of Moss's own, which mean nothing when cut: they go last."""
_OWN_MAX_CHARS = 40
_FREE = frozenset({"arguments", "contract", "data", "meta", "payload"})
"""Objects whose keys are the caller's own: kept whole, or emptied."""
_NEXT = "next"
"""The next call to make: whole until everything else is as short as it gets, then null."""
_ENDING = "…"

ARGUMENTS: dict[str, dict[str, Any]] = {
    "max_chars": {
        "type": "integer",
        "minimum": 500,
        "or_zero": True,
        "description": "budget of the answer; 30000 if none is given, 0 for none",
    },
    "max_bytes": {"type": "integer", "minimum": 500, "description": "budget in bytes"},
    "max_lines": {"type": "integer", "minimum": 10, "description": "budget in lines"},
}
"""What every tool takes whose answers are bounded; the skeleton of each answer fits into the least of them."""


USUAL_MAX_CHARS = 30_000
"""The budget of an answer where the caller gives none."""


def _compact(value: Any) -> str:
    """Return the compact JSON of a value as models get it: invisible characters are escapes, which are longer."""
    return escape_json(_encode(value))


class Budget:
    """How large a result may be, measured on its compact JSON; without any limit everything fits."""

    __slots__ = ("_bytes", "_chars", "_lines")

    def __init__(self, max_chars: int | None, max_bytes: int | None, max_lines: int | None) -> None:
        self._chars = max_chars
        self._bytes = max_bytes
        self._lines = max_lines

    def fits(self, result: dict[str, Any]) -> bool:
        """Whether the result exceeds none of the limits."""
        if self._lines is not None and _lines(result) > self._lines:
            return False
        if self._chars is None and self._bytes is None:
            return True
        text = _compact(result)
        if self._chars is not None and len(text) > self._chars:
            return False
        return self._bytes is None or len(text.encode()) <= self._bytes

    def fit(self, rows: Sequence[Any], build: Build, *, least: int = 1) -> dict[str, Any]:
        """The result that `build` makes of the rows, or of as many of the first ones as fit.

        `build` must describe what it was given: after rows were dropped, its pagination goes on from the last one
        kept. At least `least` rows stay, so that paging always goes on. What was left out shows as `truncated`.
        """
        whole = list(rows)
        result = build(whole)
        if self.fits(result):
            return result
        for chars in _TEXT_STEPS:
            shortened = [_shortened(row, chars, names=False) for row in whole]
            result = _marked(build(shortened))
            if self.fits(result):
                return result
        kept = _most_that_fit(self, shortened, build)
        if kept >= min(least, len(shortened)) and self.fits(_marked(build(shortened[:kept]))):
            return _marked(build(shortened[:kept]))
        return _last_resort(self, whole[: max(kept, least)], build)


def budget_of(values: dict[str, Any]) -> Budget:
    """The budget that decoded arguments ask for, taken out of them; the usual one where they ask for none."""
    chars, size, lines = [values.pop(name, None) for name in ARGUMENTS]
    if chars is None and size is None and lines is None:
        chars = USUAL_MAX_CHARS
    return Budget(chars or None, size, lines)


def truncate_page(
    items: list[dict[str, Any]], pagination: dict[str, Any], most: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """As many of the items as so many characters of compact JSON hold, at least one; the page says where to go on."""
    kept = items if len(_compact(items)) <= most else items[: _most_within(items, most)]
    if len(kept) == len(items):
        return items, pagination
    return kept, {**pagination, "has_more": True, "count": len(kept), "next_offset": pagination["offset"] + len(kept)}


def _most_within(items: list[dict[str, Any]], most: int) -> int:
    size = 1
    for count, item in enumerate(items):
        size += len(_compact(item)) + 1
        if size > most:
            return max(count, 1)
    return len(items)


def _most_that_fit(budget: Budget, rows: list[Any], build: Build) -> int:
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        if budget.fits(_marked(build(rows[:middle]))):
            low = middle
        else:
            high = middle - 1
    return low


def _last_resort(budget: Budget, rows: list[Any], build: Build) -> dict[str, Any]:
    """The result with everything in it shortened, as little as it takes."""
    result = _marked(build(rows))
    for whole in (result, _without_next(result)):
        for names, chars in [(names, chars) for names in (False, True) for chars in _LAST_STEPS]:
            shortened: dict[str, Any] = _shortened(whole, chars, names=names, rows=True)
            if budget.fits(shortened):
                return shortened
    return shortened


def _without_next(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: None if key == _NEXT else _without_next(part) for key, part in value.items()}
    return value


def _marked(result: dict[str, Any]) -> dict[str, Any]:
    result["truncated"] = True
    return result


def _shortened(value: Any, chars: int, *, names: bool, rows: bool = False) -> Any:
    """A copy in which no text is longer than so many characters; `rows` keeps lists of objects whole."""
    if isinstance(value, dict):
        return {
            key: part
            if isinstance(part, str) and _keeps(key, part, chars, names)
            else _part(key, part, chars, names, rows)
            for key, part in value.items()
        }
    if isinstance(value, list):
        most = len(value) if rows and value and isinstance(value[0], dict) else chars // 30
        return [_shortened(part, chars, names=names, rows=rows) for part in value[:most]]
    if isinstance(value, str):
        return _cut(value, chars)
    return value


def _keeps(key: str, text: str, chars: int, names: bool) -> bool:
    """Whether a text stays whole: a name while names stay, a word of Moss's own almost always."""
    return (key in _NAMES and not names) or (key in _OWN and len(text) <= _OWN_MAX_CHARS and chars > 1)


def _part(key: str, value: Any, chars: int, names: bool, rows: bool) -> Any:
    if key == _NEXT and isinstance(value, dict):
        return {**value, "reason": _cut(str(value["reason"]), chars)} if names else value
    if key in _FREE and isinstance(value, dict):
        size = len(json.dumps(value, ensure_ascii=False))
        return value if size <= chars and _lines(value) <= chars // 60 else {}
    return _shortened(value, chars, names=names, rows=rows)


def _cut(text: str, chars: int) -> str:
    """The beginning of a text, on as many lines as its share of characters allows."""
    lines = text.split("\n", chars // 60 + 1)
    short = text if len(lines) <= chars // 60 + 1 else "\n".join(lines[: chars // 60 + 1]) + _ENDING
    if len(short) <= chars:
        return short
    return short[: chars - 1] + _ENDING if chars > 8 else short[:chars]  # it takes three bytes, which is much here


def _lines(value: Any) -> int:
    """One for each item of a list, and one for each line break inside a text."""
    if isinstance(value, str):
        return value.count("\n") + value.count("\r") - value.count("\r\n")
    if isinstance(value, list):
        return len(value) + sum([_lines(part) for part in value])
    if isinstance(value, dict):
        return sum([_lines(key) + _lines(part) for key, part in value.items()])
    return 0
