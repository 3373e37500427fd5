"""Postings as arrays: which documents hold which words, how often and where; and the blocks in which they are stored.

A block holds the postings of one word with many, or those of all others whose numbers are near, one word after the
other. Numbers are stored as distances of few bits (see packing.py): those of words from the word before, those of slots
from the slot before, the first of a word from the lowest slot of the block.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .codec import spans_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from moss_memory.storage.engine import Row

    Numbers: TypeAlias = NDArray[Any]

BLOCK_COLUMNS = "words, counts, base, slots, weights"
PLACE_COLUMNS = "sizes, places"
NEAR = 5
"""The numbers of words that may share a block differ in so many bits at the most: 32 words. The schema knows it too."""
_MANY_BYTES = 64
"""A word whose postings take more has a block of its own; what the others share the server keeps in one piece."""
_MOST_BYTES = 5
"""A number of 32 bits takes no more."""


class Postings:
    """Postings, in the order of the words' numbers and of the slots where they come from one place."""

    FIELDS = __slots__ = ("numbers", "slots", "weights", "sizes", "lengths", "places")

    def __init__(
        self, numbers: Numbers, slots: Numbers, weights: Numbers, sizes: Numbers, lengths: Numbers, places: Numbers
    ) -> None:
        self.numbers = numbers
        self.slots = slots
        self.weights = weights
        self.sizes = sizes
        self.lengths = lengths
        """How many bytes the places of each take."""
        self.places = places

    @classmethod
    def of(
        cls, numbers: Numbers, slots: Numbers, weights: Sequence[bytes], placed: Sequence[Sequence[bytes]]
    ) -> Postings:
        """Postings whose other columns are packed; `placed` are their sizes and places, if those were read."""
        sizes, places = (b"".join(column) for column in placed) if placed else (b"", b"")
        return cls(
            numbers, slots, _bytes_in(b"".join(weights)), _bytes_in(sizes), _lengths(sizes, places), _bytes_in(places)
        )

    @classmethod
    def of_blocks(cls, rows: Sequence[Row]) -> Postings:
        """The postings of blocks, read as `BLOCK_COLUMNS` and if wanted `PLACE_COLUMNS`."""
        if not rows:
            return cls.of(_NONE, _NONE, (), ())
        words, counts, bases, slots, weights, *placed = zip(*rows, strict=True)
        often = decode_varint_array(b"".join(counts))
        first = np.cumsum(often) - often
        steps = decode_varint_array(b"".join(slots))
        walked = np.cumsum(steps)
        from_base = walked - np.repeat(walked[first] - steps[first], often)
        base = np.repeat(np.array(bases, dtype=np.int64), [len(one) for one in weights])
        return cls.of(np.repeat(decode_deltas(words), often), from_base + base, weights, placed)

    @classmethod
    def of_documents(cls, rows: Sequence[Row]) -> Postings:
        """The postings of documents, each with its slot, words, weights, sizes and places."""
        if not rows:
            return cls.of(_NONE, _NONE, (), ())
        slots, words, weights, *placed = zip(*rows, strict=True)
        held = [len(one) for one in weights]
        return cls.of(decode_deltas(words), np.repeat(np.array(slots, dtype=np.int64), held), weights, placed)

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, at: Numbers) -> Postings:
        """Some of them, in the given order; with their places, if those were read."""
        sizes, lengths, places = self.sizes, self.lengths, self.places
        if len(sizes):
            starts = (np.cumsum(lengths) - lengths)[at]
            sizes, lengths = sizes[at], lengths[at]
            places = places[runs(starts, lengths)]
        return Postings(self.numbers[at], self.slots[at], self.weights[at], sizes, lengths, places)

    def bare(self, at: Numbers) -> Postings:
        """Some of them, without their places."""
        return Postings(self.numbers[at], self.slots[at], self.weights[at], _NONE, _NONE, _NONE)

    def joined(self, other: Postings) -> Postings:
        """These, then the others."""
        return Postings(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.FIELDS))

    def blocks(self) -> list[tuple[Any, ...]]:
        """As they are stored: the key, `BLOCK_COLUMNS` and `PLACE_COLUMNS` of every block."""
        words, which, often = np.unique(self.numbers, return_inverse=True, return_counts=True)
        size = 4 * often + np.bincount(which, weights=self.lengths, minlength=len(words))
        keys = np.where(size > _MANY_BYTES, words, shared_key(words))[which]
        order = np.lexsort((self.slots, self.numbers, keys))
        return self.take(order).blocks_by(keys[order])

    def blocks_by(self, keys: Numbers) -> list[tuple[Any, ...]]:
        """The same where the key of each posting's block is given; those of a block are side by side and in order."""
        if not len(self):
            return []
        edges = np.append(np.flatnonzero(np.diff(keys, prepend=keys[0] - 1)), len(self))
        new = np.flatnonzero(np.diff(self.numbers, prepend=-1))
        word_edges = np.append(np.searchsorted(new, edges[:-1]), len(new))
        base = np.minimum.reduceat(self.slots, edges[:-1])
        steps = np.diff(self.slots, prepend=0)
        steps[new] = (self.slots - np.repeat(base, np.diff(edges)))[new]
        words = self.numbers[new]
        gaps = np.diff(words, prepend=0)
        gaps[word_edges[:-1]] = words[word_edges[:-1]]
        columns = (
            _cut(gaps, word_edges), _cut(np.diff(new, append=len(self)), word_edges), base.tolist(), _cut(steps, edges),
            _slices(self.weights, edges), _slices(self.sizes, edges),
            _slices(self.places, np.append(0, np.cumsum(self.lengths))[edges]),
        )  # fmt: skip
        return list(zip(keys[edges[:-1]].tolist(), *columns, strict=True))


