"""Which words of a text a query truly matches, and where they stand."""

from __future__ import annotations

import re

from .cjk import is_single
from .tokens import places_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .expression import Operand


_OTHER = re.compile(r"[^\x00-\x7f]+")


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
        if self._by_first:
            places = places_in(text)
            backticked = self._phrase_words(places)
            return [place for at, place in enumerate(places) if at in backticked or self._is_word(place[2])]
        if text.isascii():
            return self._in_ascii(text, 0)
        return [place for part, start in _parts(text) for place in self._in_part(part, start)]

    def _in_part(self, part: str, start: int) -> list[tuple[int, int, str]]:
        if part.isascii():
            return self._in_ascii(part, start)
        return [(first + start, end + start, word) for first, end, word in places_in(part) if self._is_word(word)]

    def _in_ascii(self, text: str, start: int) -> list[tuple[int, int, str]]:
        """The matches in ASCII, whose words are runs of letters and digits; to look for a few takes a third of the time
        that it takes to cut all of a text into words."""
        text = text.lower()
        found: dict[int, tuple[int, int, str]] = {}
        for wanted, is_open in ((self._words, False), (self._open, True)):
            for word in wanted:
                at = text.find(word)
                while at >= 0:
                    end = at + len(word)
                    while is_open and text[end : end + 1].isalnum():
                        end += 1
                    if not (text[end : end + 1].isalnum() or text[at - 1 : at].isalnum()):
                        found[at] = (at + start, end + start, text[at:end])
                    at = text.find(word, end)
        return [found[at] for at in sorted(found)]

    def _is_word(self, word: str) -> bool:
        return word in self._words or word.startswith(self._open)

    def _phrase_words(self, places: list[tuple[int, int, str]]) -> set[int]:
        backticked: set[int] = set()
        for at, place in enumerate(places):
            for operand in self._by_first.get(place[2], ()):
                size = len(operand.words)
                if _continues(operand, [word for _, _, word in places[at : at + size]]):
                    backticked.update(range(at, at + size))
        return backticked


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text that are not all ASCII, and what lies between them, each with where it begins.

    No word goes over the end of a line.
    """
    done = 0
    for other in _OTHER.finditer(text):
        if other.start() >= done:
            line = text.rfind("\n", done, other.start()) + 1 or done
            yield text[done:line], done
            done = text.find("\n", other.end()) + 1 or len(text)
            yield text[line:done], line
    yield text[done:], done


def _continues(operand: Operand, words: list[str]) -> bool:
    *exact, last = operand.words
    if len(words) != len(operand.words) or words[:-1] != exact:
        return False
    return words[-1].startswith(last) if operand.prefix else words[-1] == last
