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
    old_lines, new_lines = old.splitlines(), new.splitlines()
    try:
        changes = changes_between(old_lines, new_lines, max_steps)
    except TooDifferentError:
        hunk = _hunk(old_lines, new_lines, 0, len(old_lines), [(0, len(old_lines), 0, len(new_lines))])
        return [_line("skipped", "too different to compare line by line: the old text, then the new one"), *_cut(hunk)]
    lines: list[dict[str, Any]] = []
    end = 0
    for group in _groups(changes):
        first, last = max(group[0][0] - _CONTEXT_LINES, end), min(group[-1][1] + _CONTEXT_LINES, len(old_lines))
        if first > end:
            lines.append(_line("skipped", f"{first - end} unchanged lines"))
        lines += _hunk(old_lines, new_lines, first, last, group)
        end = last
    if lines and len(old_lines) > end:
        lines.append(_line("skipped", f"{len(old_lines) - end} unchanged lines"))
    return _cut(lines)


def _groups(changes: list[Change]) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * _CONTEXT_LINES:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(
    old_lines: list[str], new_lines: list[str], first: int, last: int, group: list[Change]
) -> list[dict[str, Any]]:
    """Return the old lines from `first` to `last` with the changes among them."""
    lines: list[dict[str, Any]] = []
    for start, end, new_start, new_end in group:
        lines += [_line("same", text) for text in old_lines[first:start]]
        removed, added = old_lines[start:end], new_lines[new_start:new_end]
        for kind, texts in (("removed", removed), ("added", added)):
            lines += [_line(kind, text) for text in texts[:_MAX_LINES]]
            if len(texts) > _MAX_LINES:
                lines.append(_line("skipped", f"{len(texts) - _MAX_LINES} more lines {kind}"))
        first = end
    return lines + [_line("same", text) for text in old_lines[first:last]]


def changes_between(before: list[str], after: list[str], max_steps: int = MAX_STEPS) -> list[Change]:
    """Return the fewest changes that turn one list of lines or words into another, in order.

    Raise `TooDifferentError` if that needs more than `max_steps`.
    """
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    suffix = 0
    while suffix < min(len(before), len(after)) - start and before[-1 - suffix] == after[-1 - suffix]:
        suffix += 1
    old_part, new_part = before[start : len(before) - suffix], after[start : len(after) - suffix]
    if not old_part or not new_part:
        replacement = (start, start + len(old_part), start, start + len(new_part))
        return [replacement] if old_part or new_part else []
    return _join_adjacent(_path(old_part, new_part, max_steps), start)


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
    path = []
    for edits in range(len(rounds) - 1, 0, -1):
        previous = rounds[edits - 1]
        diagonal = x - y
        down = diagonal == -edits or (
            diagonal != edits and previous.get(diagonal - 1, -1) < previous.get(diagonal + 1, -1)
        )
        x = previous[diagonal + 1 if down else diagonal - 1]
        y = x - (diagonal + 1 if down else diagonal - 1)
        path.append((x, y, not down))
    return path[::-1]


def _join_adjacent(edits: list[tuple[int, int, bool]], start: int) -> list[Change]:
    changes: list[Change] = []
    for x, y, removed in edits:
        old_index, new_index = start + x, start + y
        if changes and changes[-1][1] == old_index and changes[-1][3] == new_index:
            old_start, _, new_start, _ = changes[-1]
            changes[-1] = (old_start, old_index + removed, new_start, new_index + (not removed))
        else:
            changes.append((old_index, old_index + removed, new_index, new_index + (not removed)))
    return changes


def _cut(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    chars = 0
    for number, line in enumerate(lines):
        chars += len(line["text"])
        if number >= 3 * _MAX_LINES or chars > _MAX_CHARS:
            return [*lines[:number], _line("skipped", f"{len(lines) - number} more lines")]
    return lines


def _line(kind: str, text: str) -> dict[str, Any]:
    shortened = (
        text if len(text) <= _LINE_CHARS else f"{text[:_LINE_CHARS]}… ({len(text) - _LINE_CHARS} more characters)"
    )
    return {"kind": kind, "sign": _SIGNS[kind], "text": shortened}
