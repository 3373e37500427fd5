"""What a connection must know beyond SQL: how the index sees a text, and what rooms write for every engine."""

from __future__ import annotations

import json

import apsw

from moss_memory.search.cjk import to_bigrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prepare(connection: apsw.Connection) -> None:
    """Makes a connection fit for the schema, whose triggers and view use `moss_words`, and for the rooms' statements.

    These use `greatest` and bind lists as they are.
    """
    # Innocuous: it only looks at its argument, so the schema may use it whoever made the schema.
    flags = apsw.SQLITE_INNOCUOUS
    words: Any = to_bigrams
    connection.create_scalar_function("moss_words", words, 1, deterministic=True, flags=flags)
    connection.create_scalar_function("greatest", _greatest, deterministic=True)
    connection.convert_binding = _as_json


def _greatest(*values: Any) -> Any:
    return max((value for value in values if value is not None), default=None)


def _as_json(_: object, __: int, value: object) -> str:
    """A list as `sql_in` reads it; apsw asks for nothing that SQLite itself can bind."""
    if not isinstance(value, list):
        raise TypeError(f"a {type(value).__name__} cannot be bound")
    return json.dumps(value, ensure_ascii=False)
