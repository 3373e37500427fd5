"""Encode postings as bytes, with positions as delta-encoded varints.

The weight of a posting is one byte, and so is the size of its positions. If either is too large, it is stored before
the positions as a varint. The number of positions in the title follows from the weight: each of them adds five to it.
"""

from __future__ import annotations

import functools
from operator import sub

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HEAVY = 255
"""The stored weight of a posting that weighs at least this much: its actual weight precedes the positions."""
TITLE_WEIGHT = 5
IN_BODY = 1 << 30
"""The offset of positions in the body, so that no phrase spans title and body."""
POSITIONS = 1 << 31
"""A slot times this plus a position is one integer of 64 bits."""


def encode_posting(title: Sequence[int], body: Sequence[int]) -> tuple[int, int, bytes]:
    """Encode one term of one document: the bytes of its weight and of the size of its positions, and the positions."""
    if not title and len(body) == 1:  # the most frequent case
        return _encode_only_position(body[0])
    weight = TITLE_WEIGHT * len(title) + len(body)
    numbers = [*deltas(title), *deltas(body)]
    positions = encode_varints([weight, *numbers] if weight >= HEAVY else numbers)
    size = len(positions)
    if size >= HEAVY:
        return min(weight, HEAVY), 0, encode_varints([size]) + positions
    return min(weight, HEAVY), size, positions


@functools.lru_cache(4096)
def _encode_only_position(position: int) -> tuple[int, int, bytes]:
    positions = encode_varints([position])
    return 1, len(positions), positions


def deltas(numbers: Sequence[int]) -> list[int]:
    """Return the first number and the difference of each other one to the one before."""
    return list(map(sub, numbers, [0, *numbers]))


def encode_varints(numbers: list[int]) -> bytes:
    """Encode integers as varints, seven bits in each byte."""
    if max(numbers, default=0) < 128:
        return bytes(numbers)
    encoded = bytearray()
    for number in numbers:
        while number >= 128:
            encoded.append(number & 127 | 128)
            number >>= 7
        encoded.append(number)
    return bytes(encoded)


def ends_of(sizes: bytes, positions: bytes) -> list[int]:
    """Return the end of the positions of each posting, given the bytes of their sizes."""
    ends = []
    offset = 0
    for size in sizes:
        if not size:  # a varint before the positions
            shift = 0
            while positions[offset] >= 128:
                size |= (positions[offset] & 127) << shift
                shift += 7
                offset += 1
            size |= positions[offset] << shift
            offset += 1
        offset += size
        ends.append(offset)
    return ends
