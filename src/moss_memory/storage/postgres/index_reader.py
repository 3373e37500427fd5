"""Read the posting lists of a search, and evaluate expressions on them.

A document is identified by its row in `Documents`, so that properties of documents are arrays of that length.
"""

from __future__ import annotations

import numpy as np

from moss_memory.search.expression import Operand

from .codec import HEAVY, IN_BODY, POSITIONS, TITLE_WEIGHT
from .documents import Documents, DocumentTable
from .posting_blocks import BLOCK_COLUMNS, POSITION_COLUMNS, Postings, decode_varint_array, keys_of, runs
from .term_dictionary import key_of, prefix_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from moss_memory.search.expression import Expression
    from moss_memory.storage.engine import Parameters, Row

    from .posting_blocks import Numbers
    from .transaction import PostgresTransaction

    Span = tuple[str, str]
    """A range of terms, the end excluded."""
    Weights = tuple[Numbers, Numbers]
    """The rows of matching documents, each once, and their weights: occurrences, in the title times five."""

_LAST = "\U0010ffff"
"""Appended to a prefix, the upper bound of all terms with this prefix."""
_LOOK_UP = (
    "select * from search_look_up({}, cast(:firsts as text[]), cast(:lasts as text[]), cast(:terms as text[]), {})"
)
_BLOCKS = "select {} from search_postings where key = any(cast(:keys as integer[]))"
_TERM, _BLOCK, _POSITIONED = 2, slice(3, 8), slice(3, 10)
"""The columns of its rows: a term, or else a block without or with positions."""
_FEW = 16
"""At most this number of terms is compared one by one; more are looked up in a table."""
_COLUMNS = {False: BLOCK_COLUMNS, True: f"{BLOCK_COLUMNS}, {POSITION_COLUMNS}"}


class IndexReader:
    """The index in one snapshot."""

    def __init__(self, tx: PostgresTransaction) -> None:
        self._tx = tx
        self._terms: dict[Span, list[tuple[str, int]]] = {}
        self._deleted: Numbers = np.zeros(0, dtype=np.int64)
        self._reading: DocumentTable | None = None
        self._all: Documents | None = None
        self._ahead: tuple[set[int], list[Row]] = set(), []
        """The keys of prefetched blocks, and the blocks."""
        self.documents = 0
        self.average = 1.0
        """The average number of terms in a document."""

    @property
    def all(self) -> Documents:
        if self._all is None:
            self.read([])
        assert self._all is not None
        return self._all

    def load_terms(self, spans: Iterable[Span], terms: Iterable[str] | None, *, positions: bool = False) -> None:
        """Read the terms of each range, and prefetch the blocks of `terms`, or of all terms found if None.

        Both take one message; `read` uses the prefetched blocks next.
        """
        unique_spans = list(dict.fromkeys(spans))
        ahead = None if terms is None else set(terms)
        edges = [_edges(span) for span in unique_spans]
        values = {
            "firsts": [first for first, _ in edges],
            "lasts": [last for _, last in edges],
            "terms": None if ahead is None else [key_of(term) for term in ahead],
        }
        (rows,) = self._tx.together((_LOOK_UP.format(self._reading is None, positions), values))
        if self._reading is None:
            self._set_state(rows.pop(0))
        term_rows = sorted({(row[_TERM], row[0]) for row in rows if row[_TERM] is not None})
        for span in unique_spans:
            self._terms[span] = [row for row in term_rows if span[0] <= row[0] < span[1]]
        columns = _POSITIONED if positions else _BLOCK
        keys = set(keys_of([number for term, number in term_rows if ahead is None or term in ahead]))
        # A term may be outside its own range, as `ied`, whose stem is `y`: its blocks are ignored.
        self._ahead = keys, [row[columns] for row in rows if row[_TERM] is None and row[0] in keys]

    def _set_state(self, row: Row) -> None:
        self.documents, length, _, deleted, buffered, _, segments, *_ = row
        self.average = length / self.documents if self.documents else 1.0
        self._deleted = np.frombuffer(deleted or b"", dtype=">i4")
        self._reading = DocumentTable(self._tx, buffered, segments)

    def between(self, span: Span) -> list[tuple[str, int]]:
        """Return the terms of a range that was looked up, in order, each with its id."""
        return self._terms[span]

    def read(self, numbers: Iterable[int], *, positions: bool = False) -> PostingLists:
        """Read the posting lists of these terms in one message, including the positions if requested."""
        if self._reading is None:
            self.load_terms([], [])
        assert self._reading is not None
        term_ids = sorted(set(numbers))
        (prefetched, blocks), self._ahead = self._ahead, (set(), [])
        missing = [key for key in keys_of(term_ids) if key not in prefetched]
        statements: list[tuple[str, Parameters]] = [] if self._all is not None else self._reading.statements
        if missing:
            statements = [*statements, (_BLOCKS.format(_COLUMNS[positions]), {"keys": missing})]
        answers = self._tx.together(*statements) if statements else []
        if missing:
            blocks += answers.pop()
        if self._all is None:
            self._all = self._reading.documents(answers)
        lists = PostingLists(self._all, Postings.of_blocks(blocks), term_ids, self._deleted, positions=positions)
        return lists if lists.is_whole else self.read(term_ids, positions=True)


