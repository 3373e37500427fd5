"""The clock, and the ULIDs that begin with its time."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
_FORTY_BITS = (1 << 40) - 1


def wall_clock_ms() -> int:
    """Return milliseconds since the epoch by the wall clock."""
    return time.time_ns() // 1_000_000


class IdSource:
    """Generates ULIDs that strictly increase, even if the clock does not."""

    __slots__ = ("_last", "_lock")

    def __init__(self) -> None:
        self._last = 0
        self._lock = allocate_lock()

    def __call__(self, now_ms: int) -> str:
        chance = int.from_bytes(os.urandom(10), "big")
        value = (now_ms << 80) | chance
        with self._lock:
            if value <= self._last:
                # A random increment: a forked process continues from the same last id.
                value = self._last + 1 + (chance >> 16)
            self._last = value
        return encode_ulid(value)


new_id = IdSource()
"""Shared by all stores of the process, so that their ids never collide or decrease."""


def encode_ulid(value: int) -> str:
    """Return the 26 Crockford characters of a 128-bit number."""
    pairs = _PAIRS
    low, middle, high = value & _FORTY_BITS, (value >> 40) & _FORTY_BITS, value >> 80
    # Two characters at a time: 0.8 µs instead of 3, and every write makes two ids.
    return (
        f"{pairs[high >> 40]}{pairs[high >> 30 & 1023]}{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}"
        f"{pairs[high & 1023]}{pairs[middle >> 30]}{pairs[middle >> 20 & 1023]}{pairs[middle >> 10 & 1023]}"
        f"{pairs[middle & 1023]}{pairs[low >> 30]}{pairs[low >> 20 & 1023]}{pairs[low >> 10 & 1023]}{pairs[low & 1023]}"
    )
