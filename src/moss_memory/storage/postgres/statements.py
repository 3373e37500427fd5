"""Translate SQL with `:name` parameters to PostgreSQL's `$1`, once for each text."""

from __future__ import annotations

import re

from moss_memory.storage.queries import Statement, load_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Parameters

_PARTS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|::|:([a-z_][a-z0-9_]*)")
"""Literals, comments and casts, which are left unchanged, and parameters."""
_INSERTED = re.compile(r"\s*insert into (\w+)(?: as \w+)? \(([^)]*)\)")
_CHANGED = re.compile(
    r"\b(?:insert into|update|delete from) "
    r"(?:capsules|artifacts|doc_entries|graph_versions|records|changed_documents)\b"
)
"""Changes of indexed tables, or of the queue of documents to index."""
_MOST_KEPT = 4000
_COUNTED = "row_id"
"""The identity column of tables, whose sequence has to be advanced if an insert sets it."""
_NOT_COUNTED = ("record_properties",)
"""Tables whose column of that name is a reference."""

OVERRIDES = load_overrides("postgres")
_known: dict[str, TranslatedSql] = {}


class TranslatedSql:
    """A statement with numbered parameters, and the names of the parameters in their order."""

    __slots__ = ("changes_documents", "counted_in", "names", "sql", "takes_numbers")

    def __init__(self, sql: str) -> None:
        self.names: list[str] = []
        numbers: dict[str, int] = {}

        def number_parameter(match: re.Match[str]) -> str:
            name = match[1]
            if name is None:
                return match[0]
            if name not in numbers:
                self.names.append(name)
                numbers[name] = len(self.names)
            return f"${numbers[name]}"

        self.sql = _PARTS.sub(number_parameter, sql)
        self.changes_documents = _CHANGED.search(sql) is not None
        self.takes_numbers = "take_numbers(" in sql
        """True if it takes numbers of a series, which are given back if the call fails."""
        self.counted_in = _counted_table(sql)
        """The table whose sequence has to be advanced because rows are inserted with their number; empty if none."""

    def values(self, parameters: Parameters | None) -> list[Any] | None:
        """Return the values of the parameters in their order."""
        names = self.names
        if not names or parameters is None:
            return None
        return [parameters[name] for name in names]


def translate_sql(sql: str) -> TranslatedSql:
    """Return the statement in PostgreSQL's syntax, translated or cached."""
    # Keyed by the text for PostgreSQL: two statements with different overrides may share their SQLite text.
    own = sql.for_engine(OVERRIDES) if isinstance(sql, Statement) else sql
    translated = _known.get(own)
    if translated is None:
        if len(_known) >= _MOST_KEPT:
            _known.clear()
        translated = _known[str(own)] = TranslatedSql(own)
    return translated


def expand_rows(sql: str, rows: list[Parameters]) -> tuple[str, list[Any]]:
    """Expand an insert of one row to many rows; return the statement and its values."""
    before, _, after = sql.partition("values")
    row, _, after = after.partition(")")
    names = [name.strip().removeprefix(":") for name in row.partition("(")[2].split(",")]
    width = len(names)
    marks = [
        "(" + ", ".join([f"${number + 1}" for number in range(start, start + width)]) + ")"
        for start in range(0, width * len(rows), width)
    ]
    return f"{before}values {', '.join(marks)}{after}", [parameters[name] for parameters in rows for name in names]


def _counted_table(sql: str) -> str:
    match = _INSERTED.match(sql)
    if match is None or match[1] in _NOT_COUNTED:
        return ""
    names = [name.strip() for name in match[2].split(",")]
    return match[1] if _COUNTED in names else ""
