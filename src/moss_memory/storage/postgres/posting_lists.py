"""What one search reads of the index of words: which documents hold which words, how often and where.

A document is told by its place among all `Documents`, so that what is known of documents is arrays as long as those.
"""

from __future__ import annotations

import numpy as np

from moss_memory.search.expression import Operand

from .codec import HEAVY, IN_BODY, PLACES, TITLE_WEIGHT
from .documents import Documents, DocumentTable
from .phrases import starts_in, whole_weights
from .postings import BLOCK_COLUMNS, PLACE_COLUMNS, Postings, keys_of
from .term_dictionary import beginning_of, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from moss_memory.search.expression import Expression
    from moss_memory.storage.engine import Parameters, Row

    from .postings import Numbers
    from .transaction import PostgresTransaction

    Span = tuple[str, str]
    """A range of words, from the first to before the second."""
    Weights = tuple[Numbers, Numbers]
    """Documents that hold something, each once, and how often each does, in the title five times over."""

_GROWS = "\U0010ffff"
_LOOK_UP = (
    "select * from search_look_up({}, cast(:firsts as text[]), cast(:lasts as text[]), cast(:asked as text[]), {})"
)
BLOCKS = "select {} from search_postings where key = any(cast(:keys as integer[]))"
_WORD, _BLOCK, _PLACED = 2, slice(3, 8), slice(3, 10)
"""Where in what it answers a word stands, or else a block."""
_COLUMNS = {False: BLOCK_COLUMNS, True: f"{BLOCK_COLUMNS}, {PLACE_COLUMNS}"}


