"""Results as aligned columns for people; nothing in them can steer a terminal."""

from __future__ import annotations

from .cell import Cell, cell_of, cells, printable
from .columns import Column, columns_for, share_width
from .output import TEXTS
from .pairs import pairs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANSWERS = (
    "items", "entries", "commits", "branches", "tags", "docs", "nodes", "changes", "conflicts", "cards", "pins",
    "events", "records", "entities", "capabilities",
)  # fmt: skip
"""Lists that are what was asked for: when they are empty, that is the answer."""

_LISTS = (
    *_ANSWERS, "results", "parts", "errors", "missing", "checks", "kinds", "edges", "candidates", "groups", "steps",
    "failed", "problems",
)  # fmt: skip
_WRAPPED = ("item", "entry", "branch", "tag", "conflict", "candidate", "event")
"""Where an answer keeps its one thing; it is shown as if it were the answer."""

_SIDES = ("base", "theirs", "ours")
_REMARKS = ("degraded", "pending")
"""What a search says of itself; the last lines put it into words."""


def table_of(result: dict[str, Any], *, width: int = 0) -> str:
    """A result as a table: lists as rows, the rest as names and values, long texts last and whole."""
    if list(result) == ["item"]:
        return table_of(result["item"], width=width) if result["item"] else "(nothing)"
    result = _unwrapped(result)
    lists = {key: value for key, value in result.items() if _is_rows(key, value)}
    parts = {key: value for key, value in result.items() if isinstance(value, dict) and "pagination" in value}
    apart = {*lists, *parts, *TEXTS, "pagination", "sort", *(_SIDES if _is_conflict(result) else ())}
    apart.update(_REMARKS if "pagination" in result else ())
    plain = {key: value for key, value in result.items() if key not in apart}
    blocks = [pairs_of(plain, width)] if plain else []
    alone = len([*lists, *parts]) == 1
    for key, value in lists.items():
        if value or key in _ANSWERS:
            listing = _listing(key, value, width)
            blocks.append(listing if alone and key in _ANSWERS else f"{key}:\n{listing}")
    for entity in result.get("entities", ()):
        if entity.get("provenance"):
            from .records import sources_table

            blocks.append(sources_table(entity, width))
    if _is_conflict(result):
        blocks.append(_sides(result, width))
    blocks += [f"{key}:\n{table_of(value, width=width)}" for key, value in parts.items()]
    if result.get("pagination") and (lists or result["pagination"].get("has_more")):
        blocks.append(_page(result, result["pagination"]))
    blocks += [printable(result[key], keep_lines=True).rstrip("\n") for key in TEXTS if result.get(key)]
    return "\n\n".join(block for block in blocks if block)


def _unwrapped(result: dict[str, Any]) -> dict[str, Any]:
    """The answer with its one thing as parts of itself, and without a `truncated` that says nothing."""
    shown: dict[str, Any] = {}
    for key, value in result.items():
        if key in _WRAPPED and isinstance(value, dict):
            shown |= {**value, **shown}
        elif key != "truncated" or value:
            shown[key] = value
    return shown


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


def _is_rows(key: str, value: Any) -> bool:
    return key in _LISTS and isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _is_conflict(result: dict[str, Any]) -> bool:
    return all(key in result for key in _SIDES)


def _sides(conflict: dict[str, Any], width: int) -> str:
    """What each side of a conflict says, field by field."""
    sides = [conflict[side] or {} for side in _SIDES]
    known = dict.fromkeys(key for side in sides for key in side if not key.startswith("last_"))
    fields = [key for key in known if key not in ("id", "from", "rel", "to") and any(side.get(key) for side in sides)]
    columns = [Column("field"), *(Column(side, least=10) for side in _SIDES)]
    rows = [[Cell(key), *(cell_of(key, side.get(key)) for side in sides)] for key in fields]
    return aligned(columns, rows, width=width) if rows else ""


def _listing(key: str, found: list[dict[str, Any]], width: int) -> str:
    if key == "capabilities":
        from .records import capabilities_table

        return capabilities_table(found, width)
    return _rows(found, width)


def _rows(found: list[dict[str, Any]], width: int) -> str:
    if not found:
        return "(nothing)"
    items = [_flat(item) for item in found]
    columns = columns_for(items)
    return aligned(columns, [[cell_of(column.key, item.get(column.key)) for column in columns] for item in items],
                   width=width)  # fmt: skip


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    """A row with what its parts hold: a hit's address, and the state that a change leads to."""
    if isinstance(item.get("to"), dict) and "kind" in item:
        state = item["to"]
        named = {"key": item.get("key", item.get("id")), "change": "deleted" if state.get("deleted") else "changed"}
        return {**{key: state.get(key) for key in ("type", "status", "title")}, "kind": item["kind"], **named}
    if "properties" in item or "snapshot" in item:
        from moss_memory.record.glance import row_of

        return row_of(item)
    untitled = {"title": item["text"]} if item.get("text") and "title" not in item else {}
    return {**item.get("address", {}), **item, **untitled}


def _page(result: dict[str, Any], pagination: dict[str, Any]) -> str:
    listed = next((result[key] for key in _ANSWERS if isinstance(result.get(key), list)), ())
    shown = pagination["count"] if "count" in pagination else len(listed)
    total = pagination.get("total")
    said = f"{shown} of {total}" if total is not None else f"{shown} shown"
    if pagination.get("has_more") and "offset" in pagination:
        said += f"; more with --offset {pagination['offset'] + shown}"
    elif pagination.get("has_more"):
        said += f"; more with --cursor {pagination['next_cursor']}"
    if result.get("degraded"):
        said += "\nby words alone; `moss doctor` says how to search by meaning too"
    if result.get("pending"):
        said += f"\n{result['pending']} more are found by their words alone; `moss index` prepares them"
    return said
