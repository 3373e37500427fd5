"""The page of all workspaces, with a filter by name."""

from __future__ import annotations

from starlette.responses import Response

from .page_context import PageContext, PageRequest
from .page_frame import FAMILIES, load_workspaces

_MOST = 500
"""Maximum number of workspaces that the store lists by last change."""


def list_workspaces(context: PageContext, request: PageRequest) -> Response:
    """List the workspaces whose name contains the query's text, last changed first."""
    recent = load_workspaces(context, request, _MOST)
    fragment = request.query.get("name", "").strip().casefold()
    matching = [row for row in recent["workspaces"] if fragment in row["workspace"].casefold()]
    page_rows, pagination = request.slice(matching)
    return context.page(
        request,
        "workspaces.html",
        items=page_rows,
        pagination=pagination,
        filters=request.query_values("name"),
        left_out=recent["total"] - len(recent["workspaces"]),
        families=FAMILIES,
    )
