"""Index changed documents before a commit.

A writer only inserts rows, and deletes rows of documents that it replaces. So writers of different workspaces index
concurrently, and wait for each other only if both insert the same new term.
"""

from __future__ import annotations

from collections import defaultdict

from moss_memory.search.tokens import words_in

from . import segment_size
from .codec import deltas, encode_posting, encode_varints
from .term_dictionary import TERMS_LOCK, assign_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Row

    from .transaction import PostgresWrite

DUE = 512
"""The index is maintained in the background after about this many documents."""

_AT_ONCE = 500
_FILTER_WORDS = 3
"""FTS5 includes the filter words (source, workspace, state) in the length of a document."""
_TAKE = (
    "select doc, slot, workspace, live, title, body, generation, others"
    " from take_changed(:most, cast(:given as bigint[]))"
)
_DOCUMENT_COLUMNS = {
    "slots": "integer", "docs": "bigint", "workspaces": "text", "lives": "smallint", "lengths": "integer",
    "terms": "bytea",
}  # fmt: skip
_POSTING_COLUMNS = {"buffered": "integer", "weights": "bytea", "sizes": "bytea", "positions": "bytea"}
_ADD = "select index_documents(cast(:changed as bigint[]), {})".format(
    ", ".join([f"cast(:{name} as {kind}[])" for name, kind in (_DOCUMENT_COLUMNS | _POSTING_COLUMNS).items()])
)


class TokenizedDocument:
    """The words of the title and of the body of a document, in order."""

    __slots__ = ("body", "doc", "live", "slot", "title", "workspace")

    def __init__(self, doc: int, slot: int, workspace: str, live: int, title: str | None, body: str | None) -> None:
        self.doc = doc
        self.slot = slot
        self.workspace = workspace
        self.live = live
        self.title = words_in(title) if title else []
        self.body = words_in(body) if body else []

    @property
    def words(self) -> set[str]:
        return {*self.title, *self.body}

    def row(self, numbers: dict[str, int]) -> tuple[Any, ...]:
        """Return the stored columns, with the terms in the order of their ids."""
        in_body: defaultdict[int, list[int]] = defaultdict(list)
        for position, word in enumerate(self.body):
            in_body[numbers[word]].append(position)
        in_title: defaultdict[int, list[int]] = defaultdict(list)
        for position, word in enumerate(self.title):
            in_title[numbers[word]].append(position)
        terms = sorted(in_body.keys() | in_title.keys())
        postings = [encode_posting(in_title.get(term, ()), in_body.get(term, ())) for term in terms]
        weights, sizes, positions = zip(*postings, strict=True) if postings else ((), (), ())
        return (
            self.slot,
            self.doc,
            self.workspace,
            self.live,
            len(self.title) + len(self.body) + _FILTER_WORDS,
            encode_varints(deltas(terms)),
            bytes(weights),
            bytes(sizes),
            b"".join(positions),
        )


def index_changes(tx: PostgresWrite, *, erases: bool) -> bool:
    """Index the documents that a transaction has changed; return True if the index is due for maintenance.

    With `erases` nothing of their earlier texts stays in the index.
    """
    # Exclusive from the beginning: two writers that both have the shared lock would wait for each other.
    tx.queue(f"select pg_advisory_xact_lock{'' if erases else '_shared'}({TERMS_LOCK})")
    changed = list(tx.rows(_TAKE, {"most": _AT_ONCE, "given": None}))
    remaining_docs: list[int] = (changed[0][-1] if changed else None) or []
    docs = [row[0] for row in changed] + remaining_docs
    due = False
    unwritten: list[Row] = []
    while changed:
        rows = _tokenize(tx, changed)
        unwritten = _write_full_segment(tx, unwritten + rows)
        _add(tx, changed, rows, [] if remaining_docs else unwritten)
        due = due or any(row[0] % DUE == DUE - 1 for row in rows)
        part, remaining_docs = remaining_docs[:_AT_ONCE], remaining_docs[_AT_ONCE:]
        changed = list(tx.rows(_TAKE, {"most": _AT_ONCE, "given": part})) if part else []
    if erases and docs:
        from .segments import erase  # rarely needed

        erase(tx, docs)
    return due


def _tokenize(tx: PostgresWrite, changed: list[Row]) -> list[Row]:
    cut = [TokenizedDocument(*row[:6]) for row in changed if row[1] is not None]
    generation = changed[0][6]
    words: set[str] = set().union(*[document.words for document in cut])
    numbers = assign_ids(tx, words, tx.known_terms(generation))
    tx.cache_terms(generation, numbers)
    return [document.row(numbers) for document in cut]


def _write_full_segment(tx: PostgresWrite, rows: list[Row]) -> list[Row]:
    """Write documents as a segment if they are enough for one; return those that are not written."""
    if (
        len(rows) < segment_size.SEGMENT
        and sum([len(column) for row in rows for column in row[6:]]) < segment_size.SEGMENT_BYTES
    ):
        return rows
    from .segments import write_documents  # imports numpy

    write_documents(tx, rows[: segment_size.SEGMENT])
    return rows[segment_size.SEGMENT :]


def _add(tx: PostgresWrite, changed: list[Row], rows: list[Row], buffered: list[Row]) -> None:
    columns = zip(*[row[:6] for row in rows], strict=True) if rows else [()] * len(_DOCUMENT_COLUMNS)
    postings = zip(*[(row[0], *row[6:]) for row in buffered], strict=True) if buffered else [()] * len(_POSTING_COLUMNS)
    values = dict(zip(_DOCUMENT_COLUMNS | _POSTING_COLUMNS, map(list, [*columns, *postings]), strict=True))
    tx.queue(_ADD, {"changed": [row[0] for row in changed], **values})