def shared_key(number: Any) -> Any:
    """The key of the block that a word shares with others, if it has none of its own, whose key is its number."""
    return -1 - (number >> NEAR)


def keys_of(numbers: Iterable[int]) -> list[int]:
    """The keys of all blocks that may hold these words."""
    own = set(numbers)
    return [*own, *{shared_key(number) for number in own}]


_NONE = np.zeros(0, dtype=np.int64)


def _cut(numbers: Numbers, edges: Numbers) -> list[bytes]:
    """Numbers as bytes, seven bits each, cut before these numbers."""
    sizes = np.ones(len(numbers), dtype=np.int64)
    for more in range(1, _MOST_BYTES):
        sizes += numbers >= 1 << 7 * more
    starts = np.append(0, np.cumsum(sizes))
    found = np.empty(starts[-1], dtype=np.uint8)
    for place in range(int(sizes.max(initial=1))):
        here = sizes > place
        goes_on = np.where(sizes[here] > place + 1, 128, 0)
        found[starts[:-1][here] + place] = numbers[here] >> 7 * place & 127 | goes_on
    return _slices(found, starts[edges])


def _slices(values: Numbers, edges: Numbers) -> list[bytes]:
    data = values.tobytes()
    return [data[start:end] for start, end in pairwise(edges.tolist())]


def _bytes_in(data: bytes) -> Numbers:
    return np.frombuffer(data, dtype=np.uint8)


def _lengths(sizes: bytes, places: bytes) -> Numbers:
    """How many bytes the places of each posting take, with its own size where that stands there."""
    if 0 not in sizes:
        return _bytes_in(sizes).astype(np.int64)
    return np.diff([end for _, end in spans_of(sizes, places)], prepend=0)


def runs(starts: Numbers, lengths: Numbers) -> Numbers:
    """The numbers from each start on, so many of each."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def decode_varint_array(data: bytes | Numbers) -> Numbers:
    """Numbers of any width, seven bits a byte."""
    raw = _bytes_in(data) if isinstance(data, bytes) else data
    ends = np.flatnonzero(raw < 128)
    found = raw[ends].astype(np.int64)
    if len(ends) < len(raw):
        sizes = np.diff(ends, prepend=-1)
        for before in range(1, int(sizes.max())):
            at = np.flatnonzero(sizes > before)
            found[at] = found[at] << 7 | raw[ends[at] - before] & 127
    return found


def decode_deltas(rows: Iterable[bytes]) -> Numbers:
    """The numbers of rows of them, each packed as its first and the distances to the others, which are never 0."""
    steps = decode_varint_array(b"\0".join(rows))
    walked = np.cumsum(steps)
    ends = np.flatnonzero(steps == 0)
    if not len(ends):
        return walked
    walked[ends[0] :] -= np.repeat(walked[ends], np.diff(ends, append=len(steps)))
    found: Numbers = walked[steps != 0]
    return found
