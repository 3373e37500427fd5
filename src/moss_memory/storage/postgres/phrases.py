"""Where phrases may begin: the places of a word in many documents, read at once where numpy is installed.

A beginning is one number, a slot and a place, so that the beginnings of all words of a phrase are compared as sets.
"""

from __future__ import annotations

from .packing import IN_BODY, PLACES, places_of, spans_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable
    from typing import Any

_MANY = 512
"""From so many documents on reading them at once is quicker."""


def starts_in(
    slots: array[int] | list[int], weights: bytes, sizes: bytes, places: bytes, wanted: set[int], distance: int
) -> Iterable[int]:
    """The beginnings, in the documents that are wanted, of phrases in which the word is so far from the first."""
    numpy = _numpy() if len(slots) >= _MANY and 0 not in sizes else None
    if numpy is not None:
        return _at_once(numpy, slots, weights, sizes, places, wanted, distance)
    postings = zip(slots, weights, spans_of(sizes, places), strict=True)
    return _one_by_one([posting for posting in postings if posting[0] in wanted], places, distance)


def _one_by_one(postings: list[tuple[int, int, tuple[int, int]]], places: bytes, distance: int) -> list[int]:
    found = []
    for slot, weight, (start, end) in postings:
        first = slot * PLACES - distance
        if weight == 1 and end == start + 1:  # most are there once, in the text
            found.append(first + IN_BODY + places[start])
        else:
            found += [first + place for place in places_of(weight, places[start:end])]
    return found


def _at_once(
    np: Any, slots: Any, weights: bytes, sizes: bytes, places: bytes, wanted: set[int], distance: int
) -> list[int]:
    """The same by whole arrays; documents with the word in their titles, or with long distances, one by one."""
    own = np.array(slots, dtype=np.int64)
    lengths = np.frombuffer(sizes, dtype=np.uint8).astype(np.int64)
    ends = np.cumsum(lengths)
    steps = np.frombuffer(places, dtype=np.uint8).astype(np.int64)
    is_wanted = np.isin(own, np.fromiter(wanted, dtype=np.int64, count=len(wanted)))
    is_plain = np.frombuffer(weights, dtype=np.uint8) == lengths  # a byte a place, and none in the title
    is_plain &= ~np.logical_or.reduceat(steps >= 128, ends - lengths)
    walked = np.cumsum(steps)
    before = walked[ends - 1] - np.add.reduceat(steps, ends - lengths)
    chosen = is_wanted & is_plain
    first = own[chosen] * PLACES + (IN_BODY - distance) - before[chosen]
    found: list[int] = (walked[np.repeat(chosen, lengths)] + np.repeat(first, lengths[chosen])).tolist()
    others = np.flatnonzero(is_wanted & ~is_plain).tolist()
    spans = [(int(ends[at] - lengths[at]), int(ends[at])) for at in others]
    left = [(slots[at], weights[at], span) for at, span in zip(others, spans, strict=True)]
    return found + _one_by_one(left, places, distance)


def _numpy() -> Any:
    try:
        import numpy  # noqa: ICN001 - it may be missing: it comes with the extra `semantic`
    except ImportError:
        return None
    return numpy
