"""The dictionary of the index: every word has an id while any document contains it."""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .transaction import PostgresWrite

LONGEST_BYTES = 2000
"""The key of a longer word is its prefix and a hash."""
_HASH_SEPARATOR = "\x01"
"""No word contains it, and it sorts before every character of a word."""
WORDS_LOCK = 0x6D6F7373_00000011
"""Advisory lock: shared while indexing, exclusive while removing unused words."""
MAX_CACHED_WORDS = 50_000
MAX_CACHED_CHARS = 40
"""The limits of the cache of a process: together about 8 MB."""


class TermDictionary:
    """A cache of word ids, valid until words are removed from the dictionary."""

    __slots__ = ("_cache",)

    def __init__(self) -> None:
        self._cache: tuple[int, dict[str, int]] = (-1, {})
        """The generation (the number of removals so far) and the ids: one tuple, because threads share it."""

    def known(self, generation: int) -> dict[str, int]:
        """Return the cached ids if they are of this generation, else an empty dict."""
        cached, numbers = self._cache
        return numbers if cached == generation else {}

    def learn(self, generation: int, numbers: dict[str, int]) -> None:
        """Cache ids that are committed."""
        short = {word: number for word, number in numbers.items() if len(word) <= MAX_CACHED_CHARS}
        known = self.known(generation)
        if known and len(known) + len(short) <= MAX_CACHED_WORDS:
            known.update(short)
        else:
            self._cache = (generation, short)


def key_of(word: str) -> str:
    """Return the key of a word in the dictionary."""
    data = word.encode()
    if len(data) <= LONGEST_BYTES:
        return word
    return f"{prefix_of(word)}{_HASH_SEPARATOR}{hashlib.sha256(data).hexdigest()}"


def prefix_of(word: str) -> str:
    """Return the longest prefix of a word that begins the key of every word with this prefix."""
    return word.encode()[: LONGEST_BYTES - 100].decode(errors="ignore")


def assign_ids(tx: PostgresWrite, words: Iterable[str], known: dict[str, int]) -> dict[str, int]:
    """Return the id of each word, and assign one to new words; ids in `known` are not read again."""
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
        sql = "select word, id from number_words(cast(:given as text[]), cast(:wholes as text[]))"
        found |= {new[key]: number for key, number in tx.rows(sql, {"given": list(new), "wholes": wholes})}
    return found
