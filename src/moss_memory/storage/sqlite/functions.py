"""SQL functions and bindings that the schema and the shared statements need."""

from __future__ import annotations

import json

import apsw

from moss_memory.search.tokens import to_bigrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add_functions(connection: apsw.Connection) -> None:
    """Register `moss_words`, which triggers and a view use, `greatest`, and the binding of lists as JSON."""
    # Innocuous: it has no side effect, so any schema may use it.
    flags = apsw.SQLITE_INNOCUOUS
    words: Any = to_bigrams
    connection.create_scalar_function("moss_words", words, 1, deterministic=True, flags=flags)
    connection.create_scalar_function("greatest", _greatest, deterministic=True)
    connection.convert_binding = _as_json


def _greatest(*values: Any) -> Any:
    return max((value for value in values if value is not None), default=None)


def _as_json(_: object, __: int, value: object) -> str:
    """Return a list as JSON for `sql_in`; apsw calls this only for values that SQLite cannot bind."""
    if not isinstance(value, list):
        raise TypeError(f"a {type(value).__name__} cannot be bound")
    return json.dumps(value, ensure_ascii=False)


def only_value(connection: apsw.Connection, sql: str) -> Any:
    """Return the first column of a statement's first row."""
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]
