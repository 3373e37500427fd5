"""What every engine agrees on when it ranks: how much words weigh, which of them are forms of one, and the order.

A natural question finds what holds any of its words, in any of their forms. The score of a document is its bm25 over
the ideal one plus half of the share of the question's words that it holds, each word counting as much as it is rare.
"""

from __future__ import annotations

import math
from operator import itemgetter

from .cjk import is_single
from .tokens import stems_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .request import SearchRequest

TITLE_WEIGHT = 5.0
SHARE_WEIGHT = 0.5
IDEAL = 2.2
"""What bm25 gives at most for a word, over the word's idf."""

_GROWS = "\U0010ffff"


class Word:
    """One word of a question: its idf, and the forms of it that the index holds."""

    __slots__ = ("forms", "held_by", "idf", "is_open")

    def __init__(self, word: str, pluralize: Sequence[tuple[str, int]], documents: int) -> None:
        self.is_open = is_single(word)
        """Whether it is looked for as the beginning of a piece; then it is its own and only form."""
        self.forms = [word] if self.is_open and pluralize else [form for form, _ in pluralize]
        self.held_by = min(documents, sum(count for _, count in pluralize))
        self.idf = math.log(1 + (documents - self.held_by + 0.5) / (self.held_by + 0.5))


class WordRange:
    """Where in the order of all words the forms of one word stand, and which of those there they are."""

    __slots__ = ("_stem", "beginning", "end", "word")

    def __init__(self, word: str, stem: str) -> None:
        self.word = word
        self._stem = stem
        self.beginning = _shared_beginning(word, stem)
        self.end = stem + "\0" if len(stem) == 1 and not is_single(stem) else self.beginning + _GROWS

    def forms_among(self, rows: list[Any]) -> list[Any]:
        """Those of the rows, each of which begins with a word of this range, whose word has the same stem."""
        if is_single(self.word):
            return rows
        stems = stems_of(row[0] for row in rows)
        return [row for row, stem in zip(rows, stems, strict=True) if stem == self._stem]


def ranges_of(words: Sequence[str]) -> list[WordRange]:
    """Where the forms of each word of a question are."""
    return [WordRange(word, stem) for word, stem in zip(words, stems_of(words), strict=True)]


def _shared_beginning(word: str, stem: str) -> str:
    """What every word of this stem begins with. The stemmer may change the last letter of a stem: happy, happi;
    store, storing; sensible, sensibility."""
    if not word.startswith(stem) or stem.endswith(("e", "i", "y", "bl")):
        return stem[:-1] or stem
    return stem


def page_of(
    kept: list[tuple[Any, int]],
    request: SearchRequest,
    changes: Callable[[list[int], int], dict[int, tuple[int, int, int]]],
) -> list[tuple[Any, int]]:
    """The page of the best as `(key, doc)`, best key first, then newest; asked only of those that tie.

    As many may tie with the last of the page as the store has rows: of them only the newest are asked for.
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
    """The best of some that are sorted by their keys, those that tie by when they last changed."""
    if len({key for key, _ in part}) == len(part):
        return part
    changed = changes([doc for _, doc in part], most)
    return sorted((row for row in part if row[1] in changed), key=lambda row: (row[0], changed[row[1]]), reverse=True)
