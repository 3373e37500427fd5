"""Statements of the rooms as PostgreSQL takes them: `:name` becomes `$1`, once for each text."""

from __future__ import annotations

import re

from moss_memory.storage.queries import Statement, load_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Parameters

_PARTS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|::|:([a-z_][a-z0-9_]*)")
"""What a colon may stand in: texts, comments and casts are passed by; the rest are parameters."""
_INSERTED = re.compile(r"\s*insert into (\w+)(?: as \w+)? \(([^)]*)\)")
_CHANGED = re.compile(
    r"\b(?:insert into|update|delete from) "
    r"(?:capsules|artifacts|doc_entries|graph_versions|records|changed_documents)\b"
)
"""What changes the tables that are searched, or says of documents that they are to be indexed anew."""
_MOST_KEPT = 4000
_COUNTED = "row_id"
"""The column that PostgreSQL counts by itself, wherever a table has it and no value is given."""
_NOT_COUNTED = ("record_properties",)
"""Tables where a column of that name refers to another's."""

OVERRIDES = load_overrides("postgres")
_known: dict[str, TranslatedSql] = {}


class TranslatedSql:
    """A statement with numbered parameters, and the names of what is bound to them, in their order."""

    __slots__ = ("changes_documents", "counted_in", "names", "sql", "takes_numbers")

    def __init__(self, sql: str) -> None:
        self.names: list[str] = []
        places: dict[str, int] = {}

        def numbered(found: re.Match[str]) -> str:
            name = found[1]
            if name is None:
                return found[0]
            if name not in places:
                self.names.append(name)
                places[name] = len(self.names)
            return f"${places[name]}"

        self.sql = _PARTS.sub(numbered, sql)
        self.changes_documents = _CHANGED.search(sql) is not None
        self.takes_numbers = "take_numbers(" in sql
        """Whether its answer is the last of some numbers, which are given back where the call fails."""
        self.counted_in = _counted_table(sql)
        """The table into which it inserts rows with numbers of their own, after which counting has to go on."""

    def values(self, parameters: Parameters | None) -> list[Any] | None:
        """What is bound, in the order of its places."""
        names = self.names
        if not names or parameters is None:
            return None
        return [parameters[name] for name in names]


def translated(sql: str) -> TranslatedSql:
    """The statement as PostgreSQL takes it."""
    # By its own words: another statement may have the words that this one has on other engines.
    own = sql.for_engine(OVERRIDES) if isinstance(sql, Statement) else sql
    found = _known.get(own)
    if found is None:
        if len(_known) >= _MOST_KEPT:
            _known.clear()
        found = _known[str(own)] = TranslatedSql(own)
    return found


def for_rows(sql: str, rows: list[Parameters]) -> tuple[str, list[Any]]:
    """An insert that is written for one row, for many of them, and what is bound."""
    before, _, after = sql.partition("values")
    row, _, after = after.partition(")")
    names = [name.strip().removeprefix(":") for name in row.partition("(")[2].split(",")]
    width = len(names)
    marks = [
        "(" + ", ".join([f"${place + 1}" for place in range(start, start + width)]) + ")"
        for start in range(0, width * len(rows), width)
    ]
    return f"{before}values {', '.join(marks)}{after}", [parameters[name] for parameters in rows for name in names]


def _counted_table(sql: str) -> str:
    found = _INSERTED.match(sql)
    if found is None or found[1] in _NOT_COUNTED:
        return ""
    names = [name.strip() for name in found[2].split(",")]
    return found[1] if _COUNTED in names else ""
