"""Vectors of a caller's own model, kept beside the values that they are of, and which of them are near."""

from __future__ import annotations

import math
from array import array
from base64 import b64decode, b64encode
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .artifact_kv import Row


def packed(vector: Sequence[float]) -> str:
    """A vector of length one as text: four bytes a number."""
    return b64encode(array("f", _of_length_one(vector)).tobytes()).decode()


def best(question: Sequence[float], rows: Iterable[Row]) -> Iterator[tuple[str, float]]:
    """The ids of the rows that have vectors, with the score of the nearest one, best first."""
    wanted = _of_length_one(question)
    scored = [
        (row["id"], max(sum(map(mul, wanted, _unpacked(one))) for one in row["data"]["vectors"]))
        for row in rows
        if row["data"].get("vectors")
    ]
    return iter(sorted(scored, key=lambda one: -one[1]))


def _unpacked(text: str) -> array[float]:
    numbers = array("f")
    numbers.frombytes(b64decode(text))
    return numbers


def _of_length_one(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(part * part for part in vector)) or 1.0
    return [part / length for part in vector]
