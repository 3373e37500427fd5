"""Messages wrapped at the width of a terminal, between words; a proposed command can still be copied."""

from __future__ import annotations

import re

from .cell import cells, wrap_text

_PREFIXES = ("try: ", "for example: ")
"""The beginnings of lines that contain a command."""
_WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|\S)+")
"""A word of a shell; spaces inside quotes do not end it."""


def wrap_message(text: str, width: int) -> str:
    """Return the lines of a message, each at most `width` columns wide if its words allow."""
    return "\n".join(part for line in text.split("\n") for part in _wrap(line, width))


def _wrap(line: str, width: int) -> list[str]:
    if cells(line) <= width:
        return [line]
    for prefix in _PREFIXES:
        if line.startswith(prefix):
            return _wrap_proposal(line, prefix, width)
    indent = len(line) - len(line.lstrip(" "))
    first, *other_lines = wrap_text(line.strip(" "), width, indent=indent + 2)
    return [" " * indent + first, *other_lines]


def _wrap_proposal(line: str, prefix: str, width: int) -> list[str]:
    """Return a command over several lines that end in a backslash, then its reason as a comment."""
    command, _, reason = line.partition("  # ")
    blank = " " * len(prefix)
    first, *other_lines = wrap_command(command.removeprefix(prefix), width - len(prefix))
    comment = wrap_text(reason, width, indent=len(blank) + 2) if reason else []
    return [
        prefix + first,
        *(blank + part for part in other_lines),
        *(f"{blank}# {part.strip()}" for part in comment),
    ]


def wrap_command(command: str, width: int) -> list[str]:
    """Return a command over several lines that end in a backslash and can be copied as they are."""
    lines, current = [], ""
    for word in _WORD.findall(command):
        if current and cells(current) + cells(word) + 3 > width:
            lines.append(f"{current} \\")
            current = f"  {word}"
        else:
            current = f"{current} {word}" if current else word
    return [*lines, current]
