"""Named SQL: a package keeps its statements in `queries.sql`, each below a line `-- name: …`.

They are written once, in the stricter SQL that SQLite and PostgreSQL share: `greatest` for the larger of two, an alias
for every subquery, no reserved word as a name, a cast if nothing else determines the type of a parameter. A statement
with filters or columns of a call has gaps, `{where}`, which `filled` fills with SQL.

If an engine needs another statement, a file beside the package's, `queries.<engine>.sql`, contains it under the same
name with the same gaps; `load_overrides` reads these files, and `for_engine` selects.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Statement(str):
    """The SQL of one statement, with its name and package."""

    __slots__ = ("gaps", "key")

    key: str
    """The package and the name, as in `capsule.insert`."""
    gaps: dict[str, str]
    """The SQL in its gaps."""

    def __new__(cls, sql: str, key: str, gaps: dict[str, str] | None = None) -> Statement:
        statement = super().__new__(cls, _fill(sql, gaps or {}))
        statement.key = key
        statement.gaps = gaps or {}
        return statement

    def filled(self, **gaps: str) -> Statement:
        """Return the statement with SQL in its gaps; it keeps its name."""
        return Statement(self, self.key, gaps)

    def for_engine(self, overrides: Mapping[str, str]) -> str:
        """Return the statement for an engine with these overrides; itself if none applies."""
        own = overrides.get(self.key)
        return self if own is None else _fill(own, self.gaps)


def load_queries(file: str) -> dict[str, Statement]:
    """Return the statements of a package by name, given any file of that package."""
    folder = os.path.dirname(os.path.abspath(file))
    statements = _read(os.path.join(folder, "queries.sql"))
    return {name: Statement(sql, f"{os.path.basename(folder)}.{name}") for name, sql in statements.items()}


def load_overrides(engine: str, root: str = _PACKAGE) -> dict[str, str]:
    """Return the statements that an engine overrides, by key; raise if one overrides nothing."""
    overrides: dict[str, str] = {}
    for folder, _, files in sorted(os.walk(root)):
        if f"queries.{engine}.sql" in files:
            path = os.path.join(folder, f"queries.{engine}.sql")
            own = _read(path)
            unknown = sorted(own.keys() - _read(os.path.join(folder, "queries.sql")).keys())
            if unknown:
                raise ValueError(f"{path} overrides statements that queries.sql does not have: {', '.join(unknown)}")
            overrides.update((f"{os.path.basename(folder)}.{name}", sql) for name, sql in own.items())
    return overrides


def _read(path: str) -> dict[str, str]:
    with open(path, encoding="utf-8") as file:
        parts = file.read().split("-- name: ")
    queries = {}
    for part in parts[1:]:
        name, _, body = part.partition("\n")
        lines = [line for line in body.split("\n") if not line.startswith("--")]
        queries[name.strip()] = "\n".join(lines).strip().rstrip(";")
    return queries


def _fill(sql: str, gaps: dict[str, str]) -> str:
    for name, part in gaps.items():
        sql = sql.replace(f"{{{name}}}", part)
    return sql
