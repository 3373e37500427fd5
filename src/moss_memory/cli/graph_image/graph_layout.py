"""Layout: Graphviz places each connected component, then the components are packed into rows."""

from __future__ import annotations

import json
import math

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Point = tuple[float, float]

TIMEOUT_S = 30.0
"""Timeout of Graphviz for curved edges; then it gets the same time for straight lines."""

_GAP = 30.0
_ASPECT_RATIO = 1.6
"""Preferred ratio of width to height."""


class Box:
    """The size and the centre of a node."""

    __slots__ = ("height", "width", "x", "y")

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.x = 0.0
        self.y = 0.0


class Arrow:
    """The end points, label size and curve of an edge."""

    __slots__ = ("end", "head", "ignored_by_layout", "label", "label_size", "ordered", "points", "tail")

    def __init__(
        self,
        tail: str,
        head: str,
        label_size: tuple[float, float],
        *,
        ordered: bool = False,
        ignored_by_layout: bool = False,
    ) -> None:
        self.tail = tail
        self.head = head
        self.label_size = label_size
        self.ordered = ordered
        """True if its target is placed to the right of the targets of earlier arrows of the same box."""
        self.ignored_by_layout = ignored_by_layout
        """True if it does not influence the positions of boxes."""
        self.points: list[Point] = []
        self.end: Point = (0.0, 0.0)
        self.label: Point = (0.0, 0.0)


class _Component:
    """A connected component and the size of its bounding rectangle, moved as a whole."""

    __slots__ = ("arrows", "boxes", "height", "width")

    def __init__(self) -> None:
        self.boxes: dict[str, Box] = {}
        self.arrows: list[Arrow] = []
        self.width = 0.0
        self.height = 0.0

    def move(self, x: float, y: float) -> None:
        for box in self.boxes.values():
            box.x, box.y = box.x + x, box.y + y
        for arrow in self.arrows:
            arrow.points = [(left + x, top + y) for left, top in arrow.points]
            arrow.end = (arrow.end[0] + x, arrow.end[1] + y)
            arrow.label = (arrow.label[0] + x, arrow.label[1] + y)


def lay_out(boxes: dict[str, Box], arrows: list[Arrow]) -> tuple[float, float]:
    """Set the position of every box and arrow; return the width and height of the whole."""
    components = _find_components(boxes, arrows)
    connected = [part for part in components if part.arrows]
    _place_boxes(connected)
    isolated = [part for part in components if not part.arrows]
    width = max((box.width for part in isolated for box in part.boxes.values()), default=0.0)
    for part in isolated:
        [box] = part.boxes.values()
        box.width = width
        box.x, box.y = box.width / 2, box.height / 2
        part.width, part.height = box.width, box.height
    return _pack([*connected, *isolated])


def _find_components(boxes: dict[str, Box], arrows: list[Arrow]) -> list[_Component]:
    root = {box_name: box_name for box_name in boxes}

    def find(box_name: str) -> str:
        while root[box_name] != box_name:
            root[box_name] = box_name = root[root[box_name]]
        return box_name

    for arrow in arrows:
        root[find(arrow.tail)] = find(arrow.head)
    parts: dict[str, _Component] = {}
    for name, box in boxes.items():
        parts.setdefault(find(name), _Component()).boxes[name] = box
    for arrow in arrows:
        parts[find(arrow.tail)].arrows.append(arrow)
    return list(parts.values())


def _place_boxes(parts: list[_Component]) -> None:
    """Set the sizes and positions that Graphviz computes for connected components."""
    requests = []
    for part in parts:
        number = {name: index for index, name in enumerate(part.boxes)}
        edges = [
            (number[arrow.tail], number[arrow.head], *arrow.label_size, arrow.ignored_by_layout)
            for arrow in part.arrows
        ]
        ordered = sorted({number[arrow.tail] for arrow in part.arrows if arrow.ordered})
        sizes = [(box.width, box.height) for box in part.boxes.values()]
        requests.append({"nodes": sizes, "edges": edges, "ordered": ordered})
    for part, layout in zip(parts, _run_graphviz(requests) if requests else [], strict=True):
        part.width, part.height = layout["width"], layout["height"]
        for box, (x, y) in zip(part.boxes.values(), layout["nodes"], strict=True):
            box.x, box.y = x, y
        for arrow, edge in zip(part.arrows, layout["edges"], strict=True):
            arrow.points = [(x, y) for x, y in edge["points"]]
            arrow.end = tuple(edge["end"])
            arrow.label = tuple(edge["label"] or _middle(arrow.points))


def _middle(points: list[Point]) -> Point:
    """Return a point near the middle of a curve."""
    index = (len(points) - 1) // 2
    (x, y), (to_x, to_y) = points[index], points[min(index + 1, len(points) - 1)]
    return ((x + to_x) / 2, (y + to_y) / 2)


def _run_graphviz(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the output of Graphviz, with curves if they are computed in time, else with straight lines."""
    import subprocess
    import sys

    line = [sys.executable, "-P", "-m", "moss_memory.cli.graph_image.graphviz"]
    for curved in (True, False):
        request = json.dumps({"parts": parts, "curved": curved})
        try:
            process = subprocess.run(
                line, input=request, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        if process.returncode == 0:
            answer: list[dict[str, Any]] = json.loads(process.stdout)
            return answer
        if not curved:
            reason = (process.stderr.strip().splitlines() or [f"it ended with {process.returncode}"])[-1]
            raise MossError("INTERNAL", f"Graphviz cannot lay this graph out: {reason[:200]}")
    raise MossError("INVALID_REQUEST", "the graph takes longer than a minute to lay out; draw a smaller part of it")


def _sort_key(part: _Component) -> tuple[bool, float]:
    """Return the sort key of a component: ordered ones first, then the highest."""
    ordered = any(arrow.ordered for arrow in part.arrows)
    return (not ordered, 0.0 if ordered else -part.height)


def _pack(parts: list[_Component]) -> tuple[float, float]:
    """Pack the components into rows, so that the whole is about as wide as a page."""
    if not parts:
        return 0.0, 0.0
    area = sum((part.width + _GAP) * (part.height + _GAP) for part in parts)
    row_width = max(math.sqrt(area * _ASPECT_RATIO), max(part.width for part in parts))
    x = y = row = widest = 0.0
    for part in sorted(parts, key=_sort_key):
        if x and x + part.width > row_width:
            x, y, row = 0.0, y + row + _GAP, 0.0
        part.move(x, y)
        x += part.width + _GAP
        row = max(row, part.height)
        widest = max(widest, x - _GAP)
    return widest, y + row
