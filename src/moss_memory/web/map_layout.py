"""Positions of the dots of a map: by meaning if there are vectors, else by workspace and tag.

By meaning: the mean vector of each document, projected by PCA, then moved so that the nearest documents of the vectors
are the nearest dots. Workspaces pull their dots a little, so that they are patches of the map.
"""

from __future__ import annotations

import math
import zlib
from importlib.util import find_spec
from typing import Any

_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_START_BYTES = 4
_LEAST_VECTORS = 12
"""With fewer vectors, dots are placed by workspace and tag."""
_KEPT_DIMENSIONS = 24
_NEIGHBOURS = 8
_BLOCK = 512
_ROUNDS = 120
_PULL = 0.08


def place_dots(dots: list[dict[str, Any]], vectors: dict[int, bytes]) -> tuple[list[tuple[float, float]], str]:
    """Return the position of each dot, between 0 and 1, and the layout: `meaning` or `workspace`."""
    with_vectors = [number for number, dot in enumerate(dots) if dot["doc"] in vectors]
    if len(with_vectors) < _LEAST_VECTORS or find_spec("numpy") is None:
        return _fit(_by_workspace(dots)), "workspace"
    return _fit(_by_meaning(dots, with_vectors, vectors)), "meaning"


def _fit(positions: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Scale positions into the unit square, keeping their proportions."""
    if not positions:
        return []
    left, top = (min(position[axis] for position in positions) for axis in (0, 1))
    width, height = (max(position[axis] for position in positions) - least for axis, least in ((0, left), (1, top)))
    size = max(width, height, 1e-9)
    shift_x, shift_y = (1 - width / size) / 2, (1 - height / size) / 2
    return [(round((x - left) / size + shift_x, 4), round((y - top) / size + shift_y, 4)) for x, y in positions]


def _by_workspace(dots: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Place each workspace on a spiral, its tags around its centre, and the dots of a tag side by side."""
    sizes: dict[str, int] = {}
    for dot in dots:
        sizes[dot["workspace"]] = sizes.get(dot["workspace"], 0) + 1
    centres, distance = {}, 0.0
    for number, (workspace, count) in enumerate(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))):
        radius = math.sqrt(count)
        distance += 0.0 if number == 0 else radius
        angle = number * _GOLDEN_ANGLE
        centres[workspace] = (distance * math.cos(angle), distance * math.sin(angle), radius)
        distance += radius * 0.8
    group_counts: dict[tuple[str, str], int] = {}
    positions = []
    for dot in dots:
        x, y, radius = centres[dot["workspace"]]
        group = (dot["workspace"], dot["tag"] or dot["family"])
        angle = zlib.crc32("\0".join(group).encode("utf-8", "surrogatepass")) % 360 * math.pi / 180
        number = group_counts[group] = group_counts.get(group, 0) + 1
        x, y = x + radius * 0.55 * math.cos(angle), y + radius * 0.55 * math.sin(angle)
        positions.append(_beside(x, y, number))
    return positions


def _beside(x: float, y: float, number: int, spread: float = 0.45) -> tuple[float, float]:
    """Return the place of the n-th dot around a centre, as the seeds of a sunflower."""
    distance, angle = spread * math.sqrt(number), number * _GOLDEN_ANGLE
    return x + distance * math.cos(angle), y + distance * math.sin(angle)


def _by_meaning(
    dots: list[dict[str, Any]], with_vectors: list[int], vectors: dict[int, bytes]
) -> list[tuple[float, float]]:
    import numpy as np

    reduced = _reduce(_means([vectors[dots[number]["doc"]] for number in with_vectors]))
    names = sorted({dot["workspace"] for dot in dots})
    numbers = {name: number for number, name in enumerate(names)}
    groups = np.array([numbers[dots[number]["workspace"]] for number in with_vectors])
    refined = _refine(reduced, groups, len(names))
    positions: list[tuple[float, float] | None] = [None] * len(dots)
    for number, (x, y) in zip(with_vectors, refined.tolist(), strict=True):
        positions[number] = (x, y)
    middle = refined.mean(axis=0)
    spread = float(refined.std()) * 0.05 or 0.01
    centres = {
        name: refined[groups == number].mean(axis=0) if (groups == number).any() else middle
        for name, number in numbers.items()
    }
    waiting: dict[str, int] = {}
    for number, dot in enumerate(dots):
        if positions[number] is None:
            count = waiting[dot["workspace"]] = waiting.get(dot["workspace"], 0) + 1
            x, y = centres[dot["workspace"]].tolist()
            positions[number] = _beside(x, y, count, spread)
    return [position for position in positions if position is not None]


def _means(blobs: list[bytes]) -> Any:
    """Return the mean vector of each document, of length 1; one whose vector is damaged has zeros."""
    import numpy as np

    size = min((len(blob) for blob in blobs if len(blob) > _START_BYTES), default=_START_BYTES + 1)
    dimensions = size - _START_BYTES  # a document of one chunk has the shortest vector
    means = np.zeros((len(blobs), dimensions), dtype=np.float32)
    for number, blob in enumerate(blobs):
        if blob and len(blob) % size == 0:
            count = len(blob) // size
            chunks = np.frombuffer(blob, dtype=np.int8, offset=count * _START_BYTES).reshape(count, dimensions)
            means[number] = chunks.astype(np.float32).mean(axis=0)
    lengths = np.sqrt((means * means).sum(axis=1, keepdims=True))
    return means / np.maximum(lengths, 1e-9)


def _reduce(vectors: Any) -> Any:
    """Project vectors on the directions in which they differ most (PCA)."""
    import numpy as np

    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    best = directions[:, ::-1][:, : min(_KEPT_DIMENSIONS, centred.shape[1])]
    signs = np.sign(best[np.abs(best).argmax(axis=0), np.arange(best.shape[1])])  # the same on every machine
    return centred @ (best * np.where(signs == 0, 1, signs))


def _nearest(points: Any) -> Any:
    """Return the numbers of the nearest other points of each point."""
    import numpy as np

    count = min(_NEIGHBOURS, len(points) - 1)
    squares = (points * points).sum(axis=1)
    neighbours = np.empty((len(points), count), dtype=np.int64)
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        distances = squares - 2 * (block @ points.T)
        distances[np.arange(len(block)), start + np.arange(len(block))] = np.inf
        neighbours[start : start + len(block)] = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return neighbours


def _refine(reduced: Any, groups: Any, group_count: int) -> Any:
    """Move the points of the first two dimensions to their neighbours in all, away from random others."""
    import numpy as np

    points = reduced[:, :2].astype(np.float64)
    points /= points.std() or 1.0
    neighbours = _nearest(reduced)
    random = np.random.default_rng(1)
    points += random.normal(scale=1e-3, size=points.shape)  # equal texts are not one point
    sizes = np.maximum(np.bincount(groups, minlength=group_count), 1)[:, None]
    for step in range(_ROUNDS):
        rate = 1 - step / _ROUNDS
        moved = (points[neighbours] - points[:, None, :]).mean(axis=1) * 0.25
        for _ in range(2):
            offsets = points - points[random.permutation(len(points))]
            squared = (offsets * offsets).sum(axis=1, keepdims=True)
            moved += 0.06 * offsets / (squared + 0.05)
        centres = np.stack([np.bincount(groups, points[:, axis], group_count) for axis in (0, 1)], axis=1) / sizes
        moved += _PULL * (centres[groups] - points)
        points += rate * moved
    return points
