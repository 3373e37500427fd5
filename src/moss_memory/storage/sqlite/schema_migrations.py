"""The numbered SQL files that make and change the schema."""

from __future__ import annotations

import os

from moss_memory.storage.schema_version import SCHEMA_VERSION as SCHEMA_VERSION

_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def migrations_after(version: int) -> list[tuple[int, str]]:
    """Return the migrations after the version as (number, SQL), oldest first."""
    found = []
    for name in sorted(os.listdir(_FOLDER)):
        number = int(name.partition("_")[0])
        if number > version:
            with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
                found.append((number, file.read()))
    return found
