"""Table cells: one value as a short text without terminal control characters."""

from __future__ import annotations

import json
import time

from moss_memory.registry.invisible import replace_invisible

from .style import HIT, HIT_END, close_marks, strip_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.responses import Field

_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&"))
_ELLIPSIS = "\u2026"
_NUMBERS = ("integer", "number")
_TIME_UNITS = {"moment": 1, "moment_ms": 1000}
"""Kinds of times, and their units in a second."""


class Cell:
    """The text of a table cell, and the part of it that must be visible."""

    __slots__ = ("begin", "end", "right", "text")

    def __init__(self, text: str, begin: int = 0, end: int = 0, *, right: bool = False) -> None:
        self.text = text
        self.begin = begin
        self.end = end
        self.right = right
        """True if the text is aligned right, as numbers are."""

    def fit(self, wide: int) -> str:
        """Return the text in exactly `wide` columns, cut so that its important part is visible."""
        text = self.text
        if cells(text) > wide:
            text = self._around(wide)[: wide * 8]  # the loop below cuts one character at a time
            if cells(text) > wide:
                while text and cells(text) > wide - 1:
                    text = text[:-1]
                text += _ELLIPSIS
        text = close_marks(text)
        space = " " * (wide - cells(text))
        return space + text if self.right else text + space

    def _around(self, wide: int) -> str:
        if cells(self.text[: self.end]) < wide:
            return self.text
        chars_before = max(wide - (self.end - self.begin), 3) // 3
        return _ELLIPSIS + self.text[max(self.begin - chars_before, 0) :].lstrip()


def cell_of(field: Field, value: Any) -> Cell:
    """Return the cell of a field's value."""
    kind = field.kind
    if value is None:
        return Cell("-", right=kind in _NUMBERS)
    if kind == "highlighted":
        return _snippet(str(value))
    if kind == "path":
        path = printable(str(value))
        return Cell(path, path.rfind("/") + 1, len(path))
    if kind in _TIME_UNITS:
        return Cell(format_time(value // _TIME_UNITS[kind]))
    return Cell(line_of(_format(field, value)), right=kind in _NUMBERS)


def line_of(text: str) -> str:
    """Return a text on one line without terminal control characters."""
    return printable(" ".join(text.split()))


def _format(field: Field, value: Any) -> str:
    """Return a value on one line: lists with commas, objects by their schema or as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value) or "-"
    if isinstance(value, dict) and field.kind != "free":
        return _format_object(field, value)
    return json.dumps(value, ensure_ascii=False)


def _format_object(field: Field, value: dict[str, Any]) -> str:
    """Return an object on one line: by its schema, as counts or flags, else as JSON."""
    if field.kind == "either":
        field = next(alternative for alternative in field.of if alternative.kind == "object")
    if field.kind == "object" and field.of.line is not None:
        return str(field.of.line(value))
    if is_counts(field):
        return ", ".join(f"{name.replace('_', ' ')} {part}" for name, part in value.items()) or "-"
    if field.kind == "object" and all(part.kind == "flag" for part in field.of.fields.values()):
        return ", ".join(name for name, part in value.items() if part) or "-"
    return json.dumps(value, ensure_ascii=False) if value else "-"


def is_counts(field: Field) -> bool:
    """Return True if a field is an object of numbers."""
    if field.kind == "map":
        return bool(field.of.kind == "integer")
    return field.kind == "object" and all(part.kind == "integer" for part in field.of.fields.values())


def wrap_text(text: str, width: int, *, indent: int = 0) -> list[str]:
    """Return a text in lines of at most `width` columns, all but the first indented; one line if there is no limit."""
    available = max(width - indent, 20)
    if not width or cells(text) <= available:
        return [text]
    lines, line = [], ""
    for word in text.split():
        if line and cells(line) + 1 + cells(word) > available:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    first, *other_lines = [*lines, line]
    return [first, *(" " * indent + part for part in other_lines)]


def printable(text: str, *, keep_lines: bool = False) -> str:
    """Return a text with control and invisible characters escaped, so that it cannot control a terminal."""
    allowed = "\n\t" if keep_lines else ""
    replaced = replace_invisible(text)
    return "".join(
        [character if character.isprintable() or character in allowed else "\ufffd" for character in replaced]
    )


def cells(text: str) -> int:
    """Return the number of terminal columns of a text."""
    if text.isascii():
        return len(text)
    text = strip_marks(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def _snippet(marked: str) -> Cell:
    """Return the cell of a snippet; its first hit, or else its beginning, must be visible."""
    beginning, *parts = _join_sections(marked).split("<b>")
    text = _plain(beginning)
    if not parts:
        return Cell(text)
    begin, end = len(text), 0
    for part in parts:
        hit, _, after = part.partition("</b>")
        text += f"{HIT}{_plain(hit)}{HIT_END}"
        end = end or len(text)
        text += _plain(after)
    return Cell(text, begin, end)


def _join_sections(marked: str) -> str:
    """Return a piece of Markdown on one line: each heading begins a new part, after a dot."""
    joined = ""
    is_heading = False
    for words in (line.split() for line in marked.splitlines() if line.strip()):
        heading, line = words[0].strip("#") == "" and len(words) > 1, " ".join(words)
        separator = ": " if is_heading else " \u00b7 " if heading else " "
        joined += (separator if joined else "") + (line.lstrip("# ") if heading else line)
        is_heading = heading
    return joined


def _plain(marked: str) -> str:
    for entity, character in _ENTITIES:
        marked = marked.replace(entity, character)
    return printable(marked)


def format_time(seconds: int) -> str:
    """Return a time in the local time zone."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return str(seconds)
