"""Results as aligned columns for people; nothing in them can steer a terminal."""

from __future__ import annotations

import json
import time

from .columns import Column, columns_for, share_width
from .output import TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LISTS = ("items", "results", "parts", "errors", "missing", "checks", "kinds")
_NOISE = ("fetch_key", "workspace_norm", "name_norm")
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
            text = self._around(wide)
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


def table_of(result: dict[str, Any], *, width: int = 0) -> str:
    """A result as a table: lists as rows, the rest as names and values, long texts last and whole."""
    if list(result) == ["item"]:
        return table_of(result["item"], width=width) if result["item"] else "(nothing)"
    blocks = []
    plain = {key: value for key, value in result.items() if not _is_rows(key, value) and key not in TEXTS}
    pagination = plain.pop("pagination", None)
    plain.pop("sort", None)
    if plain:
        blocks.append(_pairs(plain, width))
    for key, value in result.items():
        if _is_rows(key, value):
            listing = _rows(value, width)
            if key == "items" or value:
                blocks.append(listing if key == "items" else f"{key}:\n{listing}")
    if pagination:
        blocks.append(_page(result, pagination))
    blocks += [printable(result[key], keep_lines=True).rstrip("\n") for key in TEXTS if result.get(key)]
    return "\n\n".join(blocks)


def aligned(columns: list[Column], rows: list[list[Cell]], *, width: int = 0) -> str:
    """Rows of cells under their titles, no wider than the terminal."""
    lines = [[Cell(column.title) for column in columns], *rows]
    needed = [max(cells(line[index].text) for line in lines) for index in range(len(columns))]
    widths = share_width(columns, needed, width)
    shown = []
    for line in lines:
        parts = [
            cell.fit(wide, right=column.right) for cell, wide, column in zip(line, widths, columns, strict=True) if wide
        ]
        shown.append("  ".join(parts).rstrip())
    return "\n".join(shown)


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


def _is_rows(key: str, value: Any) -> bool:
    return key in _LISTS and isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _rows(found: list[dict[str, Any]], width: int) -> str:
    if not found:
        return "(nothing)"
    items = [{**item.get("address", {}), **item} for item in found]
    columns = columns_for(items)
    return aligned(columns, [[_cell(column.key, item.get(column.key)) for column in columns] for item in items],
                   width=width)  # fmt: skip


def _pairs(values: dict[str, Any], width: int) -> str:
    """Names and values, one a line, without what is empty or said twice."""
    key_of = values.get("fetch_key") or {}
    named = {"name": key_of.get("moss_capsule"), "workspace": key_of.get("moss_workspace")}
    shown = {key: value for key, value in values.items() if key not in _NOISE and value is not None}
    shown |= {key: value for key, value in named.items() if value is not None and key not in values}
    column = max((len(key) for key in shown), default=0) + 2
    lines = []
    for key, value in shown.items():
        first, *more = wrapped(_cell(key, value).text, width, indent=column)
        lines += [f"{key:<{column}}{first}", *more]
    return "\n".join(lines)


def _cell(key: str, value: Any) -> Cell:
    if value is None:
        return Cell("-")
    if isinstance(value, int) and not isinstance(value, bool) and key.endswith("_at"):
        return Cell(_moment(value))
    if key == "snippet":
        return _snippet(str(value))
    if key == "ref" and isinstance(value, dict):
        return Cell(printable("/".join(str(part) for part in value.values())))
    if key == "schema" and isinstance(value, dict):
        value = value.get("description", "")
    if isinstance(value, str):
        return Cell(printable(" ".join(value.split())))
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return Cell(printable(", ".join(value)) or "-")
    return Cell(printable(json.dumps(value, ensure_ascii=False)))


def _snippet(marked: str) -> Cell:
    """A snippet without its tags, with its first hit as the part to be seen."""
    before, _, rest = " ".join(marked.split()).partition("<b>")
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


def _page(result: dict[str, Any], pagination: dict[str, Any]) -> str:
    shown = len(result.get("items", ()))
    total = pagination.get("total")
    said = f"{shown} of {total}" if total is not None else f"{shown} shown"
    if pagination.get("has_more") and "offset" in pagination:
        said += f"; more with --offset {pagination['offset'] + shown}"
    return said
