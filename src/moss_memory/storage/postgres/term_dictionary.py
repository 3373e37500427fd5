"""The dictionary of the index: every term has an id while any document contains it."""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .transaction import PostgresWrite

LONGEST_BYTES = 2000
"""The key of a longer term is its prefix and a hash."""
_HASH_SEPARATOR = "\x01"
"""No term contains it, and it sorts before every character of a term."""
TERMS_LOCK = 0x6D6F7373_00000011
"""Advisory lock: shared while indexing, exclusive while removing unused terms."""
MAX_CACHED_TERMS = 50_000
MAX_CACHED_CHARS = 40
"""The limits of the cache of a process: together about 8 MB."""


class TermDictionary:
    """A cache of term ids, valid until terms are removed from the dictionary."""

    __slots__ = ("_cache",)

    def __init__(self) -> None:
        self._cache: tuple[int, dict[str, int]] = (-1, {})
        """The generation (the number of removals so far) and the ids: one tuple, because threads share it."""

    def known(self, generation: int) -> dict[str, int]:
        """Return the cached ids if they are of this generation, else an empty dict."""
        cached, numbers = self._cache
        return numbers if cached == generation else {}

    def cache(self, generation: int, numbers: dict[str, int]) -> None:
        """Cache ids that are committed."""
        short = {term: number for term, number in numbers.items() if len(term) <= MAX_CACHED_CHARS}
        cached_ids = self.known(generation)
        if cached_ids and len(cached_ids) + len(short) <= MAX_CACHED_TERMS:
            cached_ids.update(short)
        else:
            self._cache = (generation, short)


def key_of(term: str) -> str:
    """Return the key of a term in the dictionary."""
    data = term.encode()
    if len(data) <= LONGEST_BYTES:
        return term
    return f"{prefix_of(term)}{_HASH_SEPARATOR}{hashlib.sha256(data).hexdigest()}"


def prefix_of(term: str) -> str:
    """Return the longest prefix of a term that begins the key of every term with this prefix."""
    return term.encode()[: LONGEST_BYTES - 100].decode(errors="ignore")


def assign_ids(tx: PostgresWrite, terms: Iterable[str], known: dict[str, int]) -> dict[str, int]:
    """Return the id of each term, and assign one to new terms; ids in `known` are not read again."""
    ids: dict[str, int] = {}
    new: dict[str, str] = {}
    for term in terms:
        number = known.get(term)
        if number is None:
            new[key_of(term)] = term
        else:
            ids[term] = number
    if new:
        wholes = [None if key == term else term for key, term in new.items()]
        sql = "select term, id from assign_term_ids(cast(:given as text[]), cast(:wholes as text[]))"
        ids |= {new[key]: number for key, number in tx.rows(sql, {"given": list(new), "wholes": wholes})}
    return ids
