"""The map: every capsule, card, task and record a dot, placed by meaning on a thread, drawn by the browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.responses import JSONResponse, Response

from moss_memory.tools.everything.map_rows import MOST_DOTS, map_rows, vectors_of_dots

from .map_layout import place_dots
from .page_context import PageContext, PageRequest
from .page_frame import FAMILIES
from .templating import query_of

_LISTED = 100
_SEARCHED = 1_000
"""Number of last changed dots that are searched for dots of one workspace."""
_WAIT_S = 0.2
_SHOWN = ("capsule", "reasoning", "task", "record")


def show_map(context: PageContext, request: PageRequest) -> Response:
    workspace = request.query.get("workspace", "")
    dots = context.store.read(map_rows, what="list of the map", most=_SEARCHED if workspace else _LISTED)
    listed = [dot for dot in dots if workspace in ("", dot["workspace"])][:_LISTED]
    return context.page(
        request,
        "map.html",
        live=False,
        families=[(name, title) for name, title, _ in FAMILIES if name in _SHOWN],
        items=[{**dot, "link": dot_address(dot)} for dot in listed],
        most=MOST_DOTS,
    )


def send_map_data(context: PageContext, request: PageRequest) -> Response:
    """Return the dots as JSON, with status 202 while the first map is computed."""
    body, _ = context.background.get("map", context.last_change(request), lambda: _compute(context), wait_s=_WAIT_S)
    return JSONResponse({"ready": False}, 202) if body is None else Response(body, media_type=JSONResponse.media_type)


def _compute(context: PageContext) -> bytes:
    """Return the map as JSON, encoded once for all requests."""
    dots = context.store.read(map_rows, what="map", most=MOST_DOTS)
    docs = [dot["doc"] for dot in dots if dot["doc"] is not None]
    vectors = context.store.read(vectors_of_dots, what="vectors of the map", docs=docs)
    positions, placed_by = place_dots(dots, vectors)
    workspaces = sorted({dot["workspace"] for dot in dots})
    numbers = {name: number for number, name in enumerate(workspaces)}
    map_data = {
        "ready": True,
        "placed_by": placed_by,
        "workspaces": workspaces,
        "families": list(_SHOWN),
        "dots": [
            [
                x, y, _SHOWN.index(dot["family"]), numbers[dot["workspace"]], dot["loads"],
                int(dot["created_at"]), int(dot["updated_at"]), dot["title"], dot_address(dot),
            ]
            for dot, (x, y) in zip(dots, positions, strict=True)
        ],
    }  # fmt: skip
    return bytes(JSONResponse(map_data).body)


def dot_address(dot: dict[str, Any]) -> str:
    """Return the page of a dot, below the base address."""
    if dot["family"] == "capsule":
        return f"/capsules/{dot['id']}"
    if dot["family"] == "reasoning":
        return "/reasoning/node" + query_of(workspace=dot["workspace"], branch=dot["branch"], id=dot["id"])
    page = "/tasks/" if dot["family"] == "task" else "/records/entities/"
    return page + quote(dot["id"], safe="") + query_of(workspace=dot["workspace"])
