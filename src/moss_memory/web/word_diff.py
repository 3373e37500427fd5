"""Two texts compared by line with their changed words marked, and the changed fields of two versions."""

from __future__ import annotations

import re
from typing import Any

from .line_diff import MAX_STEPS as LINE_STEPS
from .line_diff import TooDifferentError, changes_between, difference

Part = dict[str, Any]

_TOKENS = re.compile(r"\w+|\s|[^\w\s]")
_MAX_TOKENS = 4_000
_MAX_STEPS = 40_000
"""Maximum work for the words of one group of lines; beyond it the lines have no marked words."""
_MAX_GROUPS = 100
_MIN_COMMON_SHARE = 0.3
"""Minimum share of words that both sides have in common; below it no words are marked."""
_FIELDS = ("title", "tags", "source", "phase", "role", "run_id", "name", "workspace")


def word_difference(old: str, new: str, max_steps: int = LINE_STEPS) -> list[dict[str, Any]]:
    """Return the lines of `difference`, each with its text in `parts`, of which some are `changed`."""
    lines = difference(old, new, max_steps)
    groups = 0
    index = 0
    while index < len(lines):
        middle = _end_of(lines, index, "removed")
        end = _end_of(lines, middle, "added")
        if index < middle < end and groups < _MAX_GROUPS:
            groups += 1
            _mark(lines[index:middle], lines[middle:end])
        index = max(end, index + 1)
    for line in lines:
        line.setdefault("parts", [{"text": line["text"], "changed": False}])
    return lines


def _end_of(lines: list[dict[str, Any]], start: int, kind: str) -> int:
    end = start
    while end < len(lines) and lines[end]["kind"] == kind:
        end += 1
    return end


def _mark(removed: list[dict[str, Any]], added: list[dict[str, Any]]) -> None:
    """Set the parts of lines that replace each other."""
    old_tokens, new_tokens = [_TOKENS.findall("\n".join(line["text"] for line in lines)) for lines in (removed, added)]
    if len(old_tokens) + len(new_tokens) > _MAX_TOKENS:
        return
    try:
        changes = changes_between(old_tokens, new_tokens, _MAX_STEPS)
    except TooDifferentError:
        return
    is_changed_old, is_changed_new = [False] * len(old_tokens), [False] * len(new_tokens)
    for start, end, new_start, new_end in changes:
        is_changed_old[start:end] = [True] * (end - start)
        is_changed_new[new_start:new_end] = [True] * (new_end - new_start)
    common_chars = sum(
        len(token) for token, changed in zip(old_tokens, is_changed_old, strict=True) if not changed and token.strip()
    )
    if common_chars < _MIN_COMMON_SHARE * max(sum(map(len, old_tokens)), sum(map(len, new_tokens))):
        return
    for lines, tokens, marks in ((removed, old_tokens, is_changed_old), (added, new_tokens, is_changed_new)):
        for line, parts in zip(lines, _split(tokens, marks), strict=True):
            line["parts"] = parts


def _split(tokens: list[str], marks: list[bool]) -> list[list[Part]]:
    """Return the parts of each line; neighbours with the same mark are joined."""
    rows: list[list[Part]] = [[]]
    for word, changed in zip(tokens, marks, strict=True):
        if word == "\n":
            rows.append([])
        elif rows[-1] and rows[-1][-1]["changed"] == changed:
            rows[-1][-1]["text"] += word
        else:
            rows[-1].append({"text": word, "changed": changed})
    return rows


def changed_fields(old: dict[str, Any], new: dict[str, Any]) -> list[dict[str, str]]:
    """Return the fields beside the text in which two versions differ."""
    return [
        {"name": "run" if name == "run_id" else name, "old": _shown(old.get(name)), "new": _shown(new.get(name))}
        for name in _FIELDS
        if (old.get(name) or None) != (new.get(name) or None)
    ]


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value or "")
