"""How postings are packed into bytes: numbers of one width, read at once, and places as distances of few bits.

The weight of a posting is a byte and the size of its places is one; where either is too large for that it stands before
the places instead, as a number of any width. How many of the places are the title's follows from the weight, to which
each of those adds five.
"""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SLOT, DOC, LENGTH = "i", "q", "I"
HEAVY = 255
"""The weight of whatever weighs as much or more: the whole weight stands before the places."""
TITLE_WEIGHT = 5
IN_BODY = 1 << 30
"""Places in a text are counted from here, so that no phrase goes from a title into its text."""
PLACES = 1 << 31
"""A slot times this, and a place, are one number of 64 bits."""
_LITTLE = sys.byteorder == "little"


def packed(code: str, numbers: Iterable[int]) -> bytes:
    """Whole numbers of one width, the low byte first."""
    found = array(code, numbers)
    if not _LITTLE:
        found.byteswap()
    return found.tobytes()


def posting(title: list[int], body: list[int]) -> tuple[int, int, bytes]:
    """One word in one document, packed: a byte for its weight, one for the size of its places, and the places."""
    if not title and len(body) == 1:  # as most are, so it is the quick way
        places = encode_numbers(body)
        return 1, len(places), places
    weight = TITLE_WEIGHT * len(title) + len(body)
    numbers = [*_distances(title), *_distances(body)]
    places = encode_numbers([weight, *numbers] if weight >= HEAVY else numbers)
    size = len(places)
    if size >= HEAVY:
        return min(weight, HEAVY), 0, encode_numbers([size]) + places
    return min(weight, HEAVY), size, places


def _distances(places: list[int]) -> list[int]:
    return [place - before for before, place in zip([0, *places], places, strict=False)]


def encode_numbers(numbers: list[int]) -> bytes:
    """Numbers of any width, seven bits a byte."""
    if max(numbers, default=0) < 128:
        return bytes(numbers)
    found = bytearray()
    for number in numbers:
        while number >= 128:
            found.append(number & 127 | 128)
            number >>= 7
        found.append(number)
    return bytes(found)


def as_numbers(data: bytes) -> list[int]:
    """The numbers of such bytes."""
    if data.isascii():
        return list(data)
    found = []
    number = shift = 0
    for byte in data:
        if byte < 128:
            found.append(number | byte << shift)
            number = shift = 0
        else:
            number |= (byte & 127) << shift
            shift += 7
    return found


def spans_of(sizes: bytes, places: bytes) -> list[tuple[int, int]]:
    """Where the places of each document begin and end, its own size left out."""
    if 0 not in sizes:
        ends = list(accumulate(sizes))
        return list(zip([0, *ends], ends, strict=False))
    found = []
    at = 0
    for size in sizes:
        if not size:
            start = at
            while places[at] >= 128:
                at += 1
            at += 1
            size = as_numbers(places[start:at])[0]
        found.append((at, at + size))
        at += size
    return found
