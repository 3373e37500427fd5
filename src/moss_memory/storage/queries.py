"""Named SQL: a room keeps its statements in `queries.sql`, each under a line `-- name: …`.

They are written once, in the stricter SQL that SQLite and PostgreSQL share: `greatest` for the larger of two, an alias
for every subquery, no reserved word as a name, a cast where nothing else tells the type of a parameter. A statement
that takes its filters or lists of columns from a call has gaps, `{where}`, which `filled` fills with SQL.

Where one engine has to say a statement in another way, a file beside the room's, `queries.<engine>.sql`, holds it under
the same name with the same gaps; `load_overrides` reads these files, and `for_engine` chooses.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Statement(str):
    """The SQL of one statement, with the name that it has in its room."""

    __slots__ = ("gaps", "key")

    key: str
    """The room and the name, as in `capsule.insert`."""
    gaps: dict[str, str]
    """What its gaps were filled with."""

    def __new__(cls, sql: str, key: str, gaps: dict[str, str] | None = None) -> Statement:
        statement = super().__new__(cls, _filled(sql, gaps or {}))
        statement.key = key
        statement.gaps = gaps or {}
        return statement

    def filled(self, **gaps: str) -> Statement:
        """The statement with SQL in its gaps; it still knows its name."""
        return Statement(self, self.key, gaps)

    def for_engine(self, overrides: Mapping[str, str]) -> str:
        """What an engine with these overrides says instead: the same unless it has its own words."""
        own = overrides.get(self.key)
        return self if own is None else _filled(own, self.gaps)


def load_queries(room: str) -> dict[str, Statement]:
    """The statements of a room by name, given any file of that room."""
    folder = os.path.dirname(os.path.abspath(room))
    named = _read(os.path.join(folder, "queries.sql"))
    return {name: Statement(sql, f"{os.path.basename(folder)}.{name}") for name, sql in named.items()}


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


def _filled(sql: str, gaps: dict[str, str]) -> str:
    for name, part in gaps.items():
        sql = sql.replace(f"{{{name}}}", part)
    return sql
