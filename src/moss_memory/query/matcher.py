"""Which words of a text a query truly matches, and where they stand."""

from __future__ import annotations

from .pairs import is_single
from .words import places_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .expression import Operand


class Matcher:
    """Knows which words of a text a query truly matches: exact words, prefixes, whole phrases."""

    __slots__ = ("_by_first", "_open", "_words")

    def __init__(self, words: Iterable[str] = (), operands: Iterable[Operand] = ()) -> None:
        found = set(words)
        beginnings = {word for word in found if is_single(word)}
        self._by_first: dict[str, list[Operand]] = {}
        for operand in operands:
            if len(operand.words) > 1:
                self._by_first.setdefault(operand.words[0], []).append(operand)
            else:
                (beginnings if operand.prefix else found).update(operand.words)
        self._words = found
        self._open = tuple(beginnings)

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Every matched word with the characters it spans: `(start, end, word)`, in order."""
        places = places_in(text)
        if self._by_first:
            marked = self._phrase_words(places)
            return [place for at, place in enumerate(places) if at in marked or self._is_word(place[2])]
        if self._open:
            return [place for place in places if self._is_word(place[2])]
        words = self._words
        return [place for place in places if place[2] in words]

    def _is_word(self, word: str) -> bool:
        return word in self._words or word.startswith(self._open)

    def _phrase_words(self, places: list[tuple[int, int, str]]) -> set[int]:
        marked: set[int] = set()
        for at, place in enumerate(places):
            for operand in self._by_first.get(place[2], ()):
                size = len(operand.words)
                if _continues(operand, [word for _, _, word in places[at : at + size]]):
                    marked.update(range(at, at + size))
        return marked


def _continues(operand: Operand, words: list[str]) -> bool:
    *exact, last = operand.words
    if len(words) != len(operand.words) or words[:-1] != exact:
        return False
    return words[-1].startswith(last) if operand.prefix else words[-1] == last
