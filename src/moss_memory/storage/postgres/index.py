"""What a commit does for the search: the documents that it changed are cut into words and indexed with them.

Whoever writes only adds rows: of words, of documents, of totals. So writers of several workspaces index at once and
wait for each other only where both bring the same new word.

Measured with 20,000 documents of 1,000 characters, whose FTS5 index takes 13 MB. A row a posting: 297 MB, and 7 to 10
times the time of FTS5. Packed postings with 64 bits a slot and 32 a weight, folded every 256 documents: 98 MB. Packed
as now and folded every 512: 45 to 56 MB, as the server comes by to sweep up. The processor time of both sides
together is 2 to 3 times that of FTS5 for common and middling words, 4 to 6 for rare ones, whose time is that of the
messages, and 8 to 26 for phrases.
"""

from __future__ import annotations

from operator import itemgetter

from ...families import SOURCES
from ...query.words import words_in
from .packing import Posting, as_bytes
from .words import give_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...families import Source
    from .transaction import PostgresWrite

FRESH = 512
"""About so many documents are indexed one by one before they are folded into a segment."""

_AT_ONCE = 500
_FILTER_WORDS = 3
"""FTS5 counts the words by which it filters, those of source, workspace and state, into the length of a document."""
_FORGET = """
with gone as (delete from search_docs where doc = any(:docs) returning slot, length, words),
buried as (insert into search_dead (slot, words) select slot, words from gone),
wilted as (delete from search_fresh where slot in (select slot from gone))
insert into search_totals (docs, length) select 0 - count(*), 0 - sum(length) from gone having count(*) > 0
"""
_ADD = """
with given as (
  select doc, workspace, live, length, kept, cast(words as integer[]) as words, weights, sizes, places
  from unnest(cast(:docs as bigint[]), cast(:workspaces as text[]), cast(:lives as smallint[]),
    cast(:lengths as integer[]), cast(:kept as bytea[]), cast(:words as text[]), cast(:weights as bytea[]),
    cast(:sizes as bytea[]), cast(:places as bytea[]))
    as given (doc, workspace, live, length, kept, words, weights, sizes, places)),
made as (
  insert into search_docs (doc, workspace, live, length, words)
    select doc, workspace, live, length, kept from given order by doc returning slot, doc),
counted as (insert into search_totals (docs, length) select count(*), sum(length) from given)
insert into search_fresh (slot, doc, length, words, weights, sizes, places)
  select slot, doc, length, words, weights, sizes, places from made join given using (doc) returning slot
"""


class _Cut:
    """A document cut into words: where each stands in its title and in its text."""

    __slots__ = ("doc", "length", "live", "places", "workspace")

    def __init__(self, doc: int, workspace: str, live: int, title: str | None, body: str | None) -> None:
        self.doc = doc
        self.workspace = workspace
        self.live = live
        self.length = _FILTER_WORDS
        self.places: dict[str, tuple[list[int], list[int]]] = {}
        for part, text in enumerate((title, body)):
            words = words_in(text) if text else []
            self.length += len(words)
            for place, word in enumerate(words):
                known = self.places.get(word)
                if known is None:
                    known = self.places[word] = ([], [])
                known[part].append(place)

    def row(self, numbers: dict[str, int]) -> tuple[Any, ...]:
        """What is stored of it, the words in the order of their numbers."""
        held = sorted([(numbers[word], Posting(*places)) for word, places in self.places.items()], key=itemgetter(0))
        words = [number for number, _ in held]
        return (
            self.doc,
            self.workspace,
            self.live,
            self.length,
            as_bytes([word - before for before, word in zip([0, *words], words, strict=False)]),
            f"{{{','.join(map(str, words))}}}",
            bytes([one.weight for _, one in held]),
            bytes([one.size for _, one in held]),
            b"".join([one.places for _, one in held]),
        )


def bring_up_to_date(tx: PostgresWrite, *, changes: bool, erases: bool) -> None:
    """Indexes the documents that a transaction has changed, before it commits, and takes out what it erases."""
    if erases:
        from .folding import prepare_to_scrub, scrub  # one call of many

        prepare_to_scrub(tx)
    changed = tx.send("delete from changed_documents returning doc", None).fetchall() if changes else []
    if changed:
        _index(tx, sorted({doc for (doc,) in changed}))
    if erases:
        scrub(tx)


def _index(tx: PostgresWrite, docs: list[int]) -> None:
    tx.queue(_FORGET, {"docs": docs})
    cut = [_Cut(*row) for row in _texts(tx, docs)]
    numbers = give_numbers(tx, {word for document in cut for word in document.places})
    is_time = False
    for start in range(0, len(cut), _AT_ONCE):
        rows = [document.row(numbers) for document in cut[start : start + _AT_ONCE]]
        names = ("docs", "workspaces", "lives", "lengths", "kept", "words", "weights", "sizes", "places")
        added = tx.rows(_ADD, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        is_time = any(slot % FRESH == 0 for (slot,) in added) or is_time
    if is_time:
        from .folding import fold  # one call of many

        fold(tx)


def _texts(tx: PostgresWrite, docs: list[int]) -> Iterator[tuple[Any, ...]]:
    """Of each document that is there: its number, workspace, whether it is live, title and text."""
    for source in SOURCES.values():
        own = [doc for doc in docs if doc & 15 == source.code]
        for start in range(0, len(own), _AT_ONCE):
            yield from tx.rows(_source_sql(source), {"rows": [doc >> 4 for doc in own[start : start + _AT_ONCE]]})


def _source_sql(source: Source) -> str:
    return (
        f"select row_id * 16 + {source.code}, workspace_norm, cast(deleted_at is null as integer),"
        f" {source.title}, {source.body} from {source.table} where row_id = any(:rows)"
    )
