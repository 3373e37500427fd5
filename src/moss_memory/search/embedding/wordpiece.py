"""Tokenize text into the ids of word pieces, as BERT's tokenizer does.

Implemented here because the package `tokenizers` depends on a client for model hubs and fifteen other packages. For the
test set and random Unicode both return the same ids.
"""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_CONTROL = dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 127))
_IDEOGRAPH = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f"
)
_BLANK = " \t\n\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CHUNK = re.compile(f"[{_IDEOGRAPH}]|[^{_BLANK}{_IDEOGRAPH}]+")
_IDEOGRAPHS = re.compile(f"[{_IDEOGRAPH}]")
_MAX_CACHED_CHARS = 64
"""Longer chunks are not cached, because they are unlikely to occur again."""


class WordPieces:
    """A vocabulary of word pieces with the normalization of texts."""

    def __init__(
        self,
        vocabulary: dict[str, int],
        *,
        unknown: int,
        inner: str = "##",
        longest: int = 100,
        lower: bool = True,
        without_accents: bool = True,
    ) -> None:
        self._vocabulary = vocabulary
        self._unknown = unknown
        self._inner = inner
        """The prefix of a piece inside a word."""
        self._longest = longest
        """Words of more characters are unknown tokens."""
        self._lower = lower
        self._without_accents = without_accents
        self._pieces_of_word: Callable[[str], tuple[int, ...]] = lru_cache(20_000)(self._split_word)
        self._pieces_of_chunk: Callable[[str], tuple[int, ...]] = lru_cache(20_000)(self._split_chunk)

    def pieces_of(self, text: str, most: int) -> tuple[list[int], list[int]]:
        """Return the ids of the first `most` pieces of a text, and the offset of each piece's word."""
        numbers: list[int] = []
        starts: list[int] = []
        for chunk in _CHUNK.finditer(text):
            split = self._pieces_of_chunk if len(chunk[0]) <= _MAX_CACHED_CHARS else self._split_chunk
            pieces = split(chunk[0])
            numbers += pieces
            starts += [chunk.start()] * len(pieces)
            if len(numbers) >= most:
                break
        return numbers[:most], starts[:most]

    def _split_chunk(self, chunk: str) -> tuple[int, ...]:
        return tuple(piece for word in self.words_of(chunk) for piece in self._pieces_of_word(word))

    def words_of(self, text: str) -> list[str]:
        """Split a text into words and punctuation, without control characters; fold case and accents if enabled."""
        if text.isascii() and self._lower:
            return _PLAIN.findall(text.translate(_CONTROL).lower())
        return self._words_of_unicode(text)

    def _words_of_unicode(self, text: str) -> list[str]:
        from unicodedata import category, normalize

        cleaned = "".join(
            f" {character} " if _IDEOGRAPHS.match(character) else character
            for character in text
            if character in "\t\n\r" or (character != "\ufffd" and category(character) not in ("Cc", "Cf", "Co", "Cs"))
        )
        if self._without_accents:
            cleaned = "".join(character for character in normalize("NFD", cleaned) if category(character) != "Mn")
        if self._lower:
            cleaned = cleaned.lower()
        parts = []
        for character in cleaned:
            mark = not character.isalnum() and (character.isascii() or category(character)[0] == "P")
            parts.append(f" {character} " if mark else character)
        return "".join(parts).split()

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Split a word greedily into its longest pieces from the front; return one unknown piece if that fails."""
        if len(word) > self._longest:
            return (self._unknown,)
        vocabulary = self._vocabulary
        pieces = []
        start = 0
        while start < len(word):
            end = len(word)
            while end > start:
                piece = vocabulary.get(word[start:end] if start == 0 else f"{self._inner}{word[start:end]}")
                if piece is not None:
                    break
                end -= 1
            else:
                return (self._unknown,)
            pieces.append(piece)
            start = end
        return tuple(pieces)
