"""Compute the possible starts of phrases from the positions of terms in many documents.

A start is one integer, made of a document and a position: the starts of all terms of a phrase are compared as sets.
"""

from __future__ import annotations

import numpy as np

from .codec import HEAVY, IN_BODY, POSITIONS, TITLE_WEIGHT
from .postings import decode_varint_array, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .postings import Numbers, Postings


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

    `documents` has the document of each posting.
    """
    if not len(postings):
        return np.zeros(0, dtype=np.int64)
    found = _DecodedPositions(postings)
    counts = found.counts
    steps = found.numbers[runs(found.first, counts)]
    walked = np.append(0, np.cumsum(steps))
    first = np.cumsum(counts) - counts
    in_title = (found.weights - counts) // (TITLE_WEIGHT - 1)
    body = first + in_title
    from_title = documents * POSITIONS - distance - walked[first]
    from_body = documents * POSITIONS - distance - walked[body] + IN_BODY
    is_body = np.arange(len(steps)) >= np.repeat(body, counts)
    starts: Numbers = walked[1:] + np.where(is_body, np.repeat(from_body, counts), np.repeat(from_title, counts))
    return starts
