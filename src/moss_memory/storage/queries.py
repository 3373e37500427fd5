"""Named SQL: a room keeps its statements in `queries.sql`, each under a line `-- name: …`."""

from __future__ import annotations

import os


def load_queries(room: str) -> dict[str, str]:
    """The statements of a room by name, given any file of that room."""
    with open(os.path.join(os.path.dirname(room), "queries.sql"), encoding="utf-8") as file:
        parts = file.read().split("-- name: ")
    queries = {}
    for part in parts[1:]:
        name, _, body = part.partition("\n")
        lines = [line for line in body.split("\n") if not line.startswith("--")]
        queries[name.strip()] = "\n".join(lines).strip().rstrip(";")
    return queries
