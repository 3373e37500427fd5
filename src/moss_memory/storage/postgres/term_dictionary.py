"""The dictionary of the index: every word has a number, for as long as any document holds it."""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .transaction import PostgresWrite

LONGEST_BYTES = 2000
"""A longer word is kept under its beginning and a hash."""
_HASH_AFTER = "\x01"
"""No word holds it, and it comes before whatever a word goes on with."""
WORDS_LOCK = 0x6D6F7373_00000011
"""Shared by those who give words to documents, held alone by who takes words away that nobody holds."""
MOST_KEPT = 50_000
KEPT_CHARS = 40
"""So many words a process remembers, of so many letters at the most: some 8 MB."""


class TermDictionary:
    """The numbers of words that a process has met, good for as long as no words are taken out."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: tuple[int, dict[str, int]] = (-1, {})
        """How often words had been taken out, and the numbers: read and written as one, for threads share it."""

    def known(self, generation: int) -> dict[str, int]:
        """What is still right after words were taken out so often."""
        then, numbers = self._kept
        return numbers if then == generation else {}

    def learn(self, generation: int, numbers: dict[str, int]) -> None:
        """Remembers numbers that are committed."""
        short = {word: number for word, number in numbers.items() if len(word) <= KEPT_CHARS}
        known = self.known(generation)
        if known and len(known) + len(short) <= MOST_KEPT:
            known.update(short)
        else:
            self._kept = (generation, short)


def key_of(word: str) -> str:
    """What a word is kept under."""
    data = word.encode()
    if len(data) <= LONGEST_BYTES:
        return word
    return f"{beginning_of(word)}{_HASH_AFTER}{hashlib.sha256(data).hexdigest()}"


def beginning_of(word: str) -> str:
    """As much of a word's beginning as every word that begins with it is kept under."""
    return word.encode()[: LONGEST_BYTES - 100].decode(errors="ignore")


def assign_ids(tx: PostgresWrite, words: Iterable[str], known: dict[str, int]) -> dict[str, int]:
    """The number of each word; those that have none get one. What is known is not asked for."""
    found: dict[str, int] = {}
    new: dict[str, str] = {}
    for word in words:
        number = known.get(word)
        if number is None:
            new[key_of(word)] = word
        else:
            found[word] = number
    if new:
        wholes = [None if key == word else word for key, word in new.items()]
        asked = "select word, id from number_words(cast(:given as text[]), cast(:wholes as text[]))"
        found |= {new[key]: number for key, number in tx.rows(asked, {"given": list(new), "wholes": wholes})}
    return found
