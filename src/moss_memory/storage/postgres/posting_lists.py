"""Read the posting lists of a search, and evaluate expressions on them.

A document is identified by its position in `Documents`, so that properties of documents are arrays of that length.
"""

from __future__ import annotations

import numpy as np

from moss_memory.search.expression import Operand

from .codec import HEAVY, IN_BODY, PLACES, TITLE_WEIGHT
from .documents import Documents, DocumentTable
from .phrases import starts_in, whole_weights
from .postings import BLOCK_COLUMNS, PLACE_COLUMNS, Postings, keys_of
from .term_dictionary import key_of, prefix_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from moss_memory.search.expression import Expression
    from moss_memory.storage.engine import Parameters, Row

    from .postings import Numbers
    from .transaction import PostgresTransaction

    Span = tuple[str, str]
    """A range of words, the end excluded."""
    Weights = tuple[Numbers, Numbers]
    """The positions of matching documents, each once, and their weights: occurrences, in the title times five."""

_LAST = "\U0010ffff"
"""Appended to a prefix, the upper bound of all words with this prefix."""
_LOOK_UP = (
    "select * from search_look_up({}, cast(:firsts as text[]), cast(:lasts as text[]), cast(:asked as text[]), {})"
)
BLOCKS = "select {} from search_postings where key = any(cast(:keys as integer[]))"
_WORD, _BLOCK, _PLACED = 2, slice(3, 8), slice(3, 10)
"""The columns of its rows: a word, or else a block without or with places."""
_COLUMNS = {False: BLOCK_COLUMNS, True: f"{BLOCK_COLUMNS}, {PLACE_COLUMNS}"}


class Index:
    """The index in one snapshot."""

    def __init__(self, tx: PostgresTransaction) -> None:
        self._tx = tx
        self._words: dict[Span, list[tuple[str, int]]] = {}
        self._dead: Numbers = np.zeros(0, dtype=np.int64)
        self._reading: DocumentTable | None = None
        self._all: Documents | None = None
        self._ahead: tuple[set[int], list[Row]] = set(), []
        """The keys of prefetched blocks, and the blocks."""
        self.documents = 0
        self.average = 1.0
        """The average number of words in a document."""

    @property
    def all(self) -> Documents:
        """All documents."""
        if self._all is None:
            self.read([])
        assert self._all is not None
        return self._all

    def look_up(self, spans: Iterable[Span], words: Iterable[str] | None, *, places: bool = False) -> None:
        """Read the words of each range, and prefetch the blocks of `words`, or of all words found if None.

        Both take one message; `read` uses the prefetched blocks next.
        """
        asked = list(dict.fromkeys(spans))
        ahead = None if words is None else set(words)
        edges = [_edges(span) for span in asked]
        values = {
            "firsts": [first for first, _ in edges],
            "lasts": [last for _, last in edges],
            "asked": None if ahead is None else [key_of(word) for word in ahead],
        }
        (rows,) = self._tx.together((_LOOK_UP.format(self._reading is None, places), values))
        if self._reading is None:
            self._set_state(rows.pop(0))
        found = sorted({(row[_WORD], row[0]) for row in rows if row[_WORD] is not None})
        for span in asked:
            self._words[span] = [row for row in found if span[0] <= row[0] < span[1]]
        columns = _PLACED if places else _BLOCK
        keys = set(keys_of([number for word, number in found if ahead is None or word in ahead]))
        # A word may be outside its own range, as `ied`, whose stem is `y`: its blocks are ignored.
        self._ahead = keys, [row[columns] for row in rows if row[_WORD] is None and row[0] in keys]

    def _set_state(self, row: Row) -> None:
        self.documents, length, _, dead, fresh, _, segments, *_ = row
        self.average = length / self.documents if self.documents else 1.0
        self._dead = np.frombuffer(dead or b"", dtype=">i4")
        self._reading = DocumentTable(self._tx, fresh, segments)

    def between(self, span: Span) -> list[tuple[str, int]]:
        """Return the words of a range that was looked up, in order, each with its id."""
        return self._words[span]

    def read(self, numbers: Iterable[int], *, places: bool = False) -> PostingLists:
        """Read the posting lists of these words in one message, including the places if requested."""
        if self._reading is None:
            self.look_up([], [])
        assert self._reading is not None
        wanted = sorted(set(numbers))
        (known, blocks), self._ahead = self._ahead, (set(), [])
        missing = [key for key in keys_of(wanted) if key not in known]
        statements: list[tuple[str, Parameters]] = [] if self._all is not None else self._reading.statements
        if missing:
            statements = [*statements, (BLOCKS.format(_COLUMNS[places]), {"keys": missing})]
        answers = self._tx.together(*statements) if statements else []
        if missing:
            blocks += answers.pop()
        if self._all is None:
            self._all = self._reading.documents(answers)
        held = PostingLists(self._all, Postings.of_blocks(blocks), wanted, self._dead, places=places)
        return held if held.is_whole else self.read(wanted, places=True)


