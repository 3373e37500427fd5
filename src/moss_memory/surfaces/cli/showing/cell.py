"""What stands in one place of a table: a value in a few words; nothing in it can steer a terminal."""

from __future__ import annotations

import json
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FREE = ("meta", "data", "body", "payload", "properties", "contract", "arguments")
"""Objects whose names are not Moss's: they are shown as the JSON that they are."""

_ENTITIES = (("<b>", ""), ("</b>", ""), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&"))
_MORE = "\u2026"


class Cell:
    """What stands in one place of a table, and which part of it must be seen."""

    __slots__ = ("begin", "end", "text")

    def __init__(self, text: str, begin: int = 0, end: int = 0) -> None:
        self.text = text
        self.begin = begin
        self.end = end

    def fit(self, wide: int, *, right: bool = False) -> str:
        """The text in exactly this many columns, cut where it is long so that its part is still seen."""
        text = self.text
        if cells(text) > wide:
            text = self._around(wide)[: wide * 8]  # more would be cut off again, one character at a time
            if cells(text) > wide:
                while text and cells(text) > wide - 1:
                    text = text[:-1]
                text += _MORE
        space = " " * (wide - cells(text))
        return space + text if right else text + space

    def _around(self, wide: int) -> str:
        if cells(self.text[: self.end]) < wide:
            return self.text
        before = max(wide - (self.end - self.begin), 3) // 3
        return _MORE + self.text[max(self.begin - before, 0) :].lstrip()


def cell_of(key: str, value: Any) -> Cell:
    """A value as it is shown under a name."""
    if value is None:
        return Cell("-")
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int) and key.endswith(("_at", "_ms")):
        return Cell(_moment(value // 1000 if key.endswith("_ms") else value))
    if key == "file":
        path = printable(str(value))
        return Cell(path, path.rfind("/") + 1, len(path))
    if key == "snippet":
        return _snippet(str(value))
    if isinstance(value, dict):
        value = _object(key, value)
    if isinstance(value, str):
        return Cell(printable(" ".join(value.split())))
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return Cell(printable(", ".join(value)) or "-")
    return Cell(printable(json.dumps(value, ensure_ascii=False)))


def _object(key: str, value: dict[str, Any]) -> str:
    """What an object says in a line: a reference, an edge, counts, flags; the JSON of any other."""
    if key == "ref":
        return "/".join(str(part) for part in value.values())
    if key == "schema":
        return str(value.get("description", ""))
    if list(value) == ["from", "rel", "to"]:
        return "{from} -{rel}-> {to}".format(**value)
    if key in FREE:
        return json.dumps(value, ensure_ascii=False)
    if value and all(isinstance(part, bool) for part in value.values()):
        return ", ".join(name for name, part in value.items() if part) or "-"
    if value and all(type(part) is int for part in value.values()):
        return ", ".join(f"{name.replace('_', ' ')} {part}" for name, part in value.items())
    return json.dumps(value, ensure_ascii=False) if value else "-"


def wrapped(text: str, width: int, *, indent: int = 0) -> list[str]:
    """The text in lines of at most `width` columns, the further ones indented; one line where there is no limit."""
    room = max(width - indent, 20)
    if not width or cells(text) <= room:
        return [text]
    lines, line = [], ""
    for word in text.split():
        if line and cells(line) + 1 + cells(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    first, *more = [*lines, line]
    return [first, *(" " * indent + part for part in more)]


def printable(text: str, *, keep_lines: bool = False) -> str:
    """The text with control characters made visible, so that stored text cannot steer a terminal."""
    kept = "\n\t" if keep_lines else ""
    return "".join([character if character.isprintable() or character in kept else "\ufffd" for character in text])


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def _snippet(marked: str) -> Cell:
    """A snippet without its tags, with its first hit as the part to be seen, or else its beginning."""
    before, found, rest = " ".join(marked.split()).partition("<b>")
    if not found:
        return Cell(_plain(before))
    hit, _, after = rest.partition("</b>")
    before, hit, after = (_plain(part) for part in (before, hit, after))
    return Cell(before + hit + after, len(before), len(before) + len(hit))


def _plain(marked: str) -> str:
    for entity, character in _ENTITIES:
        marked = marked.replace(entity, character)
    return printable(marked)


def _moment(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return str(seconds)