class _DecodedPositions:
    """The decoded positions of postings, and for each posting the index of its first position and their count."""

    __slots__ = ("counts", "first", "numbers", "weights")

    def __init__(self, postings: Postings) -> None:
        self.numbers = decode_varint_array(postings.positions)
        edges = np.append(0, np.cumsum(postings.positions < 128))
        ends = edges[np.cumsum(postings.lengths)]
        first = ends - np.diff(ends, prepend=0)
        first += postings.sizes == 0  # skip the size
        is_heavy = postings.weights == HEAVY
        self.weights = postings.weights.astype(np.int64)
        self.weights[is_heavy] = self.numbers[first[is_heavy]]
        self.first = first + is_heavy
        self.counts = ends - self.first


def whole_weights(postings: Postings) -> Numbers:
    """Return the actual weight of each posting, also if it is too large for one byte."""
    return _DecodedPositions(postings).weights


def starts_in(postings: Postings, documents: Numbers, distance: int) -> Numbers:
    """Return the starts of phrases in which these terms are at a distance from the first term.

    A start is one integer, made of a document and a position: the starts of all terms of a phrase are compared as sets.
    `documents` has the document of each posting.
    """
    if not len(postings):
        return np.zeros(0, dtype=np.int64)
    decoded = _DecodedPositions(postings)
    counts = decoded.counts
    steps = decoded.numbers[runs(decoded.first, counts)]
    walked = np.append(0, np.cumsum(steps))
    first = np.cumsum(counts) - counts
    in_title = (decoded.weights - counts) // (TITLE_WEIGHT - 1)
    body = first + in_title
    from_title = documents * POSITIONS - distance - walked[first]
    from_body = documents * POSITIONS - distance - walked[body] + IN_BODY
    is_body = np.arange(len(steps)) >= np.repeat(body, counts)
    starts: Numbers = walked[1:] + np.where(is_body, np.repeat(from_body, counts), np.repeat(from_title, counts))
    return starts


