"""Size budgets: results truncated to `max_chars`, `max_bytes` and `max_lines`, first their texts, then their rows.

If code reads the texts, they are not shortened; `truncate_page` ends the page early instead.
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
"""Maximum lengths of texts, tried in this order before any row is dropped."""
_TIMES = frozenset({"created_at", "last_ts_ms", "ts", "ts_ms", "updated_at"})
_TEXT_KINDS = frozenset({"choice", "highlighted", "path", "text", "time"})
_TIMES_GO = 500
"""The maximum length of texts from which on rows have no times."""
_LEAST_TEXT = 24
"""The minimum of a shortened text without its ellipsis; a shorter one is left out."""
_TEXTS_LAST = (120, 80, 60, 40, _LEAST_TEXT + 1)
"""Maximum lengths of texts in the whole result; a text of less is left out."""
_REFERENCES = frozenset({"docs", "reasoning_ref"})
"""Objects that hold only names of documents: emptied before a text is left out."""
_NAMES = frozenset({
    "branch", "chosen", "conflict_id", "doc", "event_id", "focus", "from", "graph_doc", "id", "into", "key", "kind",
    "name", "notes_doc", "parent", "path", "priority", "ref", "rel", "status", "step_id", "target", "to", "tool",
    "trace_doc", "ts", "type", "workspace",
})  # fmt: skip
_FIXED = frozenset(
    {"chosen", "code", "conflict_id", "event_id", "kind", "resolution", "status", "step_id", "tool", "ts"}
)
"""Fields with short values that Moss defines: meaningless if cut, so they are shortened last."""
_FIXED_MAX_CHARS = 40
_FREE = frozenset({"arguments", "contract", "data", "meta", "payload"})
"""Objects with keys of the caller: kept whole or emptied."""
_NEXT = "next"
"""The proposed next call: kept until nothing else can be shortened, then null."""
_OMITTED = "omitted"
"""The numbers of items that lists lost, by the names of the lists."""
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
"""The arguments of every tool with a budget; an answer without its texts fits into the minimum of each."""


USUAL_MAX_CHARS = 30_000
"""The default budget of an answer."""


def _to_json(value: Any, most_chars: int | None = None) -> str:
    """Return the compact JSON of a value, with invisible characters escaped as in the response.

    Escapes are longer than their characters: JSON that is already longer than `most_chars` is returned without them.
    """
    text = _encode(value)
    return text if most_chars is not None and len(text) > most_chars else escape_json(text)


class Budget:
    """The maximum size of a result, measured on its compact JSON; None is no limit."""

    __slots__ = ("_bytes", "_chars", "_lines", "as_sent")

    def __init__(self, max_chars: int | None, max_bytes: int | None, max_lines: int | None) -> None:
        self._chars = max_chars
        self._bytes = max_bytes
        self._lines = max_lines
        self.as_sent: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        """Returns a result as the caller's interface sends it, if that is longer."""

    def fits(self, result: dict[str, Any]) -> bool:
        """Return True if the result exceeds none of the limits."""
        if self.as_sent is not None:
            result = self.as_sent(result)
        if self._lines is not None and _count_lines(result) > self._lines:
            return False
        if self._chars is None and self._bytes is None:
            return True
        text = _to_json(result, self._bytes if self._chars is None else self._chars)
        if self._chars is not None and len(text) > self._chars:
            return False
        return self._bytes is None or len(text.encode()) <= self._bytes

    def fit(self, rows: Sequence[Any], build: Build, *, least: int = 1) -> dict[str, Any]:
        """Return `build(rows)`, with texts shortened and the last rows dropped as far as the budget requires.

        `build` computes the pagination from the rows that it gets. At least `least` rows stay, so that paging always
        advances. A result that was shortened has `truncated`.
        """
        all_rows = list(rows)
        full = build(all_rows)
        if self.fits(full):
            return full

        def shortened_build(some_rows: list[Any]) -> dict[str, Any]:
            return _mark_truncated(build(some_rows), full)

        for chars in _TEXT_STEPS:
            if chars == _TIMES_GO:
                all_rows = [_remove_times(row) for row in all_rows]
            shortened = [_shorten(row, chars, names=False) for row in all_rows]
            result = shortened_build(shortened)
            if self.fits(result):
                return result
        row_count = _count_fitting(self, shortened, shortened_build)
        if row_count >= min(least, len(shortened)) and self.fits(shortened_build(shortened[:row_count])):
            return shortened_build(shortened[:row_count])
        return _last_resort(self, build(all_rows[: max(row_count, least)]), full)


def budget_of(values: dict[str, Any]) -> Budget:
    """Remove the budget's arguments from decoded arguments and return the budget, the default one if none is given."""
    chars, size, lines = [values.pop(name, None) for name in ARGUMENTS]
    if chars is None and size is None and lines is None:
        chars = USUAL_MAX_CHARS
    return Budget(chars or None, size, lines)


def may_be_left_out(name: str, kind: str) -> bool:
    """Return True if a field inside a truncated result may be missing: a text, or a time of a row."""
    return kind in _TEXT_KINDS or name in _TIMES


