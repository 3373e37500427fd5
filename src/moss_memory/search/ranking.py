"""Ranking that all engines share: the weights of words, their inflected forms, and the order of hits.

A natural question matches documents that contain any of its words, in any inflected form. The score of a document is
its bm25 divided by its maximum, plus half of the share of the question's words that it contains, weighted by idf.
"""

from __future__ import annotations

import math
from operator import itemgetter

from .tokens import is_single, stems_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from .request import SearchRequest

    class Ranked(Protocol):
        """The properties of documents that decide their order beside their score."""

        def half_scored(self, docs: list[int]) -> set[int]:
            """Return those of the documents that get half of their score."""

        def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
            """Return the last change of documents, comparable across sources; at most the newest N of each source."""


TITLE_WEIGHT = 5.0
SHARE_WEIGHT = 0.5
BM25_MAX_PER_IDF = 2.2
"""The maximum of a word's bm25, divided by the word's idf."""

_LAST = "\U0010ffff"
"""Appended to a prefix, the upper bound of all words with this prefix."""


class Word:
    """One word of a question: its idf, and those of its forms that are in the index."""

    __slots__ = ("document_count", "forms", "idf", "is_single")

    def __init__(self, span: WordRange, counts: Sequence[tuple[str, int]], documents: int) -> None:
        self.is_single = span.is_single
        """True if it is searched as a prefix; then it is its own and only form."""
        self.forms = [span.word] if self.is_single and counts else [form for form, _ in counts]
        self.document_count = min(documents, sum(count for _, count in counts))
        self.idf = math.log(1 + (documents - self.document_count + 0.5) / (self.document_count + 0.5))


class WordRange:
    """The range of the sorted dictionary that contains all forms of one word."""

    __slots__ = ("beginning", "end", "is_single", "stem", "word")

    def __init__(self, word: str, stem: str) -> None:
        self.word = word
        self.stem = stem
        self.is_single = len(word) == 1 and is_single(word)
        self.beginning = _shared_beginning(word, stem)
        self.end = stem + "\0" if len(stem) == 1 and not is_single(stem) else self.beginning + _LAST


def ranges_of(words: Sequence[str]) -> list[WordRange]:
    """Return the dictionary range of each word of a question."""
    return [WordRange(word, stem) for word, stem in zip(words, stems_of(words), strict=True)]


def forms_of(spans: Sequence[WordRange], rows: Sequence[list[Any]]) -> list[list[Any]]:
    """Return those of the rows of each range whose first column, a word of that range, has its stem."""
    stemmed = [some for span, some in zip(spans, rows, strict=True) if not span.is_single]
    stems = iter(stems_of(row[0] for some in stemmed for row in some))
    return [
        some if span.is_single else [row for row in some if next(stems) == span.stem]
        for span, some in zip(spans, rows, strict=True)
    ]


def _shared_beginning(word: str, stem: str) -> str:
    """Return the common prefix of all words of this stem.

    The stemmer may change the last letter of a stem: happy, happi; store, storing; sensible, sensibility.
    """
    if not word.startswith(stem) or stem.endswith(("e", "i", "y", "bl")):
        return stem[:-1] or stem
    return stem


def best_page(
    find_best: Callable[[int], tuple[list[tuple[Any, int]], int]], request: SearchRequest, scope: Ranked
) -> tuple[list[tuple[Any, int]], int]:
    """Return the requested page as `(key, doc)`, and the number of all matches; replaced cards get half of their score.

    `find_best` returns the best N as `(key, doc)` with all ties of the last, and the number of all matches. It is
    called again with a larger N if others may rank above a halved one.
    """
    most = request.top_k
    while True:
        kept, total = find_best(most)
        halved = scope.half_scored([doc for _, doc in kept])
        if not halved:
            break
        least = min(key for key, _ in kept)
        kept = [(_halve(key) if doc in halved else key, doc) for key, doc in kept]
        if len(kept) >= total or sum(key >= least for key, _ in kept) >= request.top_k:
            break
        most *= 4
    return page_of(kept, request, scope.changes), total


def _halve(key: Any) -> Any:
    return (min(key[0], key[0] / 2), *key[1:]) if isinstance(key, tuple) else key / 2


def page_of(
    kept: list[tuple[Any, int]],
    request: SearchRequest,
    changes: Callable[[list[int], int], dict[int, tuple[int, int, int]]],
) -> list[tuple[Any, int]]:
    """Return the requested page as `(key, doc)`, best key first, ties by newest change.

    `changes` is called only for ties. All rows of a store may tie with the last one of the page, so it is asked only
    for the newest of them.
    """
    kept.sort(key=itemgetter(0), reverse=True)
    start, end = request.offset, min(request.top_k, len(kept))
    while 0 < start < end and kept[start - 1][0] == kept[start][0]:
        start -= 1
    tied = end
    while start < tied and kept[tied - 1][0] == kept[end - 1][0]:
        tied -= 1
    while start < end < len(kept) and kept[end][0] == kept[end - 1][0]:
        end += 1
    part = [
        *_newest_first(kept[start:tied], tied - start, changes),
        *_newest_first(kept[tied:end], request.top_k - tied, changes),
    ]
    return part[request.offset - start : request.top_k - start]


def _newest_first(
    part: list[tuple[Any, int]], most: int, changes: Callable[[list[int], int], dict[int, tuple[int, int, int]]]
) -> list[tuple[Any, int]]:
    """Return the best rows of a part that is sorted by key, with ties ordered by their last change."""
    if len({key for key, _ in part}) == len(part):
        return part
    changed = changes([doc for _, doc in part], most)
    return sorted((row for row in part if row[1] in changed), key=lambda row: (row[0], changed[row[1]]), reverse=True)
