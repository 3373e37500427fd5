"""Words as the index sees them: folded, without diacritics, and their English stems.

The tokenizer is SQLite's own, so that a word here and a word in the index can never disagree.
"""

from __future__ import annotations

import functools

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

UNICODE = ("unicode61", "remove_diacritics", "2")
"""How the index cuts text into words; the migration that creates it says the same."""

STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be been being but by can could did do does doing for from had has have
    having he her here his how i if in into is it its just ll may me might my no nor not of on or our re s shall she
    should so some such t than that the their them then there these they this those to too us ve very was we were
    what when where which while who whom whose why will with would you your
    """.split()  # noqa: SIM905
)
"""Words that say nothing about what is looked for, and the endings an apostrophe leaves behind."""


def words_in(text: str) -> list[str]:
    """The words of a text in order, as the index stores them."""
    found: list[str] = _tokenizers()[0](
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return found


def places_in(data: bytes) -> list[tuple[int, int, str]]:
    """Every word of a UTF-8 text with the bytes it spans: `(start, end, word)`."""
    found: list[tuple[int, int, str]] = _tokenizers()[0](
        data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False
    )
    return found


def stems_of(words: Iterable[str]) -> list[str]:
    """The stem of each word, in order; one that ends in i is written with y, so that deploy and deployment agree."""
    found: list[str] = _tokenizers()[1](
        " ".join(words).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return [stem[:-1] + "y" if stem[-1] == "i" else stem for stem in found]


@functools.cache
def _tokenizers() -> tuple[Any, Any]:
    connection = apsw.Connection(":memory:")
    name, *options = UNICODE
    return connection.fts5_tokenizer(name, options), connection.fts5_tokenizer("porter", [*UNICODE])
