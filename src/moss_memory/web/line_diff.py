"""Two texts compared line by line, as the lines that a page shows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Change = tuple[int, int, int, int]
    """Lines of the old text, from and to, in the place of which lines of the new text stand, from and to."""

_AROUND = 3
_STEPS = 400_000
"""The work that finding a difference may take; texts that need more are too different to be compared."""

_SHOWN_LINES = 1_000
_SHOWN_CHARS = 200_000
_LINE_CHARS = 4_000
_SIGNS = {"same": " ", "added": "+", "removed": "\u2212", "skipped": "…"}


class TooDifferentError(Exception):
    """Two texts cannot be compared with the work that is allowed."""


def difference(old: str, new: str) -> list[dict[str, Any]]:
    """The changed lines with some around them; what is left out between them is one line that says how much.

    Texts that are too different to be compared are shown one after the other.
    """
    before, after = old.splitlines(), new.splitlines()
    try:
        changes = _changes(before, after)
    except TooDifferentError:
        whole = _hunk(before, after, 0, len(before), [(0, len(before), 0, len(after))])
        return [_line("skipped", "too different to compare line by line: the old text, then the new one"), *_cut(whole)]
    lines: list[dict[str, Any]] = []
    end = 0
    for group in _groups(changes):
        first, last = max(group[0][0] - _AROUND, end), min(group[-1][1] + _AROUND, len(before))
        if first > end:
            lines.append(_line("skipped", f"{first - end} unchanged lines"))
        lines += _hunk(before, after, first, last, group)
        end = last
    if lines and len(before) > end:
        lines.append(_line("skipped", f"{len(before) - end} unchanged lines"))
    return _cut(lines)


def _groups(changes: list[Change]) -> list[list[Change]]:
    """The changes, those together whose surroundings touch."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * _AROUND:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(before: list[str], after: list[str], first: int, last: int, group: list[Change]) -> list[dict[str, Any]]:
    """The lines of the old text from `first` to `last` with the changes among them."""
    lines: list[dict[str, Any]] = []
    for start, end, new_start, new_end in group:
        lines += [_line("same", text) for text in before[first:start]]
        removed, added = before[start:end], after[new_start:new_end]
        for kind, texts in (("removed", removed), ("added", added)):
            lines += [_line(kind, text) for text in texts[:_SHOWN_LINES]]
            if len(texts) > _SHOWN_LINES:
                lines.append(_line("skipped", f"{len(texts) - _SHOWN_LINES} more lines {kind}"))
        first = end
    return lines + [_line("same", text) for text in before[first:last]]


def _changes(before: list[str], after: list[str]) -> list[Change]:
    """The fewest changes that make one list of lines of the other, in their order."""
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
    return _joined(_path(old, new), start)


def _path(old: list[str], new: list[str]) -> list[tuple[int, int, bool]]:
    """The lines that are removed (true) or added, each where it stands in both; by the algorithm of Myers."""
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
            begun = x
            while x < len(old) and 0 <= x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            steps += 1 + x - begun
            furthest[diagonal] = x
            rounds[-1][diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _traced(rounds, len(old), len(new))
        if steps > _STEPS:
            raise TooDifferentError
    raise AssertionError("two lists can always be made equal")


def _traced(rounds: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, bool]]:
    """The way back from the end of both lists to their beginning, turned round."""
    found = []
    for edits in range(len(rounds) - 1, 0, -1):
        last = rounds[edits - 1]
        diagonal = x - y
        down = diagonal == -edits or (diagonal != edits and last.get(diagonal - 1, -1) < last.get(diagonal + 1, -1))
        x = last[diagonal + 1 if down else diagonal - 1]
        y = x - (diagonal + 1 if down else diagonal - 1)
        found.append((x, y, not down))
    return found[::-1]


def _joined(edits: list[tuple[int, int, bool]], start: int) -> list[Change]:
    """Changes of single lines, those side by side as one."""
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
    """As many of the lines as a page shows, and how many there are more."""
    chars = 0
    for place, line in enumerate(lines):
        chars += len(line["text"])
        if place >= 3 * _SHOWN_LINES or chars > _SHOWN_CHARS:
            return [*lines[:place], _line("skipped", f"{len(lines) - place} more lines")]
    return lines


def _line(kind: str, text: str) -> dict[str, Any]:
    shown = text if len(text) <= _LINE_CHARS else f"{text[:_LINE_CHARS]}… ({len(text) - _LINE_CHARS} more characters)"
    return {"kind": kind, "sign": _SIGNS[kind], "text": shown}