def truncate_page(
    items: list[dict[str, Any]], pagination: dict[str, Any], most: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the first items that fit into `most` characters of compact JSON, at least one, and their pagination."""
    page = items if len(_to_json(items, most)) <= most else items[: _most_within(items, most)]
    if len(page) == len(items):
        return items, {**pagination, "count": len(page)}
    return page, {**pagination, "has_more": True, "count": len(page), "next_offset": pagination["offset"] + len(page)}


def _most_within(items: list[dict[str, Any]], most: int) -> int:
    size = 1
    for count, item in enumerate(items):
        size += len(_to_json(item, most)) + 1
        if size > most:
            return max(count, 1)
    return len(items)


def _count_fitting(budget: Budget, rows: list[Any], build: Build) -> int:
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        if budget.fits(build(rows[:middle])):
            low = middle
        else:
            high = middle - 1
    return low


def _last_resort(budget: Budget, result: dict[str, Any], full: dict[str, Any]) -> dict[str, Any]:
    """Return the result with the texts outside of rows shortened too, as little as the budget requires.

    First the reason of `next` is shortened, then references go, then texts, then names, at last `next`.
    """
    plain = {
        key: dict.fromkeys(part, "") if key in _REFERENCES and isinstance(part, dict) else part
        for key, part in result.items()
    }
    attempts = [(result, chars, False) for chars in _TEXTS_LAST]
    for base in (plain, _remove_next(plain)):
        attempts += [(base, chars, names) for names in (False, True) for chars in (*_TEXTS_LAST, 2, 0)]
    for base, chars, names in attempts:
        for reason_chars in (None, chars, 0):
            short = _shorten(_shorten_reason(base, reason_chars), chars, names=names, rows=True)
            marked = _mark_truncated(short, full)
            if budget.fits(marked):
                return marked
    return marked


def _shorten_reason(value: Any, chars: int | None) -> Any:
    """Return a value in which the reason of each `next` has at most `chars` characters."""
    if not isinstance(value, dict) or chars is None:
        return value
    short = {key: _shorten_reason(part, chars) for key, part in value.items()}
    call = short.get(_NEXT)
    if isinstance(call, dict) and isinstance(call.get("reason"), str):
        short[_NEXT] = {**call, "reason": _truncate_text(call["reason"], chars)}
    return short


def _remove_times(value: Any) -> Any:
    """Return a row without its times, which matter less than its texts."""
    if isinstance(value, dict):
        return {key: _remove_times(part) for key, part in value.items() if key not in _TIMES}
    return [_remove_times(part) for part in value] if isinstance(value, list) else value


def _remove_next(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: None if key == _NEXT else _remove_next(part) for key, part in value.items()}
    return value


def _mark_truncated(result: dict[str, Any], full: dict[str, Any]) -> dict[str, Any]:
    """Mark a shortened result, and count the missing items of its lists."""
    result["truncated"] = True
    omitted: dict[str, int] = {}
    _count_omitted(full, result, omitted)
    return {**result, _OMITTED: omitted} if omitted else result


def _count_omitted(full: dict[str, Any], result: dict[str, Any], omitted: dict[str, int]) -> None:
    """Add to `omitted` how many items each list outside of other lists lost, by its name."""
    for name, original in full.items():
        shortened = result.get(name)
        if isinstance(original, list):
            lost_count = len(original) - (len(shortened) if isinstance(shortened, list) else 0)
            if lost_count > 0:
                omitted[name] = omitted.get(name, 0) + lost_count
        elif isinstance(original, dict) and isinstance(shortened, dict) and name not in _FREE and name != _NEXT:
            _count_omitted(original, shortened, omitted)


def _shorten(value: Any, chars: int, *, names: bool, rows: bool = False) -> Any:
    """Return a copy in which no text is longer than `chars`; `rows` keeps lists of objects whole."""
    if isinstance(value, dict):
        return {
            key: part
            if isinstance(part, str) and _is_kept(key, part, chars, names)
            else _shorten_field(key, part, chars, names, rows)
            for key, part in value.items()
        }
    if isinstance(value, list):
        most = len(value) if rows and value and isinstance(value[0], dict) else chars // 30
        parts = [_shorten(part, chars, names=names, rows=rows) for part in value[:most]]
        return [_without_emptied(part, item) for part, item in zip(parts, value, strict=False) if part != "" != item]
    if isinstance(value, str):
        return _truncate_text(value, chars)
    return value


def _without_emptied(part: Any, original: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: text for key, text in part.items() if text != "" or original[key] == ""}


def _is_kept(key: str, text: str, chars: int, names: bool) -> bool:
    """Return True if a text stays whole: a name unless `names`, a value that Moss defines almost always."""
    return (key in _NAMES and not names) or (key in _FIXED and len(text) <= _FIXED_MAX_CHARS and chars > 1)


def _shorten_field(key: str, value: Any, chars: int, names: bool, rows: bool) -> Any:
    if key == _NEXT and isinstance(value, dict):
        return value
    if key in _FREE and isinstance(value, dict):
        size = len(json.dumps(value, ensure_ascii=False))
        return value if size <= chars and _count_lines(value) <= chars // 60 else {}
    return _shorten(value, chars, names=names, rows=rows)


def _truncate_text(text: str, chars: int) -> str:
    """Return the beginning of a text: at most `chars` characters, and one line for each 60 of them."""
    lines = text.split("\n", chars // 60 + 1)
    short = text if len(lines) <= chars // 60 + 1 else "\n".join(lines[: chars // 60 + 1]) + _ENDING
    if len(short) > chars:
        short = short[: max(chars - 1, 0)] + _ENDING
    return short if short == text or len(short) > _LEAST_TEXT else ""


def _count_lines(value: Any) -> int:
    """Count the lines of a value: one for each item of a list and for each line break inside a text."""
    if isinstance(value, str):
        return value.count("\n") + value.count("\r") - value.count("\r\n")
    if isinstance(value, list):
        return len(value) + sum([_count_lines(part) for part in value])
    if isinstance(value, dict):
        return sum([_count_lines(key) + _count_lines(part) for key, part in value.items()])
    return 0
