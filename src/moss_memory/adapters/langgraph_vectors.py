"""Vectors of a caller's own model, stored beside their values, and nearest-neighbour search."""

from __future__ import annotations

import math
from array import array
from base64 import b64decode, b64encode
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .artifact_kv import StoredRow


def pack(vector: Sequence[float]) -> str:
    """Normalize a vector; return it as base64 of 32-bit floats."""
    return b64encode(array("f", _normalize(vector)).tobytes()).decode()


def rank(question: Sequence[float], rows: Iterable[StoredRow]) -> Iterator[tuple[str, float]]:
    """Return the id of each row that has vectors, with the score of its nearest vector, best first."""
    query = _normalize(question)
    scored = [
        (row["id"], max(sum(map(mul, query, _unpack(vector))) for vector in row["data"]["vectors"]))
        for row in rows
        if row["data"].get("vectors")
    ]
    return iter(sorted(scored, key=lambda pair: -pair[1]))


def _unpack(text: str) -> array[float]:
    numbers = array("f")
    numbers.frombytes(b64decode(text))
    return numbers


def _normalize(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(part * part for part in vector)) or 1.0
    return [part / length for part in vector]
