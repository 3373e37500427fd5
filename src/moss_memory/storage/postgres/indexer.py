"""Index changed documents before a commit.

A writer only inserts rows (words, documents, totals), so writers of different workspaces index concurrently and wait
for each other only if both insert the same new word.

Measured with 20,000 documents of 1,000 characters, whose FTS5 index takes 13 MB. One row per posting: 297 MB, and 7 to
10 times the time of FTS5. One row per word and segment: 88 MB after one bulk load, of which 14 MB are postings; the
rest is tuple overhead and bloat before VACUUM. Blocks, as implemented: 24 to 32 MB.
CPU time of client and server together, relative to the same search on SQLite: 0.2 to 0.5 for common words, 1 to 1.7 for
medium ones, 1.6 to 2 for phrases, 2 to 3.6 for rare ones, which is the time of four messages.
"""

from __future__ import annotations

from operator import itemgetter

from moss_memory.search.tokens import words_in

from .codec import deltas, encode_posting, encode_varints
from .term_dictionary import WORDS_LOCK, assign_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Row

    from .transaction import PostgresWrite

FRESH = 512
"""The approximate number of fresh documents that are folded into one segment."""

_AT_ONCE = 500
_FILTER_WORDS = 3
"""FTS5 includes the filter words (source, workspace, state) in the length of a document."""
_TAKE = "select doc, slot, workspace, live, title, body, removals from take_changed(:most)"
_COLUMNS = {
    "slots": "integer", "docs": "bigint", "workspaces": "text", "lives": "smallint", "lengths": "integer",
    "words": "bytea", "weights": "bytea", "sizes": "bytea", "places": "bytea",
}  # fmt: skip
"""The stored columns of a document, in the order of the parameters of `index_documents`."""
_ADD = (
    "select index_documents(cast(:changed as bigint[]), "
    + ", ".join([f"cast(:{name} as {kind}[])" for name, kind in _COLUMNS.items()])
    + ")"
)


class TokenizedDocument:
    """The words of a document with their places in the title and in the body."""

    __slots__ = ("doc", "length", "live", "places", "slot", "workspace")

    def __init__(self, doc: int, slot: int, workspace: str, live: int, title: str | None, body: str | None) -> None:
        self.doc = doc
        self.slot = slot
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
        """Return the stored columns, with the words in the order of their ids."""
        held = sorted(
            [(numbers[word], *encode_posting(*places)) for word, places in self.places.items()], key=itemgetter(0)
        )
        words, weights, sizes, places = zip(*held, strict=True) if held else ((), (), (), ())
        return (
            self.slot,
            self.doc,
            self.workspace,
            self.live,
            self.length,
            encode_varints(deltas(words)),
            bytes(weights),
            bytes(sizes),
            b"".join(places),
        )


def index_changes(tx: PostgresWrite, *, changes: bool, erases: bool) -> None:
    """Index the documents that a transaction has changed, and remove those that it erases, before it commits."""
    if erases:
        from .compaction import expunge, prepare_to_expunge  # rarely needed

        prepare_to_expunge(tx)
    if changes:
        _index_changed(tx)
    if erases:
        expunge(tx)


def _index_changed(tx: PostgresWrite) -> None:
    """Index the queued documents in batches, and fold if `FRESH` documents were added since the last time."""
    tx.queue(f"select pg_advisory_xact_lock_shared({WORDS_LOCK})")
    while True:
        changed = list(tx.rows(_TAKE, {"most": _AT_ONCE}))
        if changed:
            _index(tx, changed)
        if any(slot is not None and slot % FRESH == 0 for _, slot, *_ in changed):
            from .compaction import fold  # rarely needed

            fold(tx)
        if len(changed) < _AT_ONCE:
            return


def _index(tx: PostgresWrite, changed: list[Row]) -> None:
    cut = [TokenizedDocument(*row[:-1]) for row in changed if row[1] is not None]
    generation = changed[0][-1]
    numbers = assign_ids(tx, {word for document in cut for word in document.places}, tx.known_words(generation))
    tx.learn_words(generation, numbers)
    columns = zip(*[document.row(numbers) for document in cut], strict=True) if cut else [()] * len(_COLUMNS)
    stored = dict(zip(_COLUMNS, map(list, columns), strict=True))
    tx.queue(_ADD, {"changed": [doc for doc, *_ in changed], **stored})
