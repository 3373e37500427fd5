"""Tasks: the board of a workspace, and one plan or task with everything that is known of it."""

from __future__ import annotations

from moss_memory.errors import MossError

from .long_texts import shown_value
from .page_frame import workspace_in_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_COLUMNS = (("TODO", "To do"), ("ACTIVE", "In work"), ("DONE", "Done"))
_CARDS = 30
_PLANS = 12
_OPENED = 12
"""How many of the cards in work are looked into for who holds them."""
_WHOLE = 500_000
"""So much of a task is shown; Moss shortens the rest."""


def board(site: PageContext, visit: PageRequest) -> Response:
    """The tasks of a workspace by their status, and its plans."""
    workspace = workspace_in_view(site, visit, "task")
    filters = visit.asked("parent", "tag")
    only = visit.query.get("status", "")
    shown = [column for column in _COLUMNS if not only or column[0] == only]
    plans = site.call("tasks_list", workspace=workspace, kind="plan", limit=_PLANS, max_chars=_WHOLE)["items"]
    progress = _progress(site, workspace, plans)
    columns = [_column(site, visit, workspace, filters, status, title) for status, title in shown]
    for column in columns:
        for card in column["items"]:
            card["progress"] = progress.get(card["id"])
    _look_into(site, workspace, columns)
    return site.page(
        visit,
        "tasks.html",
        family="task",
        place=workspace,
        columns=columns,
        plans=[{**plan, "tasks": [task for task in progress.values() if task["plan"] == plan["id"]]} for plan in plans],
        filters=visit.asked("parent", "tag", "status"),
        focus=site.call("tasks_focus", workspace=workspace)["focus"],
    )


def _column(
    site: PageContext, visit: PageRequest, workspace: str, filters: dict[str, str], status: str, title: str
) -> dict[str, Any]:
    answer = site.call(
        "tasks_list",
        workspace=workspace,
        kind="task",
        status=status,
        max_chars=_WHOLE,
        **filters,
        **site.rows(visit, _CARDS),
    )
    return {"status": status, "title": title, "items": answer["items"], "pagination": answer["pagination"]}


def _progress(site: PageContext, workspace: str, plans: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """How far the tasks of some plans have come, by their ids."""
    found: dict[str, dict[str, Any]] = {}
    for plan in plans:
        shown = site.call("tasks_show", workspace=workspace, target=plan["id"], max_chars=_WHOLE)
        found |= {task["id"]: {**task, "plan": plan["id"]} for task in shown.get("tasks", [])}
    return found


def _look_into(site: PageContext, workspace: str, columns: list[dict[str, Any]]) -> None:
    """Says of the cards in work who holds them, and how far they have come."""
    cards = [card for column in columns if column["status"] == "ACTIVE" for card in column["items"]]
    for card in cards[:_OPENED]:
        task = site.call("tasks_show", workspace=workspace, target=card["id"], max_chars=_WHOLE)
        card["agent"] = task.get("agent")
        card["blocked"] = any(step["status"] == "blocked" for step in task["steps"])
        done = sum(step["status"] == "done" for step in task["steps"])
        card["progress"] = card["progress"] or {"steps_done": done, "steps_total": len(task["steps"])}


def reading(site: PageContext, visit: PageRequest) -> Response:
    """A plan or task: its steps as a tree with criteria, evidence and claims, and where it stands."""
    workspace = visit.query.get("workspace") or workspace_in_view(site, visit, "task")
    target = visit.path["id"]
    task = site.call("tasks_show", workspace=workspace, target=target, max_chars=_WHOLE)
    return site.page(
        visit,
        "task.html",
        family="task",
        place=workspace,
        task=task,
        **shown_value(visit, task.get("contract")),
        radar=_radar(site, workspace, target),
        done=_counted(task["steps"], "done"),
        total=_counted(task["steps"]),
    )


def _radar(site: PageContext, workspace: str, target: str) -> dict[str, Any] | None:
    try:
        return site.call("tasks_radar", workspace=workspace, target=target, max_chars=_WHOLE)
    except MossError:
        return None


def _counted(steps: list[dict[str, Any]], status: str = "") -> int:
    """How many steps there are in a tree, or of one status."""
    own: int = sum(not status or step["status"] == status for step in steps)
    return own + sum(_counted(step["steps"], status) for step in steps)


PAGES = {"/tasks": board, "/tasks/{id}": reading}
FORMS: dict[str, Any] = {}
