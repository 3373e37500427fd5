"""What stands around every page: the families with their counts, the workspaces, the state of the store."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .site import Site, Visit

FAMILIES = (
    ("capsule", "Capsules", "/capsules"),
    ("artifact", "Artifacts", "/artifacts"),
    ("reasoning", "Reasoning", "/reasoning"),
    ("task", "Tasks", "/tasks"),
    ("record", "Records", "/records"),
)
_MOST_WORKSPACES = 100
_STALE_S = 5.0
"""A new workspace may be listed so late: to count what is in each takes 80 ms in a store of 100,000 rows."""


def shell_of(site: Site, visit: Visit) -> dict[str, Any]:
    """What the frame of a page shows; a store that cannot be read is said, not raised."""
    workspace = visit.query.get("workspace", "")
    try:
        activity = site.figures("moss_activity", days=1, workspace=workspace)
        workspaces = workspaces_of(site)
        trouble = ""
    except MossError as error:
        activity, workspaces, trouble = {"counts": {}, "seq": 0}, [], error.message
    names = [one["workspace"] for one in workspaces]
    return {
        "families": [
            {"name": name, "title": title, "path": path, "count": activity["counts"][name]}
            for name, title, path in FAMILIES
            if name in activity["counts"]
        ],
        "seq": activity["seq"],
        "workspace": workspace,
        "workspaces": names if not workspace or workspace in names else [workspace, *names],
        "health": site.health,
        "trouble": trouble,
    }


def workspaces_of(site: Site) -> list[dict[str, Any]]:
    """The workspaces, the most recently changed first."""
    found: list[dict[str, Any]] = site.figures("moss_workspaces", stale_s=_STALE_S, limit=_MOST_WORKSPACES)[
        "workspaces"
    ]
    return found


def workspace_in_view(site: Site, visit: Visit, having: str) -> str:
    """The workspace that a page of one workspace shows: the chosen one, else the last changed that has something."""
    if "workspace" in visit.query:
        return visit.query["workspace"]
    found = workspaces_of(site)
    return str(next((one["workspace"] for one in found if one.get(having, 1)), "default"))
