"""What one search reads of the index of words: which documents hold which words, how often and where."""

from __future__ import annotations

from ...query.expression import Operand
from .packing import HEAVY, IN_BODY, PLACES, SLOT, TITLE_WEIGHT, parts_of, spans_of, unpacked, weight_of
from .phrases import starts_in
from .words import beginning_of, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable

    from ...query.expression import Expression
    from ..engine import Parameters, Row
    from .transaction import PostgresTransaction

    Span = tuple[str, str]
    """A range of words, from the first to before the second."""
    Weights = dict[int, int]
    """Of each slot, how often it holds something, in the title five times over."""

_GROWS = "\U0010ffff"
_NARROW = 4
"""Of words that share so many letters nearly all are forms of one, so their postings are read along with them."""
_STATE = (
    "select cast(sum(docs) as bigint), cast(sum(length) as bigint), (select array_agg(slot) from search_dead)"
    " from search_totals"
)
_WORDS = "select coalesce(whole, word), id from search_words where {} order by word"
_HELD = (
    "select coalesce(whole, known.word), id, slots, weights{} from search_words as known"
    " left join search_postings on search_postings.word = id where {} order by known.word"
)
_POSTINGS = "select word, slots, weights{} from search_postings where word = any(cast(:words as integer[]))"
_FRESH = "select slot, words, weights{} from search_fresh where words && {}"
_PLACES = {False: "", True: ", sizes, places"}


class _Held:
    """The documents that hold one word."""

    __slots__ = ("_placed", "weights")

    def __init__(self) -> None:
        self.weights: Weights = {}
        self._placed: list[tuple[array[int] | list[int], bytes, bytes, bytes]] = []

    def add(self, slots: array[int] | list[int], weights: bytes, sizes: bytes = b"", places: bytes = b"") -> None:
        """Adds postings of documents, with `sizes` also their places."""
        self.weights.update(zip(slots, weights, strict=True))
        if sizes:
            self._placed.append((slots, weights, sizes, places))

    def is_heavy(self) -> bool:
        """Whether the whole weight of some stands before its places."""
        return HEAVY in self.weights.values()

    def weigh(self) -> bool:
        """Reads such weights; false where the places were not read."""
        for slots, weights, sizes, places in self._placed:
            for slot, weight, (start, end) in zip(slots, weights, spans_of(sizes, places), strict=True):
                if weight == HEAVY and slot in self.weights:
                    self.weights[slot] = weight_of(places[start:end])
        return bool(self._placed)

    def starts(self, wanted: set[int], distance: int) -> set[int]:
        """Where a phrase may begin in each of the documents, if the word is so far behind its beginning."""
        found: set[int] = set()
        for block in self._placed:
            found.update(starts_in(*block, wanted, distance))
        return found


