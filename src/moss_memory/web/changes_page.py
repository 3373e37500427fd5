"""The home page: changes since the last visit, of a day or between two days, grouped by item."""

from __future__ import annotations

import json
import time
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from starlette.responses import Response

from moss_memory.tools.everything.period_changes import EVENTS, changes_in_period, document_numbers, task_titles

from .change_details import describe_changes, summarize
from .page_context import PageContext, PageRequest, parse_number
from .page_frame import load_activity, load_workspaces

_ROWS_PER_PAGE = 15
_COOKIE = "moss_seen"
_VISIT_S = 1800
"""A pause longer than this begins a new visit."""
WEEK_DAYS = 7
"""Number of days in the period `week`, today included."""
_YEAR_S = 31_536_000
_PERIODS = {"visit": "Since your last visit", "today": "Today", "week": f"Last {WEEK_DAYS} days"}


def show_changes(context: PageContext, request: PageRequest) -> Response:
    """Show the changes of a period, grouped by workspace and item."""
    now = int(time.time())
    previous, cookie = next_visit(request.cookies.get(_COOKIE, ""), now)
    period = period_of(request.query, request.zone, now, previous)
    workspace = request.query.get("workspace", "")
    changes = read_changes(context, request, period, workspace)
    period["numbers"] = changes["numbers"]
    rows, pagination = request.slice(changes["items"], _ROWS_PER_PAGE)
    items = [dict(item) for item in rows]
    _set_titles(context, items)
    names = {row["workspace"].casefold(): row["workspace"] for row in load_workspaces(context, request)["workspaces"]}
    for item in items:
        item["place"] = names.get(item["workspace"], item["workspace"])
        describe_changes(context, item, period)
    response = context.page(
        request,
        "changes.html",
        is_empty=not workspace and not load_activity(context, request, "").get("last"),
        period=period,
        periods=_PERIODS,
        sentence=changes["sentence"],
        groups=group_by_workspace(items),
        pagination=pagination,
        items=items,
        most=EVENTS if changes["has_more"] else 0,
    )
    secure = request.origin.startswith("https:")
    response.set_cookie(_COOKIE, cookie, max_age=_YEAR_S, httponly=True, samesite="strict", secure=secure)
    return response


def read_changes(context: PageContext, request: PageRequest, period: dict[str, Any], workspace: str) -> dict[str, Any]:
    """Return the items that changed in a period, a sentence about them, and the numbers of its rows in documents."""
    times = {"from_ms": period["from_ms"], "to_ms": period["to_ms"]}

    def read() -> dict[str, Any]:
        changes = context.store.read(changes_in_period, what="changes", **times, workspace=workspace)
        items = group_by_subject(changes["events"])
        return {
            "items": items,
            "sentence": summarize(items),
            "numbers": context.store.read(document_numbers, what="numbers of a period", **times),
            "has_more": changes["has_more"],
        }

    return context.cached(request, "changes", {**times, "workspace": workspace}, read)


def next_visit(cookie: str, now: int) -> tuple[int | None, str]:
    """Return when the last visit ended, None before the second one, and the new value of the cookie."""
    parts = cookie.split(".")
    times = [number for part in parts if (number := parse_number(part)) is not None]
    if len(parts) != 2 or len(times) != 2 or max(times) > now:
        return None, f"0.{now}"
    ended, last_seen = times
    if now - last_seen > _VISIT_S:
        ended = last_seen
    return ended or None, f"{ended}.{now}"


def period_of(query: dict[str, str], zone: tzinfo, now: int, previous: int | None) -> dict[str, Any]:
    """Return the period of a query: its name, its title, and its beginning and end in milliseconds."""
    first, last = _day(query.get("from", "")), _day(query.get("to", ""))
    if first or last:
        first, last = first or last, last or first
        assert first is not None
        assert last is not None
        first, last = min(first, last), max(first, last)
        title = f"{first:%-d %b %Y}" if first == last else f"{first:%-d %b %Y} to {last:%-d %b %Y}"
        end = _midnight(last + timedelta(days=1), zone)
        return {"name": "days", "title": title, "from": str(first), "to": str(last),
                "from_ms": _midnight(first, zone), "to_ms": end}  # fmt: skip
    name, today = query.get("since", "visit"), datetime.fromtimestamp(now, zone).date()
    if name == "today":
        return {"name": "today", "title": "today", "from_ms": _midnight(today, zone), "to_ms": None}
    if name == "visit" and previous is not None:
        return {"name": "visit", "title": "since your last visit", "from_ms": previous * 1000, "to_ms": None,
                "visited": previous}  # fmt: skip
    begin = _midnight(today - timedelta(days=WEEK_DAYS - 1), zone)
    return {"name": "week", "title": f"in the last {WEEK_DAYS} days", "from_ms": begin, "to_ms": None}


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1970 < day.year < 9000 else None  # beyond these years a time zone may exceed the range of `date`


def _midnight(day: date, zone: tzinfo) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() * 1000)


def group_by_subject(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items that changed, last changed first, each with its events and authors."""
    items: dict[tuple[Any, ...], dict[str, Any]] = {}
    for event in events:
        if event["address"] is None:
            continue  # a call without an item, such as the first one of a workspace
        key = (event["workspace"] or "", event["family"], event["address"])
        item = items.get(key)
        if item is None:
            item = items[key] = {
                "workspace": key[0], "family": key[1], "address": key[2], "title": key[2], "ts_ms": event["ts_ms"],
                "events": [], "by": [],
            }  # fmt: skip
        item["events"].append({**event, "payload": json.loads(event["payload"]) if event["payload"] else {}})
        if event["by"] and event["by"] not in item["by"]:
            item["by"].append(event["by"])
    return list(items.values())


def _set_titles(context: PageContext, items: list[dict[str, Any]]) -> None:
    keys = [(item["workspace"], item["address"]) for item in items if item["family"] == "task"]
    titles = context.store.read(task_titles, what="titles of tasks", tasks=keys)
    for item in items:
        item["title"] = titles.get((item["workspace"], item["address"]), item["title"])


def group_by_workspace(items: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        groups.setdefault(item["place"], []).append(item)
    return list(groups.items())
