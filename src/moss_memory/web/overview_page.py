"""The overview: counts, activity, latest hand-overs, open work."""

from __future__ import annotations

from datetime import datetime, timedelta

from moss_memory.errors import MossError
from moss_memory.tools.everything.period_changes import QUARTER_MS, changes_by_quarter

from .activity_chart import plot_of
from .page_frame import FAMILIES, WEEKS, activity_of, recent
from .task_pages import add_times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_WEEK = 7
_LATEST = 6
_OPEN = 8
_COUNTED_AGAIN = 20_000
"""Number of changes up to which the days are those of the browser; above they are counted in advance, in UTC."""
_MAX_WORKSPACES = 4
"""Number of recently changed workspaces in which open work is searched."""


def overview(context: PageContext, request: PageRequest) -> Response:
    """Show the overview."""
    workspace = request.query.get("workspace", "")
    activity = activity_of(context, request, workspace)
    counts = activity["counts"]
    today = datetime.now(request.zone).date()
    local = _local_days(context, request, today, counts)
    days = activity["days"] if local is None else local
    this_week = [day for day in days if day["day"] > str(today - timedelta(days=_WEEK))]
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
        total=sum(day[name] for day in days for name in counts),
        plot=plot_of(days, list(counts), WEEKS, today),
        is_utc=local is None,
        latest=latest,
        open_work=_open_work(context, [workspace] if workspace else [one["workspace"] for one in workspaces], counts),
    )


def _local_days(
    context: PageContext, request: PageRequest, today: date, families: dict[str, int]
) -> list[dict[str, Any]] | None:
    """Return the changes of each day in the time zone of the browser; None if there are too many to count again."""
    first = today - timedelta(days=WEEKS * 7 - 1)
    midnight = datetime(first.year, first.month, first.day, tzinfo=request.zone)
    found = context.cached_read(
        request,
        changes_by_quarter,
        what="changes by quarter",
        from_ms=int(midnight.timestamp() * 1000),
        workspace=request.query.get("workspace", ""),
        most=_COUNTED_AGAIN,
    )
    if found is None:
        return None
    days: dict[str, dict[str, Any]] = {}
    for quarter, family, count in found:
        if family in families:
            name = str(datetime.fromtimestamp(quarter * QUARTER_MS / 1000, request.zone).date())
            day = days.setdefault(name, {"day": name, **dict.fromkeys(families, 0)})
            day[family] += count
    return list(days.values())


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
    shown = sorted(found, key=lambda one: one["order"])[:_OPEN]
    add_times(context, [one for one in shown if one["kind"] == "task"])
    return shown


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
            "changed_ms": card.get("last_ts_ms"),
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