class Index:
    """The index as one state of the store has it."""

    def __init__(self, tx: PostgresTransaction) -> None:
        self._tx = tx
        self._words: dict[Span, list[tuple[str, int]]] = {}
        self._dead: Numbers = np.zeros(0, dtype=np.int64)
        self._reading: DocumentTable | None = None
        self._all: Documents | None = None
        self._ahead: tuple[set[int], list[Row]] = set(), []
        """The keys of blocks that were read ahead, and the blocks."""
        self.documents = 0
        self.average = 1.0
        """How many words a document has."""

    @property
    def all(self) -> Documents:
        """All documents."""
        if self._all is None:
            self.read([])
        assert self._all is not None
        return self._all

    def look_up(self, spans: Iterable[Span], words: Iterable[str] | None, *, places: bool = False) -> None:
        """Reads in one message which words there are in each range; and ahead who holds some words, or all of those,
        for which `read` is asked next."""
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
        # A word may be outside its own range, as `ied` is, whose stem is `y`: what is read of it does not count.
        self._ahead = keys, [row[columns] for row in rows if row[_WORD] is None and row[0] in keys]

    def _set_state(self, row: Row) -> None:
        self.documents, length, _, dead, fresh, _, segments, *_ = row
        self.average = length / self.documents if self.documents else 1.0
        self._dead = np.frombuffer(dead or b"", dtype=">i4")
        self._reading = DocumentTable(self._tx, fresh, segments)

    def between(self, span: Span) -> list[tuple[str, int]]:
        """The words of a range that was looked up, in order, each with its number."""
        return self._words[span]

    def read(self, numbers: Iterable[int], *, places: bool = False) -> PostingLists:
        """Reads in one message which documents hold these words, and with `places` where."""
        if self._reading is None:
            self.look_up([], [])
        assert self._reading is not None
        wanted = sorted(set(numbers))
        (known, blocks), self._ahead = self._ahead, (set(), [])
        missing = [key for key in keys_of(wanted) if key not in known]
        statements: list[tuple[str, Parameters]] = [] if self._all is not None else self._reading.asked
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
    """The postings of some words."""

    def __init__(
        self, documents: Documents, blocks: Postings, wanted: list[int], dead: Numbers, *, places: bool
    ) -> None:
        self._count = len(documents)
        self._parts: list[tuple[Postings, Numbers, Numbers]] = []
        """Postings, those among them that are held, and the document of each of these."""
        for part in (blocks, documents.postings) if len(documents.postings) else (blocks,):
            chosen = np.flatnonzero(np.isin(part.numbers, wanted))
            at = documents.places_of(part.slots[chosen])
            if len(dead):
                at[np.isin(part.slots[chosen], dead)] = -1
            is_there = at >= 0
            self._parts.append((part, chosen[is_there], at[is_there]))
        self._numbers = np.concatenate([part.numbers[chosen] for part, chosen, _ in self._parts])
        self._at = np.concatenate([at for _, _, at in self._parts])
        weights = np.concatenate([part.weights[chosen] for part, chosen, _ in self._parts])
        self.is_whole = places or not (weights == HEAVY).any()
        """Whether all weights are known: a large one stands before the places."""
        if places and (weights == HEAVY).any():
            weights = np.concatenate([whole_weights(part.take(chosen)) for part, chosen, _ in self._parts])
        self._weights = weights.astype(np.float64)

    def of(self, number: int) -> Weights:
        """The documents that hold a word."""
        chosen = self._numbers == number
        return self._at[chosen], self._weights[chosen]

    def any_of(self, numbers: list[int]) -> Weights:
        """The documents that hold any of these words, as if they were one."""
        if len(numbers) == 1:
            return self.of(numbers[0])
        chosen = np.isin(self._numbers, numbers)
        weights = np.bincount(self._at[chosen], weights=self._weights[chosen], minlength=self._count)
        at = np.flatnonzero(weights)
        return at, weights[at]

    def phrase(self, parts: list[list[int]]) -> Weights:
        """The documents where a word of each part follows one of the part before."""
        holding = [self._mask(numbers) for numbers in parts]
        wanted = np.logical_and.reduce(holding)
        starts: Numbers | None = None
        for distance, numbers in sorted(enumerate(parts), key=lambda one: holding[one[0]].sum()):
            here = self._starts(numbers, wanted, distance)
            starts = here if starts is None else starts[_is_among(starts, here)]
            wanted = mask_of(starts // PLACES, self._count)
        assert starts is not None
        often = np.where(starts % PLACES >= IN_BODY, 1, TITLE_WEIGHT)
        weights = np.bincount(starts // PLACES, weights=often, minlength=self._count)
        at = np.flatnonzero(weights)
        return at, weights[at]

    def _mask(self, numbers: list[int]) -> Numbers:
        return mask_of(self._at[np.isin(self._numbers, numbers)], self._count)

    def _starts(self, numbers: list[int], wanted: Numbers, distance: int) -> Numbers:
        """Where phrases may begin in the wanted documents, in order, if one of the words is so far behind the
        beginning."""
        found = []
        for part, chosen, at in self._parts:
            here = np.flatnonzero(np.isin(part.numbers[chosen], numbers) & wanted[at])
            found.append(starts_in(part.take(chosen[here]), at[here], distance))
        starts = np.concatenate(found)
        starts.sort()
        return starts


def mask_of(at: Numbers, count: int) -> Numbers:
    """Which of so many documents are among some."""
    mask = np.zeros(count, dtype=bool)
    mask[at] = True
    return mask


def _is_among(numbers: Numbers, others: Numbers) -> Numbers:
    """Which numbers are among others, both in order."""
    if not len(others):
        return np.zeros(len(numbers), dtype=bool)
    at = np.minimum(np.searchsorted(others, numbers), len(others) - 1)
    found: Numbers = others[at] == numbers
    return found


class MatchEvaluator:
    """The documents that an expression matches, and the phrases by which each of them does."""

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
        """What a node matches; of each phrase in it how many documents hold it, and where it counts."""
        if isinstance(node, Operand):
            weights = self._holding(node)
            mask = mask_of(weights[0], len(self._index.all))
            return mask, [(len(weights[0]), weights, mask)]
        parts = [self._match(part) for part in node.parts]
        masks = [mask for mask, _ in parts]
        if node.operator == "OR":
            return np.logical_or.reduce(masks), [phrase for _, phrases in parts for phrase in phrases]
        if node.operator == "NOT":
            masks[1:] = [~mask for mask in masks[1:]]
        matched = np.logical_and.reduce(masks)
        pluralize = parts[:1] if node.operator == "NOT" else parts
        kept = [(hits, weights, mask & matched) for _, phrases in pluralize for hits, weights, mask in phrases]
        return matched, kept

    def _holding(self, operand: Operand) -> Weights:
        """The documents that hold the words of an operand side by side."""
        parts = [[number for _, number in self._index.between(span)] for span in _spans(operand)]
        return self._held.phrase(parts) if len(parts) > 1 else self._held.any_of(parts[0])


def _operands(node: Operand | Expression) -> list[Operand]:
    if isinstance(node, Operand):
        return [node]
    return [operand for part in node.parts for operand in _operands(part)]


def _spans(operand: Operand) -> list[Span]:
    """The ranges of words that stand for each word of an operand."""
    spans = [(word, word + "\0") for word in operand.words]
    if operand.prefix:
        spans[-1] = (operand.words[-1], operand.words[-1] + _GROWS)
    return spans


def _edges(span: Span) -> Span:
    """The range in which the words of a range are kept, and maybe some more: long ones are kept under their
    beginnings."""
    start, end = span
    if end == start + "\0":
        return key_of(start), key_of(start) + "\x01"  # nothing can be in between
    first = beginning_of(start)
    return first, end if first == start else first + _GROWS
