"""The page of all workspaces, with a filter by name."""

from __future__ import annotations

from .page_context import PAGE_ROWS
from .page_frame import FAMILIES, recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_MOST = 500
"""Maximum number of workspaces that the store lists by last change."""


def list_page(context: PageContext, request: PageRequest) -> Response:
    """List the workspaces, last changed first, those whose name contains the query's text."""
    found = recent(context, request, _MOST)
    wanted = request.query.get("name", "").strip().casefold()
    matching = [one for one in found["workspaces"] if wanted in one["workspace"].casefold()]
    start = request.offset
    shown = matching[start : start + PAGE_ROWS]
    pagination = {
        "offset": start,
        "limit": PAGE_ROWS,
        "has_more": start + len(shown) < len(matching),
        "total": len(matching),
    }
    return context.page(
        request,
        "workspaces.html",
        items=shown,
        pagination=pagination,
        filters=request.query_values("name"),
        left_out=found["total"] - len(found["workspaces"]),
        families=[(name, title, path) for name, title, path in FAMILIES],
    )


PAGES = {"/workspaces": list_page}
FORMS: dict[str, Any] = {}
