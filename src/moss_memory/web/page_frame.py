"""What stands around every page: the families with their counts, the workspaces, the state of the store."""

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
WEEKS = 9
_MOST_WORKSPACES = 100


def frame_of(site: PageContext, visit: PageRequest) -> dict[str, Any]:
    """What the frame of a page shows; a store that cannot be read is said, not raised."""
    workspace = visit.query.get("workspace", "")
    try:
        activity = activity_of(site, workspace)
        names = [one["workspace"] for one in recent(site)["workspaces"]]
        trouble = ""
    except MossError as error:
        activity, names, trouble = {"counts": {}, "seq": 0}, [], error.message
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


def prepare_frame(site: PageContext) -> None:
    """Asks for what every frame shows, so that it is there."""
    activity_of(site, "")
    recent(site)


def activity_of(site: PageContext, workspace: str) -> dict[str, Any]:
    """How much there is of each family, and what changed in the last nine weeks."""
    return site.figures("moss_activity", days=WEEKS * 7, workspace=workspace)


def recent(site: PageContext) -> dict[str, Any]:
    """The workspaces, the most recently changed first, and how many there are."""
    return site.figures("moss_recent", limit=_MOST_WORKSPACES)


def workspace_in_view(site: PageContext, visit: PageRequest, family: str) -> str:
    """The workspace that a page of one workspace shows: the chosen one, else the last changed that has something."""
    if "workspace" in visit.query:
        return visit.query["workspace"]
    found = recent(site)["workspaces"]
    return str(next((one["workspace"] for one in found if family in one["holds"]), "default"))