class Index:
    """The index as one state of the store has it; words are read once."""

    def __init__(self, tx: PostgresTransaction) -> None:
        self._tx = tx
        self._words: dict[Span, list[tuple[str, int]]] = {}
        self._held: dict[int, _Held] = {}
        self._dead: list[int] = []
        self.documents = 0
        self.average = 1.0
        """How many words a document has."""

    def look_up(self, spans: Iterable[Span], *, places: bool = False) -> None:
        """Reads in one message which words there are in each range, and of narrow ranges who holds them, and where."""
        asked = list(dict.fromkeys(spans))
        narrow = [span for span in asked if _is_narrow(span)]
        statements: list[tuple[str, Parameters]] = [(_STATE, {})]
        statements += [_words_between(span, held=span in narrow, places=places) for span in asked]
        if narrow:
            statements.append(_fresh_between(narrow, places=places))
        state, *found = self._tx.together(*statements)
        self._set_state(state[0])
        fresh = found.pop() if narrow else []
        blocks: list[Row] = []
        for span, rows in zip(asked, found, strict=True):
            inside = [row for row in rows if span[0] <= row[0] < span[1]]
            self._words[span] = list(dict.fromkeys([(row[0], row[1]) for row in inside]))
            if span in narrow:
                blocks += [row[1:] for row in inside]
        self._take(blocks, fresh, [number for span in narrow for _, number in self._words[span]])

    def _set_state(self, row: Row) -> None:
        documents, length, dead = row
        self.documents = documents or 0
        self.average = length / documents if documents else 1.0
        self._dead = dead or []

    def between(self, span: Span) -> list[tuple[str, int]]:
        """The words of a range that was looked up, in order, each with its number."""
        return self._words[span]

    def read(self, numbers: Iterable[int], *, places: bool = False) -> None:
        """Reads which documents hold these words, if it was not, and with `places` where."""
        new = [number for number in set(numbers) if number not in self._held]
        if new:
            any_of = ("cast(:words as integer[])", {"words": new})
            blocks, fresh = self._tx.together(
                (_POSTINGS.format(_PLACES[places]), {"words": new}),
                (_FRESH.format(_PLACES[places], any_of[0]), any_of[1]),
            )
            self._take(blocks, fresh, new)

    def _take(self, blocks: list[Row], fresh: list[Row], numbers: Iterable[int]) -> None:
        """Keeps what was read of some words: rows of segments, and rows of fresh documents."""
        held = {number: _Held() for number in numbers}
        for number, slots, *postings in blocks:
            if slots is not None:
                held[number].add(unpacked(SLOT, slots), *postings)
        for slot, words, weights, *placed in fresh:
            parts = parts_of(*placed) if placed else []
            for number in held.keys() & set(words):
                at = words.index(number)
                own = (placed[0][at : at + 1], parts[at]) if placed else ()
                held[number].add([slot], weights[at : at + 1], *own)
        for one in held.values():
            for slot in self._dead:
                one.weights.pop(slot, None)
        self._held |= held
        self._weigh([number for number, one in held.items() if one.is_heavy()])

    def _weigh(self, heavy: list[int]) -> None:
        """Finds out the whole weights, which stand before the places; where those were not read, they are now."""
        bare = [number for number in heavy if not self._held[number].weigh()]
        for number in bare:
            del self._held[number]
        self.read(bare, places=True)

    def weights(self, number: int) -> Weights:
        """The documents that hold a word that was read."""
        return self._held[number].weights

    def prepare(self, operands: list[Operand]) -> None:
        """Reads what some operands need."""
        for places in (False, True):
            spans = [span for one in operands if (len(one.words) > 1) == places for span in _spans(one)]
            if places and spans:
                self._held.clear()  # what was read without its places is read again
                spans = [span for one in operands for span in _spans(one)]
            if spans:
                self.look_up(spans, places=places)
                self.read([number for span in spans for _, number in self._words[span]], places=places)

    def holding(self, operand: Operand) -> Weights:
        """The documents that hold the words of an operand side by side."""
        parts = [[number for _, number in self._words[span]] for span in _spans(operand)]
        if len(parts) > 1:
            return self._phrase(parts)
        return self.weights(parts[0][0]) if len(parts[0]) == 1 else self.any_of(parts[0])

    def any_of(self, numbers: Iterable[int]) -> Weights:
        """The documents that hold any of these words, as if they were one."""
        found: Weights = {}
        for number in numbers:
            for slot, weight in self.weights(number).items():
                found[slot] = found.get(slot, 0) + weight
        return found

    def _phrase(self, parts: list[list[int]]) -> Weights:
        """The documents where a word of each part follows one of the part before."""
        holding = [set().union(*[self.weights(number) for number in part]) for part in parts]
        slots = set.intersection(*holding)
        starts: set[int] | None = None
        for distance, part in sorted(enumerate(parts), key=lambda one: len(holding[one[0]])):
            here = set().union(*[self._held[number].starts(slots, distance) for number in part])
            starts = here if starts is None else starts & here
            slots = {start // PLACES for start in starts}
        found: Weights = {}
        for start in starts or ():
            slot, place = divmod(start, PLACES)
            found[slot] = found.get(slot, 0) + (1 if place >= IN_BODY else TITLE_WEIGHT)
        return found


class Matched:
    """The documents that an expression matches, and the phrases by which each of them does."""

    def __init__(self, index: Index, node: Operand | Expression) -> None:
        self._index = index
        index.prepare(_operands(node))
        self.slots, phrases = self._match(node)
        self.phrases = [(hits, {slot: weights[slot] for slot in slots}) for hits, weights, slots in phrases]

    def _match(self, node: Operand | Expression) -> tuple[set[int], list[tuple[int, Weights, set[int]]]]:
        """What a node matches; of each phrase in it how many documents hold it, and where it counts."""
        if isinstance(node, Operand):
            weights = self._index.holding(node)
            slots = set(weights)
            return slots, [(len(weights), weights, slots)]
        parts = [self._match(part) for part in node.parts]
        if node.operator == "OR":
            return set().union(*(slots for slots, _ in parts)), [phrase for _, phrases in parts for phrase in phrases]
        first, others = parts[0][0], [slots for slots, _ in parts[1:]]
        matched = first.difference(*others) if node.operator == "NOT" else first.intersection(*others)
        counted = parts[:1] if node.operator == "NOT" else parts
        kept = [(hits, weights, slots & matched) for _, phrases in counted for hits, weights, slots in phrases]
        return matched, kept


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


def _is_narrow(span: Span) -> bool:
    return len(span[0]) >= _NARROW or span[1] == span[0] + "\0"


def _words_between(span: Span, *, held: bool, places: bool) -> tuple[str, Parameters]:
    """The statement for the words of a range, and with `held` for their postings."""
    condition, values = _condition(span, "known.word" if held else "word", 0)
    return (_HELD.format(_PLACES[places], condition) if held else _WORDS.format(condition)), values


def _fresh_between(spans: list[Span], *, places: bool) -> tuple[str, Parameters]:
    """The statement for the fresh documents that hold any word of the ranges."""
    conditions = [_condition(span, "word", at) for at, span in enumerate(spans)]
    numbers = " union all ".join([f"select id from search_words where {condition}" for condition, _ in conditions])
    values = {name: value for _, named in conditions for name, value in named.items()}
    return _FRESH.format(_PLACES[places], f"array({numbers})"), values


def _condition(span: Span, column: str, at: int) -> tuple[str, Parameters]:
    """That a word is of a range, or may be: long ones are kept under their beginnings."""
    start, end = span
    if end == start + "\0":
        return f"{column} = :first_{at}", {f"first_{at}": key_of(start)}
    first = beginning_of(start)
    values = {f"first_{at}": first, f"last_{at}": end if first == start else first + _GROWS}
    return f"{column} >= :first_{at} and {column} < :last_{at}", values
