"""bm25 exactly as FTS5 reckons it, from the texts of a few documents instead of a walk through the index.

FTS5 walks every document of every word to learn how rare each is, and then again to reach the few that are asked
about. The words' counts are known by then, so reading the few texts is quicker.
"""

from __future__ import annotations

import math

from ...query.words import words_in
from .scope import json_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import apsw

    from ...families import Source

TITLE_WEIGHT = 5.0
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6


class Collection:
    """What bm25 must know of the whole index: how many documents it holds and how long they are."""

    __slots__ = ("average", "connection", "rows")

    def __init__(self, connection: apsw.Connection) -> None:
        found: Any = connection.execute("select block from search_index_data where id = 1").fetchall()
        self.connection = connection
        self.rows, *tokens = numbers_in(found[0][0])
        self.average = sum(tokens) / self.rows if self.rows else 0.0

    def idf(self, docs: int) -> float:
        """How much a word says that so many documents hold."""
        idf = math.log((self.rows - docs + 0.5) / (docs + 0.5))
        return idf if idf > 0 else _LEAST_IDF

    def part(self, held: float, length: float) -> float:
        """What a word adds, for an idf of one, to a document of that many tokens which holds it so often."""
        return (held * (_K1 + 1.0)) / (held + _K1 * (1 - _B + _B * length / self.average))

    def lengths(self, docs: Iterable[int]) -> dict[int, int]:
        """The tokens in each document."""
        sql = "select id, sz from search_index_docsize where id in (select value from json_each(?))"
        found: Any = self.connection.execute(sql, (json_list(docs),))
        return {doc: sum(numbers_in(size)) for doc, size in found}

    def scores(
        self, forms: Sequence[tuple[str, int]], lengths: dict[int, int], sources: Sequence[Source]
    ) -> list[tuple[int, float]]:
        """The score of each document, given its length, for the forms with how many documents hold each."""
        weights = [(form, self.idf(docs)) for form, docs in forms]
        asked = frozenset(form for form, _ in forms).__contains__
        scored = []
        for source in sources:
            rows = json_list(doc >> 4 for doc in lengths if doc & 15 == source.code)
            sql = (
                f"select row_id * 16 + {source.code}, {source.title}, {source.body} from {source.table}"
                " where row_id in (select value from json_each(?))"
            )
            for doc, title, body in self.connection.execute(sql, (rows,)):
                titled, written = (list(filter(asked, words_in(text or ""))) for text in (title, body))
                score = 0.0
                for form, idf in weights:
                    if held := TITLE_WEIGHT * titled.count(form) + written.count(form):
                        score += idf * self.part(held, lengths[doc])
                scored.append((doc, score))
        return scored


def numbers_in(block: bytes) -> list[int]:
    """The numbers that FTS5 wrote one after another, seven bits a byte, all but a number's last byte marked."""
    found, number = [], 0
    for byte in block:
        number = number << 7 | byte & 127
        if byte < 128:
            found.append(number)
            number = 0
    return found
