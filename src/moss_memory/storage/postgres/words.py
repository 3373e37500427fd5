"""The dictionary of the index: every word has a number, for as long as any document holds it."""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .transaction import PostgresTransaction, PostgresWrite

LONGEST_BYTES = 2000
"""A longer word is kept under its beginning and a hash."""
_HASH_AFTER = "\x01"
"""No word holds it, and it comes before whatever a word goes on with."""
WORDS_LOCK = 0x6D6F7373_00000011
"""Shared by those who give words to documents, held alone by who takes words away that nobody holds."""
_GIVE = """
with given as (select word, whole from unnest(cast(:words as text[]), cast(:wholes as text[])) as given (word, whole)),
made as (
  insert into search_words (word, whole)
    select word, whole from given where not exists (select 1 from search_words known where known.word = given.word)
    order by word
  on conflict (word) do nothing returning id, word)
select word, id from made union all select word, id from search_words where word = any(:words)
"""


def key_of(word: str) -> str:
    """What a word is kept under."""
    data = word.encode()
    if len(data) <= LONGEST_BYTES:
        return word
    return f"{beginning_of(word)}{_HASH_AFTER}{hashlib.sha256(data).hexdigest()}"


def beginning_of(word: str) -> str:
    """As much of a word's beginning as every word that begins with it is kept under."""
    return word.encode()[: LONGEST_BYTES - 100].decode(errors="ignore")


def give_numbers(tx: PostgresWrite, words: Iterable[str]) -> dict[str, int]:
    """The number of each word; those that have none get one.

    In the order of the words, so that nobody waits for a word of another who waits for one of his.
    """
    keys = {key_of(word): word for word in words}
    tx.queue(f"select pg_advisory_xact_lock_shared({WORDS_LOCK})")
    found: dict[str, int] = {}
    while missing := sorted(keys.keys() - found.keys()):  # what another gave meanwhile is seen by the next statement
        wholes = [None if keys[key] == key else keys[key] for key in missing]
        found |= dict(tx.rows(_GIVE, {"words": missing, "wholes": wholes}))
    return {word: found[key] for key, word in keys.items()}


def numbers_of(tx: PostgresTransaction, words: Iterable[str]) -> dict[str, int]:
    """The numbers of those words that have one."""
    keys = {key_of(word): word for word in words}
    rows = tx.rows("select word, id from search_words where word = any(:words)", {"words": list(keys)})
    return {keys[key]: number for key, number in rows}
