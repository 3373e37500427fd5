"""A plain-Python model of the versions of a row, for every family that has them."""

from __future__ import annotations

from typing import Any

from property.refused import DAY, RefusedError

KEEP = 4
DAYS = 3


def begin(row: dict[str, Any], now: int, tool: str, version: int = 1) -> None:
    """Start the history of a row in this store."""
    row.update(version=version, at=now, tool=tool, old=[])


def go_on(row: dict[str, Any], content: tuple[str, ...], now: int, tool: str) -> None:
    """Keep the current version, drop expired ones, and increment the number; the caller then changes the row."""
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


def versions_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the row in every kept version, newest first, including the current one."""
    past = [{**row, **{key: value for key, value in one.items() if key != "superseded"}} for one in row["old"]]
    return [row, *[{**one, "updated": one["at"]} for one in reversed(past)]]


def in_version(row: dict[str, Any], version: int) -> dict[str, Any]:
    return _first([one for one in versions_of(row) if one["version"] == version])


def at_time(row: dict[str, Any], as_of: int) -> dict[str, Any]:
    """Return the row in the version that was current at a time."""
    return _first([one for one in versions_of(row) if one["at"] <= as_of])


def _first(found: list[dict[str, Any]]) -> dict[str, Any]:
    if not found:
        raise RefusedError("NOT_FOUND")
    return found[0]
