"""The frame of every page: families with counts, workspaces, state of the store."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .page_context import PageContext, PageRequest

FAMILIES = (
    ("capsule", "Capsules", "/capsules"),
    ("artifact", "Artifacts", "/artifacts"),
    ("reasoning", "Reasoning", "/reasoning"),
    ("task", "Tasks", "/tasks"),
    ("record", "Records", "/records"),
)
LISTS = [{"name": name, "title": f"All {title.lower()}", "path": path} for name, title, path in FAMILIES]
"""The list of each family; the error page of a missing row links to it."""
WEEKS = 9
_MAX_WORKSPACES = 100


def build_frame(context: PageContext, request: PageRequest) -> dict[str, Any]:
    """Return the data of a page's frame; an unreadable store is reported in it, not raised."""
    workspace = request.query.get("workspace", "")
    try:
        activity = load_activity(context, request, workspace)
        recent = load_workspaces(context, request)
        names, total = [row["workspace"] for row in recent["workspaces"]], recent["total"]
        trouble = ""
    except MossError as error:
        activity, names, trouble = {"counts": {}, "seq": 0}, [], error.message
        total = 0
    return {
        "families": [
            {"name": name, "title": title, "path": path, "count": activity["counts"][name]}
            for name, title, path in FAMILIES
            if name in activity["counts"]
        ],
        "seq": activity["seq"],
        "workspace": workspace,
        "workspaces": names if not workspace or workspace in names else [workspace, *names],
        "total": total,
        "health": context.health,
        "trouble": trouble,
    }


def prepare_frame(context: PageContext) -> None:
    load_activity(context, None, "")
    load_workspaces(context, None)


def load_activity(context: PageContext, request: PageRequest | None, workspace: str) -> dict[str, Any]:
    """Return the counts of each family and the changes of the last nine weeks."""
    return context.cached_call(request, "moss_activity", days=WEEKS * 7, workspace=workspace)


def load_workspaces(context: PageContext, request: PageRequest | None, limit: int = _MAX_WORKSPACES) -> dict[str, Any]:
    """Return the workspaces, most recently changed first, and their number."""
    return context.cached_call(request, "moss_recent", limit=limit)


def workspace_in_view(context: PageContext, request: PageRequest, family: str) -> str:
    """Return the workspace of a page: the chosen one, or the last changed with data of this family."""
    if "workspace" in request.query:
        return request.query["workspace"]
    rows = load_workspaces(context, request)["workspaces"]
    return str(next((row["workspace"] for row in rows if family in row["holds"]), "default"))
