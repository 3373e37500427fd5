"""Which words of a text a query truly matches, and where they stand."""

from __future__ import annotations

from .words import places_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expression import Operand


class Matcher:
    """Knows which words of a text a query truly matches: exact words, prefixes, whole phrases."""

    __slots__ = ("_by_first", "_open", "_words")

    def __init__(self, words: frozenset[str] = frozenset(), operands: tuple[Operand, ...] = ()) -> None:
        single = {operand.words[0] for operand in operands if len(operand.words) == 1 and not operand.prefix}
        self._words = words | single
        self._by_first: dict[str, list[Operand]] = {}
        for operand in operands:
            if len(operand.words) > 1:
                self._by_first.setdefault(operand.words[0], []).append(operand)
        self._open = tuple(operand.words[0] for operand in operands if len(operand.words) == 1 and operand.prefix)

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Every matched word with the characters it spans: `(start, end, word)`, in order."""
        data = text.encode()
        places = places_in(data)
        if self._by_first:
            marked = self._phrase_words(places)
            found = [place for at, place in enumerate(places) if at in marked or self._is_word(place[2])]
        elif self._open:
            found = [place for place in places if self._is_word(place[2])]
        else:
            words = self._words
            found = [place for place in places if place[2] in words]
        return found if len(data) == len(text) else _in_characters(data, found)

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


def _in_characters(data: bytes, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The same places counted in characters instead of bytes."""
    result = []
    byte = char = 0
    for start, end, word in found:
        char += len(data[byte:start].decode())
        size = len(data[start:end].decode())
        result.append((char, char + size, word))
        char += size
        byte = end
    return result
