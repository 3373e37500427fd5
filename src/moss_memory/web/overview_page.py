"""The overview: counts, activity, latest hand-overs, open work."""

from __future__ import annotations

import time
from datetime import date, datetime, timedelta
from typing import Any

from starlette.responses import Response

from moss_memory.errors import MossError
from moss_memory.tools.capsule.capsule_browse import capsule_authors
from moss_memory.tools.everything.period_changes import QUARTER_MS, changes_by_quarter

from .activity_chart import build_chart
from .changes_page import WEEK_DAYS, period_of, read_changes
from .page_context import PageContext, PageRequest
from .page_frame import FAMILIES, WEEKS, load_activity, load_workspaces
from .task_pages import add_times, load_tasks
from .templating import author_of

_LATEST = 6
_OPEN = 8
_COUNTED_AGAIN = 20_000
"""Maximum number of changes that are counted by days of the browser; more are counted in advance, by days of UTC."""
_MAX_WORKSPACES = 4
"""Number of recently changed workspaces in which open questions are searched."""


def show_overview(context: PageContext, request: PageRequest) -> Response:
    workspace = request.query.get("workspace", "")
    activity = load_activity(context, request, workspace)
    counts = activity["counts"]
    today = datetime.now(request.zone).date()
    local = _local_days(context, request, today, counts)
    days = activity["days"] if local is None else local
    this_week = [day for day in days if day["day"] > str(today - timedelta(days=WEEK_DAYS))]
    figures = [
        {"name": name, "title": title, "path": path, "count": counts[name], "week": sum(day[name] for day in this_week)}
        for name, title, path in FAMILIES
        if name in counts
    ]
    recent = load_workspaces(context, request)
    workspaces = recent["workspaces"]
    period = period_of({"since": "week"}, request.zone, int(time.time()), None)
    open_work, more_tasks = _open_work(context, workspace, [row["workspace"] for row in workspaces], counts)
    return context.page(
        request,
        "overview.html",
        figures=figures,
        last=_last_change(activity, workspace, workspaces),
        workspaces=recent["total"],
        total=sum(day[name] for day in days for name in counts),
        chart=build_chart(days, list(counts), WEEKS, today),
        is_utc=local is None,
        period=period,
        sentence=read_changes(context, request, period, workspace)["sentence"],
        latest=_latest(context, workspace) if "capsule" in counts else [],
        open_work=open_work,
        more_tasks=more_tasks,
        searched=_MAX_WORKSPACES if not workspace and len(workspaces) > _MAX_WORKSPACES else 0,
    )


def _latest(context: PageContext, workspace: str) -> list[dict[str, Any]]:
    """Return the last changed capsules, each with the author of its last change."""
    items = context.call("capsule_inventory", workspace=workspace, limit=_LATEST)["items"]
    authors = context.store.read(capsule_authors, what="authors", ids=[item["id"] for item in items])
    return [{**item, "by": author_of(authors.get(item["id"]), item.get("source"))} for item in items]


def _local_days(
    context: PageContext, request: PageRequest, today: date, families: dict[str, int]
) -> list[dict[str, Any]] | None:
    """Return the changes of each day in the time zone of the browser; None if there are too many to count again."""
    first_day = today - timedelta(days=WEEKS * 7 - 1)
    midnight = datetime(first_day.year, first_day.month, first_day.day, tzinfo=request.zone)
    workspace, from_ms = request.query.get("workspace", ""), int(midnight.timestamp() * 1000)
    arguments = {"from_ms": from_ms, "workspace": workspace, "most": _COUNTED_AGAIN}
    quarters = context.cached_read(request, changes_by_quarter, what="changes by quarter", **arguments)
    if quarters is None:
        return None
    days: dict[str, dict[str, Any]] = {}
    for quarter, family, count in quarters:
        if family in families:
            name = str(datetime.fromtimestamp(quarter * QUARTER_MS / 1000, request.zone).date())
            day = days.setdefault(name, {"day": name, **dict.fromkeys(families, 0)})
            day[family] += count
    return list(days.values())


def _last_change(activity: dict[str, Any], workspace: str, workspaces: list[dict[str, Any]]) -> dict[str, Any] | None:
    if not workspace:
        last = activity.get("last")
        return last and {"workspace": last["workspace"], "at": last["ts_ms"] / 1000}
    match = next((row for row in workspaces if row["workspace"] == workspace), None)
    return match and {"workspace": workspace, "at": match.get("ts_ms", 0) / 1000, "day": match["day"]}


def _open_work(
    context: PageContext, workspace: str, workspaces: list[str], counts: dict[str, int]
) -> tuple[list[dict[str, Any]], int]:
    """Return open questions, then open tasks, and how many tasks are not among them."""
    items: list[dict[str, Any]] = []
    if counts.get("reasoning"):
        for name in [workspace] if workspace else workspaces[:_MAX_WORKSPACES]:
            items += _questions(context, name)
    items, tasks = items[: _OPEN // 2], 0
    if counts.get("task"):
        for status in ("ACTIVE", "TODO"):
            answer = load_tasks(context, workspace, status, {}, limit=_OPEN)
            tasks += answer["pagination"]["total"]
            items += [{**item, "kind": "task"} for item in answer["items"]]
    open_items = items[:_OPEN]
    listed = [item for item in open_items if item["kind"] == "task"]
    add_times(context, listed)
    return open_items, tasks - len(listed)


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
        }
        for card in cards["cards"]
    ]
