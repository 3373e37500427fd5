"""Two texts compared by line, as rows of a page."""

from __future__ import annotations

from typing import Any

Change = tuple[int, int, int, int]
"""Range of old lines and the range of new lines that replaces it."""

_CONTEXT_LINES = 3
MAX_STEPS = 400_000
"""Maximum work to find a difference; texts that need more are too different to be compared."""

_MAX_LINES = 1_000
_MAX_CHARS = 200_000
_LINE_CHARS = 4_000
_SIGNS = {"same": " ", "added": "+", "removed": "\u2212", "skipped": "…"}


class TooDifferentError(Exception):
    """Two texts cannot be compared with the work that is allowed."""


def difference(old: str, new: str, max_steps: int = MAX_STEPS) -> list[dict[str, Any]]:
    """Return the changed lines with context; a line with a count replaces omitted ones.

    Texts that are too different to be compared are returned one after the other.
    """
    before, after = old.splitlines(), new.splitlines()
    try:
        changes = changes_between(before, after, max_steps)
    except TooDifferentError:
        whole = _hunk(before, after, 0, len(before), [(0, len(before), 0, len(after))])
        return [_line("skipped", "too different to compare line by line: the old text, then the new one"), *_cut(whole)]
    lines: list[dict[str, Any]] = []
    end = 0
    for group in _groups(changes):
        first, last = max(group[0][0] - _CONTEXT_LINES, end), min(group[-1][1] + _CONTEXT_LINES, len(before))
        if first > end:
            lines.append(_line("skipped", f"{first - end} unchanged lines"))
        lines += _hunk(before, after, first, last, group)
        end = last
    if lines and len(before) > end:
        lines.append(_line("skipped", f"{len(before) - end} unchanged lines"))
    return _cut(lines)


def _groups(changes: list[Change]) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * _CONTEXT_LINES:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(before: list[str], after: list[str], first: int, last: int, group: list[Change]) -> list[dict[str, Any]]:
    """Return the old lines from `first` to `last` with the changes among them."""
    lines: list[dict[str, Any]] = []
    for start, end, new_start, new_end in group:
        lines += [_line("same", text) for text in before[first:start]]
        removed, added = before[start:end], after[new_start:new_end]
        for kind, texts in (("removed", removed), ("added", added)):
            lines += [_line(kind, text) for text in texts[:_MAX_LINES]]
            if len(texts) > _MAX_LINES:
                lines.append(_line("skipped", f"{len(texts) - _MAX_LINES} more lines {kind}"))
        first = end
    return lines + [_line("same", text) for text in before[first:last]]


def changes_between(before: list[str], after: list[str], max_steps: int = MAX_STEPS) -> list[Change]:
    """Return the fewest changes that turn one list of lines or words into another, in order.

    Raise `TooDifferentError` if that needs more than `max_steps`.
    """
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    rest = 0
    while rest < min(len(before), len(after)) - start and before[-1 - rest] == after[-1 - rest]:
        rest += 1
    old, new = before[start : len(before) - rest], after[start : len(after) - rest]
    if not old or not new:
        whole = (start, start + len(old), start, start + len(new))
        return [whole] if old or new else []
    return _join_adjacent(_path(old, new, max_steps), start)


def _path(old: list[str], new: list[str], max_steps: int) -> list[tuple[int, int, bool]]:
    """Return removed (True) and added lines with their positions in both lists, by the algorithm of Myers."""
    furthest = {1: 0}
    rounds: list[dict[int, int]] = []
    steps = 0
    for edits in range(len(old) + len(new) + 1):
        rounds.append({})
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            start_x = x
            while x < len(old) and 0 <= x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            steps += 1 + x - start_x
            furthest[diagonal] = x
            rounds[-1][diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _trace_back(rounds, len(old), len(new))
        if steps > max_steps:
            raise TooDifferentError
    raise AssertionError("two lists can always be made equal")


def _trace_back(rounds: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, bool]]:
    """Return the path from the start to the end of both lists, traced backwards."""
    found = []
    for edits in range(len(rounds) - 1, 0, -1):
        last = rounds[edits - 1]
        diagonal = x - y
        down = diagonal == -edits or (diagonal != edits and last.get(diagonal - 1, -1) < last.get(diagonal + 1, -1))
        x = last[diagonal + 1 if down else diagonal - 1]
        y = x - (diagonal + 1 if down else diagonal - 1)
        found.append((x, y, not down))
    return found[::-1]


def _join_adjacent(edits: list[tuple[int, int, bool]], start: int) -> list[Change]:
    changes: list[Change] = []
    for x, y, removed in edits:
        old, new = start + x, start + y
        if changes and changes[-1][1] == old and changes[-1][3] == new:
            first, _, new_first, _ = changes[-1]
            changes[-1] = (first, old + removed, new_first, new + (not removed))
        else:
            changes.append((old, old + removed, new, new + (not removed)))
    return changes


def _cut(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    chars = 0
    for number, line in enumerate(lines):
        chars += len(line["text"])
        if number >= 3 * _MAX_LINES or chars > _MAX_CHARS:
            return [*lines[:number], _line("skipped", f"{len(lines) - number} more lines")]
    return lines


def _line(kind: str, text: str) -> dict[str, Any]:
    shown = text if len(text) <= _LINE_CHARS else f"{text[:_LINE_CHARS]}… ({len(text) - _LINE_CHARS} more characters)"
    return {"kind": kind, "sign": _SIGNS[kind], "text": shown}
