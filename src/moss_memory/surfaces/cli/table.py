"""Results as aligned columns for people; nothing in them can steer a terminal."""

from __future__ import annotations

import json
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COLUMNS = (
    ("name", "name"), ("workspace", "workspace"), ("type", "type"), ("kind", "kind"), ("title", "title"),
    ("capsule_chars", "chars"), ("chars", "chars"), ("updated_at", "updated"), ("snippet", "snippet"),
)  # fmt: skip
"""The columns of a listing, where its rows have them, and what stands above them."""

_LISTS = ("items", "results", "parts", "errors", "missing", "checks")
_TEXTS = ("capsule_text", "bundle_text")
_WIDEST = 60
_BEFORE_HIT = 25
_ENTITIES = (("<b>", ""), ("</b>", ""), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&"))


def table_of(result: dict[str, Any], *, width: int = 0) -> str:
    """A result as a table: lists as rows, the rest as names and values, long texts last and whole."""
    if list(result) == ["item"]:
        return table_of(result["item"], width=width) if result["item"] else "(nothing)"
    blocks = []
    plain = {key: value for key, value in result.items() if not _is_rows(key, value) and key not in _TEXTS}
    pagination = plain.pop("pagination", None)
    plain.pop("sort", None)
    if plain:
        blocks.append(_pairs(plain))
    for key, value in result.items():
        if _is_rows(key, value):
            listing = _rows(value, width)
            if key == "items" or value:
                blocks.append(listing if key == "items" else f"{key}:\n{listing}")
    if pagination:
        blocks.append(_page(result, pagination))
    blocks += [printable(result[key], keep_lines=True).rstrip("\n") for key in _TEXTS if key in result]
    return "\n\n".join(blocks)


def columns(rows: list[list[str]], *, width: int = 0) -> str:
    """Rows of cells, aligned; the widest column gives way when the terminal is narrower."""
    widths = [max(cells(row[index]) for row in rows) for index in range(len(rows[0]))]
    widths = [min(wide, _WIDEST) for wide in widths]
    while width and sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in rows:
        shown = [_fit(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        lines.append("  ".join(shown).rstrip())
    return "\n".join(lines)


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
    chosen = [(key, title) for key, title in COLUMNS if any(key in item for item in items)]
    if not any(key == "name" for key, _ in chosen) or any("name" not in item for item in items):
        chosen = [*chosen, *([("id", "id")] if any("id" in item for item in items) else [])]
    if not chosen:
        chosen = [(key, key) for key in dict.fromkeys(key for item in items for key in item)]
    header = [title for _, title in chosen]
    body = [[_cell(key, item.get(key)) for key, _ in chosen] for item in items]
    return columns([header, *body], width=width)


def _pairs(values: dict[str, Any]) -> str:
    column = max(len(key) for key in values)
    return "\n".join([f"{key:<{column}}  {_cell(key, value)}" for key, value in values.items()])


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int) and not isinstance(value, bool) and key.endswith("_at"):
        return _moment(value)
    if key == "snippet":
        hit = value.find("<b>")
        if hit > _BEFORE_HIT:
            value = "\u2026" + value[hit - _BEFORE_HIT :]
        for entity, character in _ENTITIES:
            value = value.replace(entity, character)
    if isinstance(value, str):
        return printable(" ".join(value.split()))
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return printable(", ".join(value)) or "-"
    return printable(json.dumps(value, ensure_ascii=False))


def _moment(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return str(seconds)


def _fit(text: str, wide: int) -> str:
    if cells(text) > wide:
        while text and cells(text) > wide - 1:
            text = text[:-1]
        text += "\u2026"
    return text + " " * (wide - cells(text))


def _page(result: dict[str, Any], pagination: dict[str, Any]) -> str:
    shown = len(result.get("items", ()))
    total = pagination.get("total")
    said = f"{shown} of {total}" if total is not None else f"{shown} shown"
    if pagination.get("has_more") and "offset" in pagination:
        said += f"; more with --offset {pagination['offset'] + shown}"
    return said
