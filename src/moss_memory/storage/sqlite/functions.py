"""What a connection must know beyond SQL: how the index sees a text."""

from __future__ import annotations

import apsw

from ...query.pairs import spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prepare(connection: apsw.Connection) -> None:
    """Makes a connection fit for the schema, whose triggers and view use `moss_words`."""
    # Innocuous: it only looks at its argument, so the schema may use it whoever made the schema.
    flags = apsw.SQLITE_INNOCUOUS
    words: Any = spaced
    connection.create_scalar_function("moss_words", words, 1, deterministic=True, flags=flags)