class PostingLists:
    """The posting lists of some words."""

    def __init__(
        self, documents: Documents, blocks: Postings, wanted: list[int], dead: Numbers, *, places: bool
    ) -> None:
        self._count = len(documents)
        self._parts: list[tuple[Postings, Numbers, Numbers]] = []
        """Postings, the indexes of those that are in existing documents, and the position of each document."""
        for part in (blocks, documents.postings) if len(documents.postings) else (blocks,):
            chosen = np.flatnonzero(np.isin(part.numbers, wanted))
            at = documents.positions_of(part.slots[chosen])
            if len(dead):
                at[np.isin(part.slots[chosen], dead)] = -1
            is_there = at >= 0
            self._parts.append((part, chosen[is_there], at[is_there]))
        self._numbers = np.concatenate([part.numbers[chosen] for part, chosen, _ in self._parts])
        self._at = np.concatenate([at for _, _, at in self._parts])
        weights = np.concatenate([part.weights[chosen] for part, chosen, _ in self._parts])
        self.is_whole = places or not (weights == HEAVY).any()
        """True if all weights are known: a large one is stored with the places."""
        if places and (weights == HEAVY).any():
            weights = np.concatenate([whole_weights(part.take(chosen)) for part, chosen, _ in self._parts])
        self._weights = weights.astype(np.float64)

    def of(self, number: int) -> Weights:
        """Return the documents that contain a word."""
        chosen = self._numbers == number
        return self._at[chosen], self._weights[chosen]

    def any_of(self, numbers: list[int]) -> Weights:
        """Return the documents that contain any of these words, with summed weights."""
        if len(numbers) == 1:
            return self.of(numbers[0])
        chosen = np.isin(self._numbers, numbers)
        weights = np.bincount(self._at[chosen], weights=self._weights[chosen], minlength=self._count)
        at = np.flatnonzero(weights)
        return at, weights[at]

    def phrase(self, parts: list[list[int]]) -> Weights:
        """Return the documents in which a word of each part follows a word of the previous part."""
        holding = [self._mask(numbers) for numbers in parts]
        wanted = np.logical_and.reduce(holding)
        starts: Numbers | None = None
        for distance, numbers in sorted(enumerate(parts), key=lambda one: holding[one[0]].sum()):
            here = self._starts(numbers, wanted, distance)
            starts = here if starts is None else starts[_is_among(starts, here)]
            wanted = mask_of(starts // PLACES, self._count)
        assert starts is not None
        each = np.where(starts % PLACES >= IN_BODY, 1, TITLE_WEIGHT)
        weights = np.bincount(starts // PLACES, weights=each, minlength=self._count)
        at = np.flatnonzero(weights)
        return at, weights[at]

    def _mask(self, numbers: list[int]) -> Numbers:
        return mask_of(self._at[np.isin(self._numbers, numbers)], self._count)

    def _starts(self, numbers: list[int], wanted: Numbers, distance: int) -> Numbers:
        """Return the sorted starts of phrases with one of the words at this distance, in the wanted documents."""
        found = []
        for part, chosen, at in self._parts:
            here = np.flatnonzero(np.isin(part.numbers[chosen], numbers) & wanted[at])
            found.append(starts_in(part.take(chosen[here]), at[here], distance))
        starts = np.concatenate(found)
        starts.sort()
        return starts


def mask_of(at: Numbers, count: int) -> Numbers:
    """Return a mask of length `count` that is True at these positions."""
    mask = np.zeros(count, dtype=bool)
    mask[at] = True
    return mask


def _is_among(numbers: Numbers, others: Numbers) -> Numbers:
    """Return a mask of the numbers that are among others, both sorted."""
    if not len(others):
        return np.zeros(len(numbers), dtype=bool)
    at = np.minimum(np.searchsorted(others, numbers), len(others) - 1)
    found: Numbers = others[at] == numbers
    return found


class MatchEvaluator:
    """The documents that match an expression, and the weights of the phrases that they match."""

    def __init__(self, index: Index, node: Operand | Expression) -> None:
        operands = _operands(node)
        spans = [span for one in operands for span in _spans(one)]
        places = any(len(one.words) > 1 for one in operands)
        index.look_up(spans, None, places=places)
        self._index = index
        self._held = index.read([number for span in spans for _, number in index.between(span)], places=places)
        self.mask, phrases = self._match(node)
        self.phrases = [(hits, (at[mask[at]], weights[mask[at]])) for hits, (at, weights), mask in phrases]

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
        """Return the documents that contain the words of an operand adjacently."""
        parts = [[number for _, number in self._index.between(span)] for span in _spans(operand)]
        return self._held.phrase(parts) if len(parts) > 1 else self._held.any_of(parts[0])


def _operands(node: Operand | Expression) -> list[Operand]:
    if isinstance(node, Operand):
        return [node]
    return [operand for part in node.parts for operand in _operands(part)]


def _spans(operand: Operand) -> list[Span]:
    """Return the range of dictionary words that match each word of an operand."""
    spans = [(word, word + "\0") for word in operand.words]
    if operand.prefix:
        spans[-1] = (operand.words[-1], operand.words[-1] + _LAST)
    return spans


def _edges(span: Span) -> Span:
    """Return the range of keys that includes all words of a range; the key of a long word is its prefix and a hash."""
    start, end = span
    if end == start + "\0":
        return key_of(start), key_of(start) + "\x01"  # nothing can be in between
    first = prefix_of(start)
    return first, end if first == start else first + _LAST
