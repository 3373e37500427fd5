"""Find texts that are nearly the same, in time that grows with the total length of the texts.

Each text has a sketch: the smallest hashes of its sequences of words. Two sketches share about as many hashes as the
texts share sequences. Only texts that share one of their very smallest hashes are compared, with at most a few others.
"""

from __future__ import annotations

from heapq import nsmallest
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SIMILAR = 0.6
"""The share of common sequences from which on two texts are near-duplicates."""
MAX_CHARS = 20_000
"""The beginning of a text that is compared."""
_SEQUENCE_WORDS = 3
_SEQUENCE_CHARS = 8
_WORD_CHARS = 12
"""The mean length of words from which on a script has no spaces between words."""
_SKETCH = 64
_BUCKET_HASHES = 8
"""The number of smallest hashes of a text by which texts to compare are found."""
_MAX_COMPARED = 8
"""The maximum number of earlier texts with the same hash that a text is compared with."""


def sketch(text: str) -> tuple[int, ...]:
    """Return the smallest hashes of the word sequences of a text, ascending."""
    begin = text[:MAX_CHARS].casefold()
    words = begin.split()
    if len(words) * _WORD_CHARS < len(begin):  # a script without spaces
        joined = "".join(words)
        parts = {
            hash(joined[start : start + _SEQUENCE_CHARS]) for start in range(max(1, len(joined) - _SEQUENCE_CHARS + 1))
        }
    else:
        shifted = [islice(words, start, None) for start in range(_SEQUENCE_WORDS)]
        parts = {hash(part) for part in zip(*shifted, strict=False)} or {hash(tuple(words))}
    return tuple(nsmallest(_SKETCH, parts))


def similarity(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Return the estimated share of common sequences of two texts."""
    smallest = nsmallest(_SKETCH, {*one, *other})
    common = set(one).intersection(other)
    return sum(part in common for part in smallest) / len(smallest) if smallest else 0.0


def near_duplicates(sketches: Iterable[tuple[str, tuple[int, ...]]]) -> dict[str, str]:
    """Return, for each text that is nearly the same as an earlier one, the key of the most similar earlier one."""
    buckets: dict[int, list[tuple[str, tuple[int, ...]]]] = {}
    duplicates: dict[str, str] = {}
    for key, own in sketches:
        candidates = {earlier: hashes for part in own[:_BUCKET_HASHES] for earlier, hashes in buckets.get(part, ())}
        scores = [(similarity(own, hashes), earlier) for earlier, hashes in candidates.items()]
        best = max(scores, default=(0.0, ""))
        if best[0] >= SIMILAR:
            duplicates[key] = best[1]
        for part in own[:_BUCKET_HASHES]:
            bucket = buckets.setdefault(part, [])
            if len(bucket) < _MAX_COMPARED:
                bucket.append((key, own))
    return duplicates
