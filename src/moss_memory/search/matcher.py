"""Find the words of a text that a query matches."""

from __future__ import annotations

import re

from .cjk import is_single
from .tokens import word_offsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .expression import Operand


_NON_ASCII = re.compile(r"[^\x00-\x7f]+")


class Matcher:
    """Finds the matches of a query in texts: exact words, prefixes, whole phrases."""

    __slots__ = ("_phrases_by_first_word", "_prefixes", "_rough", "_words")

    def __init__(self, words: Iterable[str] = (), operands: Iterable[Operand] = ()) -> None:
        self._words = set(words)
        prefixes = {word for word in self._words if is_single(word)}
        self._phrases_by_first_word: dict[str, list[Operand]] = {}
        for operand in operands:
            if len(operand.words) > 1:
                self._phrases_by_first_word.setdefault(operand.words[0], []).append(operand)
            else:
                (prefixes if operand.prefix else self._words).update(operand.words)
        self._prefixes = tuple(prefixes)
        self._rough: list[re.Pattern[str]] | None = None

    def find_rough(self, text: str) -> int | None:
        """Return the greatest of the first offsets of the words in a text; None if it has none of them as written."""
        if self._rough is None:
            words = [*self._words, *self._phrases_by_first_word]
            patterns = [_bounded(word, "(?![0-9a-z])") for word in words]
            patterns += [_bounded(prefix, "") for prefix in self._prefixes]
            self._rough = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        found = [match.start() for pattern in self._rough if (match := pattern.search(text))]
        return max(found, default=None)

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Return every matched word with its character offsets, as `(start, end, word)`, in order."""
        if self._phrases_by_first_word:
            words = word_offsets(text)
            in_phrases = self._phrase_words(words)
            return [word for at, word in enumerate(words) if at in in_phrases or self._is_word(word[2])]
        if text.isascii():
            return self._in_ascii(text, 0)
        return [word for part, start in _parts(text) for word in self._in_part(part, start)]

    def _in_part(self, part: str, start: int) -> list[tuple[int, int, str]]:
        if part.isascii():
            return self._in_ascii(part, start)
        return [(first + start, end + start, word) for first, end, word in word_offsets(part) if self._is_word(word)]

    def _in_ascii(self, text: str, start: int) -> list[tuple[int, int, str]]:
        """Return the matches in ASCII text, whose words are runs of letters and digits.

        Searching for a few words takes a third of the time of splitting the whole text into words.
        """
        text = text.lower()
        found: dict[int, tuple[int, int, str]] = {}
        for words, is_prefix in ((self._words, False), (self._prefixes, True)):
            for word in words:
                at = text.find(word)
                while at >= 0:
                    end = at + len(word)
                    while is_prefix and text[end : end + 1].isalnum():
                        end += 1
                    if not (text[end : end + 1].isalnum() or text[at - 1 : at].isalnum()):
                        found[at] = (at + start, end + start, text[at:end])
                    at = text.find(word, end)
        return [found[at] for at in sorted(found)]

    def _is_word(self, word: str) -> bool:
        return word in self._words or word.startswith(self._prefixes)

    def _phrase_words(self, words: list[tuple[int, int, str]]) -> set[int]:
        """Return the positions of words that are part of a matched phrase."""
        found: set[int] = set()
        for at, (_, _, first) in enumerate(words):
            for operand in self._phrases_by_first_word.get(first, ()):
                size = len(operand.words)
                if _is_phrase(operand, [word for _, _, word in words[at : at + size]]):
                    found.update(range(at, at + size))
        return found


def _bounded(word: str, end: str) -> str:
    """Return the pattern of a word; one that is not ASCII may be a bigram inside a run."""
    return f"(?<![0-9a-z]){re.escape(word)}{end}" if word.isascii() else re.escape(word)


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """Yield the lines of a text that are not ASCII, and the text between them, each with its offset.

    No word crosses the end of a line.
    """
    done = 0
    for other in _NON_ASCII.finditer(text):
        if other.start() >= done:
            line = text.rfind("\n", done, other.start()) + 1 or done
            yield text[done:line], done
            done = text.find("\n", other.end()) + 1 or len(text)
            yield text[line:done], line
    yield text[done:], done


def _is_phrase(operand: Operand, words: list[str]) -> bool:
    *exact, last = operand.words
    if len(words) != len(operand.words) or words[:-1] != exact:
        return False
    return words[-1].startswith(last) if operand.prefix else words[-1] == last
