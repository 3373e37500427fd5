"""`moss graph draw`: the graph of a branch as an image."""

from __future__ import annotations

import os

from moss_memory.cli.render.install_hint import require_extra
from moss_memory.config import load_config
from moss_memory.errors import MossError, invalid_request
from moss_memory.store import Store

from .graph_reader import NODES_MAX, read_graph, read_workspace
from .image_file import ImageFile
from .svg import FONTS, svg_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEEDED = {".svg": ("pygraphviz",), ".png": ("pygraphviz", "resvg_py")}
USUAL_LIMIT = 200
_ZOOM = 2.0
_SELECTING = ("target", "branch", "doc")
"""Arguments that select a graph; without any the whole workspace is drawn."""
_PIXELS_MAX = 25_000_000
_LETTERS = "Mm"
_PROBE = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" font-family="{FONTS}">'
    f'<text y="16">{_LETTERS}</text></svg>'
)


def draw(home: str | None, **arguments: Any) -> dict[str, Any]:
    """Write the image of a graph and return a summary of it."""
    output = arguments["output"]
    ending = os.path.splitext(output)[1].lower()
    if ending not in NEEDED:
        raise invalid_request(f"{output} should end in .svg or .png")
    limit = arguments.get("limit", USUAL_LIMIT)
    if not 1 <= limit <= NODES_MAX:
        raise invalid_request(f"--limit is {limit}; give 1 to {NODES_MAX}")
    require_extra("draw", NEEDED[ending], purpose="drawing")
    file = ImageFile(output)
    with Store(load_config(home), actor="cli") as store:
        reader = read_graph if any(name in arguments for name in _SELECTING) else read_workspace
        graph = reader(store, arguments, limit=limit)
    heading = f"{arguments['workspace']} \u00b7 {graph.branch} \u00b7 {graph.doc}"
    if graph.tasks:
        heading += f" \u00b7 {graph.tasks} {'plan or task' if graph.tasks == 1 else 'plans and tasks'}"
    svg, width, height = svg_of(graph, heading)
    file.write(svg.encode() if ending == ".svg" else png_of(svg, width, height))
    counts = {"nodes": len(graph.nodes), "edges": len(graph.edges), "missing": len(graph.missing)}
    if graph.tasks:
        counts["tasks"] = graph.tasks
    return {"path": file.path, "branch": graph.branch, "doc": graph.doc, **counts, "truncated": graph.more}


def png_of(svg: str, width: float, height: float) -> bytes:
    """Return the image as PNG at twice its size, or less if that is too large for most viewers."""
    import resvg_py  # type: ignore[import-not-found, unused-ignore]

    without = _PROBE.replace(_LETTERS, "")
    if resvg_py.svg_to_bytes(svg_string=_PROBE) == resvg_py.svg_to_bytes(svg_string=without):
        raise MossError("NOT_FOUND", "this system has no font to write a PNG with; install one, or write an .svg")
    zoom = min(_ZOOM, (_PIXELS_MAX / (width * height)) ** 0.5)
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom))
