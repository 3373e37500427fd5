"""Graphviz in a subprocess, which may time out or crash without harm.

Reads boxes and arrows as JSON from stdin and writes their positions as JSON to stdout. It gets sizes and numbers, but
no text of the graph.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Point = tuple[float, float]

_INCH = 72.0
_SPACES = 'nodesep="0.32" ranksep="0.42"'
_THOROUGH, _QUICK = "mclimit=1 nslimit=4 nslimit1=4", "mclimit=0.2 nslimit=0.5 nslimit1=2"
_MANY_EDGES = 120
"""Above this number of arrows the layout is coarser and ignores labels; otherwise it takes minutes."""


def layout(component: dict[str, Any], *, curved: bool = True) -> dict[str, Any]:
    """Return the positions of the boxes, arrows and labels of one connected component."""
    import pygraphviz  # type: ignore[import-not-found, import-untyped, unused-ignore]

    laid_out = json.loads(pygraphviz.AGraph(string=_dot(component, curved)).draw(format="json", prog="dot"))
    _, _, width, height = _numbers(laid_out["bb"])
    nodes = {item["name"]: _numbers(item["pos"]) for item in laid_out["objects"]}
    edges = {int(item["id"]): _edge(item, height) for item in laid_out.get("edges", ())}
    return {
        "width": width,
        "height": height,
        "nodes": [_flip(nodes[f"n{index}"], height) for index in range(len(component["nodes"]))],
        "edges": [edges[index] for index in range(len(component["edges"]))],
    }


def _dot(component: dict[str, Any], curved: bool) -> str:
    fine = curved and len(component["edges"]) <= _MANY_EDGES
    care = f"{_THOROUGH if fine else _QUICK} splines={'true' if curved else 'line'}"
    lines = [f'digraph {{ graph [{_SPACES} {care}] node [shape=box fixedsize=true label=""]']
    ordered = set(component.get("ordered", ()))
    for index, (width, height) in enumerate(component["nodes"]):
        order = " ordering=out" if index in ordered else ""
        lines.append(f'n{index} [width="{width / _INCH:.4f}" height="{height / _INCH:.4f}"{order}]')
    for index, (tail, head, width, height, ignored_by_layout) in enumerate(component["edges"]):
        # A table of fixed size reserves the space without measuring text in a font.
        size = f'FIXEDSIZE="TRUE" WIDTH="{int(width)}" HEIGHT="{int(height)}"'
        label = f' label=<<TABLE BORDER="0" {size}><TR><TD></TD></TR></TABLE>>' if fine else ""
        free = " constraint=false" if ignored_by_layout else ""
        lines.append(f'n{tail} -> n{head} [id="{index}"{label}{free}]')
    return "\n".join([*lines, "}"])


def _edge(edge: dict[str, Any], height: float) -> dict[str, Any]:
    """Return the curve of an arrow, its tip, and the centre of its label if it has one."""
    end, points = None, []
    for part in edge["pos"].replace("\\\n", "").split():
        if part.startswith("e,"):
            end = _flip(_numbers(part[2:]), height)
        elif not part.startswith("s,"):
            points.append(_flip(_numbers(part), height))
    label = _flip(_numbers(edge["lp"]), height) if "lp" in edge else None
    return {"points": points, "end": end or points[-1], "label": label}


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _flip(point: list[float], height: float) -> Point:
    """Return a point with its y axis inverted: Graphviz counts upwards, images downwards."""
    return (round(point[0], 1), round(height - point[1], 1))


def main() -> None:
    """Compute the positions of every component on stdin."""
    request = json.load(sys.stdin)
    json.dump([layout(part, curved=request["curved"]) for part in request["parts"]], sys.stdout)


if __name__ == "__main__":
    main()
