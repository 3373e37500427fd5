"""The overview: counts, activity, latest hand-overs, open work."""

from __future__ import annotations

import time

from moss_memory.errors import MossError

from .activity_chart import plot_of
from .page_frame import FAMILIES, WEEKS, activity_of, recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_WEEK = 7
_LATEST = 6
_OPEN = 8
_MAX_WORKSPACES = 4
"""Number of recently changed workspaces in which open work is searched."""


def overview(context: PageContext, request: PageRequest) -> Response:
    """Show the overview."""
    workspace = request.query.get("workspace", "")
    activity = activity_of(context, request, workspace)
    counts = activity["counts"]
    week_ago = time.strftime("%Y-%m-%d", time.gmtime(time.time() - (_WEEK - 1) * 86_400))
    this_week = [day for day in activity["days"] if day["day"] >= week_ago]
    figures = [
        {"name": name, "title": title, "path": path, "count": counts[name], "week": sum(day[name] for day in this_week)}
        for name, title, path in FAMILIES
        if name in counts
    ]
    found = recent(context, request)
    workspaces = found["workspaces"]
    latest = (
        context.call("capsule_inventory", workspace=workspace, limit=_LATEST)["items"] if "capsule" in counts else []
    )
    return context.page(
        request,
        "overview.html",
        figures=figures,
        last=_last_change(activity, workspace, workspaces),
        workspaces=found["total"],
        total=sum(day[name] for day in activity["days"] for name in counts),
        plot=plot_of(activity["days"], list(counts), WEEKS),
        latest=latest,
        open_work=_open_work(context, [workspace] if workspace else [one["workspace"] for one in workspaces], counts),
    )


def _last_change(activity: dict[str, Any], workspace: str, workspaces: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return place and time of the last change, in the chosen workspace or in any."""
    if not workspace:
        last = activity.get("last")
        return last and {"workspace": last["workspace"], "at": last["ts_ms"] / 1000}
    found = next((one for one in workspaces if one["workspace"] == workspace), None)
    return found and {"workspace": workspace, "at": found.get("ts_ms", 0) / 1000, "day": found["day"]}


def _open_work(context: PageContext, workspaces: list[str], counts: dict[str, int]) -> list[dict[str, Any]]:
    """Open questions and tasks of the workspaces that changed last, questions first."""
    found: list[dict[str, Any]] = []
    for workspace in workspaces[:_MAX_WORKSPACES]:
        if counts.get("reasoning"):
            found += _questions(context, workspace)
        if counts.get("task"):
            found += _tasks(context, workspace)
    return sorted(found, key=lambda one: one["order"])[:_OPEN]


def _questions(context: PageContext, workspace: str) -> list[dict[str, Any]]:
    try:
        cards = context.call("branchmind_think_query", workspace=workspace, types="question", status="open", limit=3)
    except MossError:
        return []  # no reasoning in this workspace yet
    return [
        {
            "kind": "question",
            "title": card["title"] or card["id"],
            "id": card["id"],
            "workspace": workspace,
            "branch": cards["branch"],
            "order": 0,
        }
        for card in cards["cards"]
    ]


def _tasks(context: PageContext, workspace: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for order, status in ((1, "ACTIVE"), (2, "TODO")):
        items = context.call("tasks_list", workspace=workspace, kind="task", status=status, limit=4)["items"]
        found += [
            {"kind": "task", "title": item["title"], "id": item["id"], "workspace": workspace, "order": order}
            for item in items
        ]
    return found


PAGES = {"/overview": overview}
FORMS: dict[str, Any] = {}
