"""The versions of a row as a plain list: what the documents say, for every family that has them."""

from __future__ import annotations

from typing import Any

from property.refused import DAY, RefusedError

KEEP = 4
DAYS = 3


def begin(row: dict[str, Any], now: int, tool: str, version: int = 1) -> None:
    """A row's first version in this store; nothing of it is kept from before."""
    row.update(version=version, at=now, tool=tool, old=[])


def go_on(row: dict[str, Any], content: tuple[str, ...], now: int, tool: str) -> None:
    """Keeps what a row holds, lets go of what is too old, and counts; the caller then changes the row."""
    was = {
        "version": row["version"],
        "at": row["at"],
        "tool": row["tool"],
        "superseded": max(row["at"], now),
        **{key: row[key] for key in content},
    }
    row["version"] += 1
    row["at"] = max(row["at"], now)
    row["tool"] = tool
    row["old"] = [
        one
        for one in [*row["old"], was]
        if one["superseded"] >= now - DAYS * DAY and one["version"] > row["version"] - KEEP
    ]


def all_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The row as it was in every version that is kept, newest first, the present one included."""
    past = [{**row, **{key: value for key, value in one.items() if key != "superseded"}} for one in row["old"]]
    return [row, *[{**one, "updated": one["at"]} for one in reversed(past)]]


def in_version(row: dict[str, Any], version: int) -> dict[str, Any]:
    """The row as it was in a version."""
    return _first([one for one in all_of(row) if one["version"] == version])


def at_time(row: dict[str, Any], as_of: int) -> dict[str, Any]:
    """The row as it was in the version that was current at a time."""
    return _first([one for one in all_of(row) if one["at"] <= as_of])


def _first(found: list[dict[str, Any]]) -> dict[str, Any]:
    if not found:
        raise RefusedError("NOT_FOUND")
    return found[0]
