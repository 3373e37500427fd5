"""Check that a database has exactly the schema that the migrations make.

A trigger runs with every write and a view with every read, so neither may be one that Moss did not make.
"""

from __future__ import annotations

import os
import re

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .functions import add_functions
from .schema_migrations import migrations_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Difference = dict[str, str]

KNOWN = os.path.join(os.path.dirname(__file__), "schema.txt")
"""The schema of a store of the newest version as `schema_text` returns it; `make docs` writes it."""
_STATISTICS = (
    "table sqlite_stat1 sqlite_stat1 CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "table sqlite_stat4 sqlite_stat4 CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
)
"""Tables that `analyze` makes: they change only query plans."""
_LINES = (
    "select coalesce(type, '') as type, coalesce(name, '') as name, coalesce(type, '') || ' ' || coalesce(name, '') ||"
    " ' ' || coalesce(tbl_name, '') || ' ' || coalesce(sql, '') as line from main.sqlite_schema order by 1, 2"
)
_TEXT = f"select group_concat(line, char(10)) from ({_LINES}) where line not in (?, ?)"
_OBJECTS = f"select type, name, line from ({_LINES}) where line not in (?, ?)"
_TOKENS = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|/\*.*?\*/|--[^\n]*|\w+|[^\s\w]""", re.DOTALL)
"""Quoted text, comments, words and signs: the tokens of a definition."""
_MAX_SHOWN = 5


def schema_text(connection: apsw.Connection) -> str:
    """Return all definitions of a database as one text."""
    row: Any = connection.execute(_TEXT, _STATISTICS).fetchone()
    return row[0] or ""


def check_schema(connection: apsw.Connection, version: int, path: str) -> None:
    """Refuse a database whose schema is not the one of this version."""
    differing = differences(connection, version)
    if differing:
        raise foreign_schema(path, differing)


def differences(connection: apsw.Connection, version: int) -> list[Difference]:
    """List each object of the schema that is foreign, changed or missing."""
    try:
        if version == SCHEMA_VERSION and schema_text(connection) == _known_text():
            return []
        objects = _objects(connection)
    except UnicodeDecodeError:
        return [{"type": "schema", "name": "", "difference": "not text"}]
    expected = _expected(version)
    return [
        {"type": kind, "name": name, "difference": difference}
        for (kind, name), difference in _compare(objects, expected).items()
    ]


def foreign_schema(path: str, found: list[Difference], *, todo: str = "") -> MossError:
    """Return the refusal of a database, with the names of the foreign objects."""
    shown = ", ".join([f"{entry['type']} {entry['name']!r} ({entry['difference']})" for entry in found[:_MAX_SHOWN]])
    suffix = f" and {len(found) - _MAX_SHOWN} more" if len(found) > _MAX_SHOWN else ""
    todo = todo or (
        "Nothing was read or written. `moss restore-backup` brings back a copy, and `moss export --salvage FOLDER` "
        "writes the rows without what is foreign"
    )
    return MossError(
        "STORAGE_CORRUPT",
        f"the schema of {path} is not the one that Moss made: {shown}{suffix}. {todo}",
        details={"file": path, "schema": found[:100]},
    )


def _known_text() -> str:
    with open(KNOWN, encoding="utf-8", newline="") as file:
        return file.read()


def _objects(connection: apsw.Connection) -> dict[tuple[str, str], str]:
    """Return the normal form of each definition by type and name; two of the same name make a third."""
    definitions: dict[tuple[str, str], str] = {}
    rows: list[Any] = connection.execute(_OBJECTS, _STATISTICS).fetchall()
    for kind, name, line in rows:
        definitions[kind, name] = definitions.get((kind, name), "") + _normalize(line)
    return definitions


def _expected(version: int) -> dict[tuple[str, str], str]:
    """Return the objects that the migrations up to this version make, as this SQLite writes them."""
    connection = apsw.Connection(":memory:")
    try:
        add_functions(connection)
        for number, sql in migrations_after(0):
            if number <= version:
                for _ in connection.execute(sql):
                    pass
        return _objects(connection)
    finally:
        connection.close()


def _compare(objects: dict[tuple[str, str], str], expected: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    different = {key: "foreign" for key in objects if key not in expected}
    different |= {key: "changed" for key, line in objects.items() if key in expected and line != expected[key]}
    return different | {key: "missing" for key in expected if key not in objects}


def _normalize(line: str) -> str:
    """Return a definition without space and line comments; quoted text stays unchanged."""
    return " ".join([token for token in _TOKENS.findall(line) if not token.startswith("--")])
