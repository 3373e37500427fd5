"""Encode postings as bytes: arrays of fixed-width integers, and places as delta-encoded varints.

The weight of a posting is one byte, and so is the size of its places. If either is too large, it is stored before the
places as a varint. The number of places in the title follows from the weight, to which each of them adds five.
"""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SLOT, DOC, LENGTH = "i", "q", "I"
HEAVY = 255
"""The stored weight of a posting that weighs at least this much: its actual weight precedes the places."""
TITLE_WEIGHT = 5
IN_BODY = 1 << 30
"""The offset of places in the body, so that no phrase spans title and body."""
PLACES = 1 << 31
"""A slot times this plus a place is one integer of 64 bits."""


def pack_integers(code: str, numbers: Iterable[int]) -> bytes:
    """Encode integers of one width, little endian."""
    found = array(code, numbers)
    if sys.byteorder != "little":
        found.byteswap()
    return found.tobytes()


def encode_posting(title: list[int], body: list[int]) -> tuple[int, int, bytes]:
    """Encode one word of one document: the byte of its weight, the byte of the size of its places, and the places."""
    if not title and len(body) == 1:  # the most frequent case
        places = encode_varints(body)
        return 1, len(places), places
    weight = TITLE_WEIGHT * len(title) + len(body)
    numbers = [*deltas(title), *deltas(body)]
    places = encode_varints([weight, *numbers] if weight >= HEAVY else numbers)
    size = len(places)
    if size >= HEAVY:
        return min(weight, HEAVY), 0, encode_varints([size]) + places
    return min(weight, HEAVY), size, places


def deltas(numbers: Sequence[int]) -> list[int]:
    """Return the first number and the difference of each other one to the one before."""
    return [number - before for before, number in zip([0, *numbers], numbers, strict=False)]


def encode_varints(numbers: list[int]) -> bytes:
    """Encode integers as varints, seven bits in each byte."""
    if max(numbers, default=0) < 128:
        return bytes(numbers)
    found = bytearray()
    for number in numbers:
        while number >= 128:
            found.append(number & 127 | 128)
            number >>= 7
        found.append(number)
    return bytes(found)


def decode_varints(data: bytes) -> list[int]:
    """Decode varints."""
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
    """Return the start and end of the places of each document, without the varint of their size."""
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
            size = decode_varints(places[start:at])[0]
        found.append((at, at + size))
        at += size
    return found
