"""Read small JSON files that a user may add to a folder."""

from __future__ import annotations

import json
import os

from moss_memory.registry.decode import check_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MEGABYTE = 1_000_000


def json_files(folder: str) -> list[str]:
    """Return the sorted names of the JSON files in a folder; empty if there is no such folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".json") and not name.startswith("."))
    except OSError:
        return []  # most homes have no such folder


def read_object(path: str, *, what: str, max_bytes: int = MEGABYTE) -> dict[str, Any]:
    """Return the JSON object in a file; raise ValueError or `INVALID_REQUEST` with the reason if there is none."""
    value = read_json(path, what=what, max_bytes=max_bytes)
    if not isinstance(value, dict):
        raise ValueError(f"it does not hold a {what} object")
    return value


def read_json(path: str, *, what: str, max_bytes: int = MEGABYTE) -> Any:
    """Return the JSON value in a file; raise as `read_object` does."""
    if not os.path.isfile(path) or os.path.getsize(path) > max_bytes:
        raise ValueError(f"it is not a plain file of at most {max_bytes // MEGABYTE} MB")
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"it cannot be read as JSON ({error})") from None
    check_json(value, "schema" if what == "JSON Schema" else what)
    return value


def shown_path(path: str) -> str:
    """Return a path for messages, with undecodable bytes replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