class PostingLists:
    """The posting lists of some terms."""

    def __init__(
        self, documents: Documents, blocks: Postings, term_ids: list[int], deleted: Numbers, *, positions: bool
    ) -> None:
        self._count = len(documents)
        self._parts: list[tuple[Postings, Numbers, Numbers]] = []
        """Postings, the indexes of those that are in existing documents, and the row of each document."""
        for part in (blocks, documents.buffered.postings) if len(documents.buffered.postings) else (blocks,):
            chosen = np.flatnonzero(_is_wanted(part.numbers, term_ids))
            rows = documents.rows_of(part.slots[chosen])
            if len(deleted):
                rows[np.isin(part.slots[chosen], deleted)] = -1
            is_there = rows >= 0
            self._parts.append((part, chosen[is_there], rows[is_there]))
        self._numbers = np.concatenate([part.numbers[chosen] for part, chosen, _ in self._parts])
        self._rows = np.concatenate([rows for _, _, rows in self._parts])
        weights = np.concatenate([part.weights[chosen] for part, chosen, _ in self._parts])
        self.is_whole = positions or not (weights == HEAVY).any()
        """True if all weights are known: a large one is stored with the positions."""
        if positions and (weights == HEAVY).any():
            weights = np.concatenate([whole_weights(part.take(chosen)) for part, chosen, _ in self._parts])
        self._weights = weights.astype(np.float64)

    def of(self, number: int) -> Weights:
        chosen = self._numbers == number
        return self._rows[chosen], self._weights[chosen]

    def any_of(self, numbers: list[int]) -> Weights:
        """Return the documents that contain any of these terms, with summed weights."""
        if len(numbers) == 1:
            return self.of(numbers[0])
        chosen = np.isin(self._numbers, numbers)
        weights = np.bincount(self._rows[chosen], weights=self._weights[chosen], minlength=self._count)
        rows = np.flatnonzero(weights)
        return rows, weights[rows]

    def phrase(self, parts: list[list[int]]) -> Weights:
        """Return the documents in which a term of each part follows a term of the previous part."""
        holding = [mask_of(self._rows[np.isin(self._numbers, numbers)], self._count) for numbers in parts]
        candidates = np.logical_and.reduce(holding)
        starts: Numbers | None = None
        for distance, numbers in sorted(enumerate(parts), key=lambda part: holding[part[0]].sum()):
            part_starts = self._starts(numbers, candidates, distance)
            starts = part_starts if starts is None else starts[_is_among(starts, part_starts)]
            candidates = mask_of(starts // POSITIONS, self._count)
        assert starts is not None
        start_weights = np.where(starts % POSITIONS >= IN_BODY, 1, TITLE_WEIGHT)
        weights = np.bincount(starts // POSITIONS, weights=start_weights, minlength=self._count)
        rows = np.flatnonzero(weights)
        return rows, weights[rows]

    def _starts(self, numbers: list[int], candidates: Numbers, distance: int) -> Numbers:
        """Return the sorted starts of phrases with one of the terms at this distance, in the candidate documents."""
        start_arrays = []
        for part, chosen, rows in self._parts:
            selected = np.flatnonzero(np.isin(part.numbers[chosen], numbers) & candidates[rows])
            start_arrays.append(starts_in(part.take(chosen[selected]), rows[selected], distance))
        starts = np.concatenate(start_arrays)
        starts.sort()
        return starts


def _is_wanted(numbers: Numbers, term_ids: list[int]) -> Numbers:
    """Return a mask of the numbers among these term ids; on a full buffer `np.isin` takes five times as long."""
    if len(term_ids) > _FEW:
        is_wanted = mask_of(np.array(term_ids, dtype=np.int64), max([int(numbers.max(initial=0)), *term_ids]) + 1)
        mask: Numbers = is_wanted[numbers]
    else:
        mask = np.zeros(len(numbers), dtype=bool)
        for term_id in term_ids:
            mask |= numbers == term_id
    return mask


def mask_of(at: Numbers, count: int) -> Numbers:
    """Return a mask of length `count` that is True at these indexes."""
    mask = np.zeros(count, dtype=bool)
    mask[at] = True
    return mask


def _is_among(numbers: Numbers, others: Numbers) -> Numbers:
    """Return a mask of the numbers that are among others, both sorted."""
    if not len(others):
        return np.zeros(len(numbers), dtype=bool)
    indexes = np.minimum(np.searchsorted(others, numbers), len(others) - 1)
    mask: Numbers = others[indexes] == numbers
    return mask


class MatchEvaluator:
    """The documents that match an expression, and the weights of the phrases that they match."""

    def __init__(self, index: IndexReader, node: Operand | Expression) -> None:
        operands = _operands(node)
        spans = [span for operand in operands for span in _spans(operand)]
        positions = any(len(operand.words) > 1 for operand in operands)
        index.load_terms(spans, None, positions=positions)
        self._index = index
        self._postings = index.read(
            [number for span in spans for _, number in index.between(span)], positions=positions
        )
        self.mask, phrases = self._match(node)
        self.phrases = [(hits, (rows[mask[rows]], weights[mask[rows]])) for hits, (rows, weights), mask in phrases]

    def _match(self, node: Operand | Expression) -> tuple[Numbers, list[tuple[int, Weights, Numbers]]]:
        """Return the mask of a node, and for each phrase its document count, its weights, and its own mask."""
        if isinstance(node, Operand):
            weights = self._match_operand(node)
            mask = mask_of(weights[0], len(self._index.all))
            return mask, [(len(weights[0]), weights, mask)]
        parts = [self._match(part) for part in node.parts]
        masks = [mask for mask, _ in parts]
        if node.operator == "OR":
            return np.logical_or.reduce(masks), [phrase for _, phrases in parts for phrase in phrases]
        if node.operator == "NOT":
            masks[1:] = [~mask for mask in masks[1:]]
        matched = np.logical_and.reduce(masks)
        positive = parts[:1] if node.operator == "NOT" else parts
        scored = [(hits, weights, mask & matched) for _, phrases in positive for hits, weights, mask in phrases]
        return matched, scored

    def _match_operand(self, operand: Operand) -> Weights:
        """Return the documents that contain the terms of an operand adjacently."""
        parts = [[number for _, number in self._index.between(span)] for span in _spans(operand)]
        return self._postings.phrase(parts) if len(parts) > 1 else self._postings.any_of(parts[0])


def _operands(node: Operand | Expression) -> list[Operand]:
    if isinstance(node, Operand):
        return [node]
    return [operand for part in node.parts for operand in _operands(part)]


def _spans(operand: Operand) -> list[Span]:
    """Return the range of dictionary terms that match each term of an operand."""
    spans = [(term, term + "\0") for term in operand.words]
    if operand.prefix:
        spans[-1] = (operand.words[-1], operand.words[-1] + _LAST)
    return spans


def _edges(span: Span) -> Span:
    """Return the range of keys that includes all terms of a range; the key of a long term is its prefix and a hash."""
    start, end = span
    if end == start + "\0":
        return key_of(start), key_of(start) + "\x01"  # nothing can be in between
    first = prefix_of(start)
    return first, end if first == start else first + _LAST
