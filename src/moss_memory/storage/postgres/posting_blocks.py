"""Postings as arrays (term, document, weight, positions), and the blocks in which they are stored.

A block contains the postings of one frequent term, or of several terms with adjacent ids, one term after the other.
Numbers are delta-encoded varints (see codec.py): term ids relative to the previous term, slots relative to the previous
slot, and the first slot of a term relative to the lowest slot of the block.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .codec import ends_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from moss_memory.storage.engine import Row

    Numbers: TypeAlias = NDArray[Any]

BLOCK_COLUMNS = "terms, counts, base, slots, weights"
POSITION_COLUMNS = "sizes, positions"
NEAR = 5
"""The ids of terms that share a block differ only in this many low bits: 32 terms. The schema depends on it too."""
_MANY_BYTES = 64
"""A term whose postings take more has its own block; a shared block stays small enough to be stored in one tuple."""
_MAX_VARINT_BYTES = 5
"""The size of the largest 32-bit integer as a varint."""


class Postings:
    """Postings, ordered by term and slot if they come from one block."""

    FIELDS = __slots__ = ("numbers", "slots", "weights", "sizes", "lengths", "positions")

    def __init__(
        self, numbers: Numbers, slots: Numbers, weights: Numbers, sizes: Numbers, lengths: Numbers, positions: Numbers
    ) -> None:
        self.numbers = numbers
        self.slots = slots
        self.weights = weights
        self.sizes = sizes
        self.lengths = lengths
        """The number of bytes of the positions of each posting."""
        self.positions = positions

    @classmethod
    def of(
        cls, numbers: Numbers, slots: Numbers, weights: Sequence[bytes], positioned: Sequence[Sequence[bytes]]
    ) -> Postings:
        """Return postings from encoded columns; `positioned` has their sizes and positions, if those were read."""
        sizes, positions = (b"".join(column) for column in positioned) if positioned else (b"", b"")
        return cls(
            numbers,
            slots,
            _bytes_in(b"".join(weights)),
            _bytes_in(sizes),
            _lengths(sizes, positions),
            _bytes_in(positions),
        )

    @classmethod
    def of_blocks(cls, rows: Sequence[Row]) -> Postings:
        """Decode the postings of blocks, read as `BLOCK_COLUMNS` and optionally `POSITION_COLUMNS`."""
        if not rows:
            return cls.of(_NONE, _NONE, (), ())
        terms, counts, bases, slots, weights, *positioned = zip(*rows, strict=True)
        lengths = decode_varint_array(b"".join(counts))
        first = np.cumsum(lengths) - lengths
        steps = decode_varint_array(b"".join(slots))
        sums = np.cumsum(steps)
        from_base = sums - np.repeat(sums[first] - steps[first], lengths)
        base = np.repeat(np.array(bases, dtype=np.int64), [len(block_weights) for block_weights in weights])
        return cls.of(np.repeat(decode_deltas(terms), lengths), from_base + base, weights, positioned)

    @classmethod
    def of_documents(cls, slots: Numbers, counts: Numbers, terms: bytes, columns: Sequence[bytes]) -> Postings:
        """Decode the postings of documents: their term ids, separated by 0, and their weights, sizes and positions."""
        numbers = decode_deltas([terms]).astype(np.int32)
        weights, *positioned = columns
        return cls.of(numbers, np.repeat(slots.astype(np.int32), counts), [weights], [[data] for data in positioned])

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, at: Numbers) -> Postings:
        """Return the postings at these indexes, in this order, with their positions if those were read."""
        sizes, lengths, positions = self.sizes, self.lengths, self.positions
        if len(sizes):
            starts = (np.cumsum(lengths) - lengths)[at]
            sizes, lengths = sizes[at], lengths[at]
            positions = positions[runs(starts, lengths)]
        return Postings(self.numbers[at], self.slots[at], self.weights[at], sizes, lengths, positions)

    def concat(self, other: Postings) -> Postings:
        return Postings(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.FIELDS))

    def blocks(self) -> list[tuple[Any, ...]]:
        """Encode as blocks: the key, `BLOCK_COLUMNS` and `POSITION_COLUMNS` of each."""
        terms, inverse, counts = np.unique(self.numbers, return_inverse=True, return_counts=True)
        size = 4 * counts + np.bincount(inverse, weights=self.lengths, minlength=len(terms))
        keys = np.where(size > _MANY_BYTES, terms, shared_key(terms))[inverse]
        order = np.lexsort((self.slots, self.numbers, keys))
        return self.take(order).blocks_by(keys[order])

    def blocks_by(self, keys: Numbers) -> list[tuple[Any, ...]]:
        """Encode as blocks, given the block key of each posting; the postings of a block are adjacent and sorted."""
        if not len(self):
            return []
        edges = np.append(np.flatnonzero(np.diff(keys, prepend=keys[0] - 1)), len(self))
        new = np.flatnonzero(np.diff(self.numbers, prepend=-1))
        term_edges = np.append(np.searchsorted(new, edges[:-1]), len(new))
        slots = self.slots.astype(np.int64)
        base = np.minimum.reduceat(slots, edges[:-1])
        steps = np.diff(slots, prepend=0)
        steps[new] = (slots - np.repeat(base, np.diff(edges)))[new]
        terms = self.numbers[new]
        gaps = np.diff(terms, prepend=0)
        gaps[term_edges[:-1]] = terms[term_edges[:-1]]
        columns = (
            _cut(gaps, term_edges), _cut(np.diff(new, append=len(self)), term_edges), base.tolist(), _cut(steps, edges),
            _slices(self.weights, edges), _slices(self.sizes, edges),
            _slices(self.positions, np.append(0, np.cumsum(self.lengths))[edges]),
        )  # fmt: skip
        return list(zip(keys[edges[:-1]].tolist(), *columns, strict=True))


def shared_key(number: Any) -> Any:
    """Return the key of the block that a term shares with others; the key of its own block would be its id."""
    return -1 - (number >> NEAR)


def keys_of(numbers: Iterable[int]) -> list[int]:
    own = set(numbers)
    return [*own, *{shared_key(number) for number in own}]


_NONE = np.zeros(0, dtype=np.int64)


def _cut(numbers: Numbers, edges: Numbers) -> list[bytes]:
    """Encode integers as varints, split at these indexes."""
    sizes = np.ones(len(numbers), dtype=np.int64)
    for groups in range(1, _MAX_VARINT_BYTES):
        sizes += numbers >= 1 << 7 * groups
    starts = np.append(0, np.cumsum(sizes))
    encoded = np.empty(starts[-1], dtype=np.uint8)
    for position in range(int(sizes.max(initial=1))):
        has_byte = sizes > position
        goes_on = np.where(sizes[has_byte] > position + 1, 128, 0)
        encoded[starts[:-1][has_byte] + position] = numbers[has_byte] >> 7 * position & 127 | goes_on
    return _slices(encoded, starts[edges])


def _slices(values: Numbers, edges: Numbers) -> list[bytes]:
    data = values.tobytes()
    return [data[start:end] for start, end in pairwise(edges.tolist())]


def _bytes_in(data: bytes) -> Numbers:
    return np.frombuffer(data, dtype=np.uint8)


def _lengths(sizes: bytes, positions: bytes) -> Numbers:
    """Return the number of bytes of the positions of each posting, including the varint of their size if any."""
    if 0 not in sizes:
        return _bytes_in(sizes).astype(np.int32)
    return np.diff(ends_of(sizes, positions), prepend=0).astype(np.int32)


def runs(starts: Numbers, lengths: Numbers) -> Numbers:
    """Return the concatenated ranges of integers with these starts and lengths."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def decode_varint_array(data: bytes | Numbers) -> Numbers:
    raw = _bytes_in(data) if isinstance(data, bytes) else data
    ends = np.flatnonzero(raw < 128)
    numbers = raw[ends].astype(np.int64)
    if len(ends) < len(raw):
        sizes = np.diff(ends, prepend=-1)
        for before in range(1, int(sizes.max())):
            indexes = np.flatnonzero(sizes > before)
            numbers[indexes] = numbers[indexes] << 7 | raw[ends[indexes] - before] & 127
    return numbers


def decode_deltas(rows: Iterable[bytes]) -> Numbers:
    """Decode rows of delta-encoded varints and concatenate them; no delta is 0, which separates the rows."""
    steps = decode_varint_array(b"\0".join(rows))
    walked = np.cumsum(steps)
    ends = np.flatnonzero(steps == 0)
    if not len(ends):
        return walked
    walked[ends[0] :] -= np.repeat(walked[ends], np.diff(ends, append=len(steps)))
    numbers: Numbers = walked[steps != 0]
    return numbers
