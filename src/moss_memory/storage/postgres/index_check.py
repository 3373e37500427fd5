"""Check that the index of words agrees with the stored texts, and rebuild it."""

from __future__ import annotations

import numpy as np

from moss_memory.errors import MossError

from .documents import BUFFERED, Buffered
from .indexer import TokenizedDocument
from .posting_blocks import BLOCK_COLUMNS, Postings
from .segments import SEGMENTS_LOCK
from .term_dictionary import TERMS_LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from moss_memory.storage.engine import Row

    from .transaction import PostgresTransaction, PostgresWrite

    WordCounts = dict[int, tuple[int, int]]
    """The number of words of each slot, and the sum of their weights."""

_TABLES = (
    "search_postings", "search_segments", "search_buffer", "search_deleted", "search_orphans", "search_docs",
    "search_terms", "search_totals",
)  # fmt: skip
_DOCUMENTS = (
    "select texts.doc, slot, texts.workspace, cast(texts.live as integer), title, body,"
    " docs.workspace, docs.live, length, terms from search_source as texts full join search_docs as docs"
    " on docs.doc = texts.doc"
)
_BLOCKS_AT_ONCE = 500
"""This many blocks of frequent words take a few megabytes."""


def check_index(tx: PostgresTransaction) -> None:
    """Raise `STORAGE_CORRUPT` if the index does not agree with the texts in the snapshot of this transaction."""
    term_ids: dict[str, int] = dict(tx.stream("select coalesce(whole, term), id from search_terms"))
    expected = dict(_tokenize_texts(tx, term_ids))
    stored = _read_postings(tx)
    for (slot,) in tx.stream("select slot from search_deleted"):
        stored.pop(slot, None)
    if expected != stored:
        raise _mismatch_error("the postings differ from the words of the texts")
    total = tx.row("select cast(sum(docs) as bigint) from search_totals") or (0,)
    if (total[0] or 0) != tx.value("select count(*) from search_docs"):
        raise _mismatch_error("the count of documents differs from the number of their rows")


def rebuild_index(tx: PostgresWrite) -> None:
    """Empty the index and queue all documents, which the commit then indexes."""
    tx.queue(f"select pg_advisory_xact_lock({TERMS_LOCK})")
    tx.queue(f"select pg_advisory_xact_lock({SEGMENTS_LOCK})")
    for table in _TABLES:
        tx.run(f"delete from {table}")
    tx.run("insert into changed_documents (doc) select doc from search_source")


def _tokenize_texts(tx: PostgresTransaction, term_ids: dict[str, int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the slot of each document with the count and weight of its words, computed from its text."""
    for doc, slot, workspace, live, title, body, *indexed in tx.stream(_DOCUMENTS):
        if doc is None or slot is None:
            raise _mismatch_error("a text is not indexed, or an indexed text does not exist")
        tokenized = TokenizedDocument(doc, slot, workspace, live, title, body)
        if not tokenized.words <= term_ids.keys():
            raise _mismatch_error("a term of a text is not in the dictionary")
        _slot, _doc, *row, weights, _sizes, _positions = tokenized.row(term_ids)
        if row != indexed:
            raise _mismatch_error("a text was changed, its index was not")
        if weights:
            yield slot, (len(weights), sum(weights))


def _read_postings(tx: PostgresTransaction) -> WordCounts:
    """Return the count and weight of the words of each slot, read from the postings."""
    word_counts: WordCounts = {}
    (rows,) = tx.together((BUFFERED.format(""), {}))
    _add(word_counts, Buffered.of(rows[0]).postings)
    for part in _batches(tx.stream(f"select {BLOCK_COLUMNS} from search_postings")):
        _add(word_counts, Postings.of_blocks(part))
    return word_counts


def _add(word_counts: WordCounts, postings: Postings) -> None:
    slots, inverse, counts = np.unique(postings.slots, return_inverse=True, return_counts=True)
    weights = np.bincount(inverse, weights=postings.weights, minlength=len(slots)).astype(np.int64)
    for slot, count, weight in zip(slots.tolist(), counts.tolist(), weights.tolist(), strict=True):
        before = word_counts.get(slot, (0, 0))
        word_counts[slot] = (before[0] + count, before[1] + weight)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    part: list[Row] = []
    for row in rows:
        part.append(row)
        if len(part) == _BLOCKS_AT_ONCE:
            yield part
            part = []
    yield part


def _mismatch_error(how: str) -> MossError:
    return MossError("STORAGE_CORRUPT", f"the search index does not agree with the stored texts: {how}")
