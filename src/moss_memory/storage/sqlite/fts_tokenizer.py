"""SQLite's own tokenizers, so that queries and index always produce the same words.

It imports nothing else of Moss. Other modules import it as `storage/tokenizer.py`.
"""

from __future__ import annotations

import functools

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

UNICODE = ("unicode61", "remove_diacritics", "2")
"""The tokenizer of the index; the migration that creates the index has the same settings."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, folded and without diacritics."""
    found: list[str] = _tokenizers()[0](
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return found


def word_spans(data: bytes) -> list[tuple[int, int, str]]:
    """Return every word of a text with its byte range: `(start, end, word)`."""
    found: list[tuple[int, int, str]] = _tokenizers()[0](
        data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False
    )
    return found


def porter_stems(words: Iterable[str]) -> list[str]:
    """Return the English stem of each word, in order."""
    found: list[str] = _tokenizers()[1](
        " ".join(words).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return found


@functools.cache
def _tokenizers() -> tuple[Any, Any]:
    connection = apsw.Connection(":memory:")
    name, *options = UNICODE
    return connection.fts5_tokenizer(name, options), connection.fts5_tokenizer("porter", [*UNICODE])
