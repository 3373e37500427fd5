"""Tasks: the board of a workspace, and one plan or task with everything that is known of it."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from moss_memory.errors import MossError
from moss_memory.tools.task.tasks_everywhere import plans_everywhere, task_times, tasks_everywhere

from .long_texts import value_view
from .page_context import PageContext, PageRequest
from .page_frame import workspace_in_view

_COLUMNS = (("TODO", "To do"), ("ACTIVE", "In work"), ("DONE", "Done"))
_CARDS = 30
_PLANS = 12
_MAX_CLAIMS = 12
"""Maximum number of active cards for which claims are fetched."""
_MAX_CHARS = 500_000
"""Maximum size of a task's answer; the tool shortens the rest."""


def show_board(context: PageContext, request: PageRequest) -> Response:
    """Show the tasks of a workspace, or of all of them, by status, and the plans."""
    workspace = request.query.get("workspace", "")
    filters = request.query_values("parent", "tag")
    only_status = request.query.get("status", "")
    chosen_columns = [column for column in _COLUMNS if not only_status or column[0] == only_status]
    plans = _plans(context, workspace)
    progress = _progress(context, plans)
    paging = context.paging(request, _CARDS)
    columns = [
        {"status": status, "title": title, **load_tasks(context, workspace, status, filters, **paging)}
        for status, title in chosen_columns
    ]
    for column in columns:
        for card in column["items"]:
            card["progress"] = progress.get((card["workspace"], card["id"]))
    _add_claims(context, columns)
    add_times(context, [card for column in columns for card in column["items"]])
    return context.page(
        request,
        "tasks.html",
        family="task",
        place=workspace,
        columns=columns,
        plans=[_with_tasks(plan, progress) for plan in plans],
        filters=request.query_values("parent", "tag", "status"),
        focus=context.call("tasks_focus", workspace=workspace)["focus"] if workspace else "",
    )


def load_tasks(
    context: PageContext, workspace: str, status: str, filters: dict[str, str], *, limit: int, offset: int = 0
) -> dict[str, Any]:
    """Return a page of the tasks with a status, of a workspace or of all of them, each with its workspace."""
    page: dict[str, Any] = {"limit": limit, "offset": offset}
    if not workspace:
        return context.store.read(tasks_everywhere, what="tasks", status=status, tag=filters.get("tag"), **page)
    answer = context.call(
        "tasks_list", workspace=workspace, kind="task", status=status, max_chars=_MAX_CHARS, **filters, **page
    )
    items = [{**item, "workspace": workspace} for item in answer["items"]]
    return {"items": items, "pagination": answer["pagination"]}


def _plans(context: PageContext, workspace: str) -> list[dict[str, Any]]:
    if not workspace:
        return context.store.read(plans_everywhere, what="plans", limit=_PLANS)
    plans = context.call("tasks_list", workspace=workspace, kind="plan", limit=_PLANS, max_chars=_MAX_CHARS)["items"]
    return [{**plan, "workspace": workspace} for plan in plans]


def _progress(context: PageContext, plans: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    progress: dict[tuple[str, str], dict[str, Any]] = {}
    for plan in plans:
        workspace = plan["workspace"]
        answer = context.call("tasks_show", workspace=workspace, target=plan["id"], max_chars=_MAX_CHARS)
        progress |= {(workspace, task["id"]): {**task, "plan": plan["id"]} for task in answer.get("tasks", [])}
    return progress


def _with_tasks(plan: dict[str, Any], progress: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    own_workspace = plan["workspace"]
    tasks = [
        task for (workspace, _), task in progress.items() if workspace == own_workspace and task["plan"] == plan["id"]
    ]
    return {**plan, "tasks": tasks}


def _add_claims(context: PageContext, columns: list[dict[str, Any]]) -> None:
    cards = [card for column in columns if column["status"] == "ACTIVE" for card in column["items"]]
    for card in cards[:_MAX_CLAIMS]:
        task = context.call("tasks_show", workspace=card["workspace"], target=card["id"], max_chars=_MAX_CHARS)
        card["agent"] = task.get("agent")
        card["blocked"] = any(step["status"] == "blocked" for step in task["steps"])
        done_steps = sum(step["status"] == "done" for step in task["steps"])
        card["progress"] = card["progress"] or {"steps_done": done_steps, "steps_total": len(task["steps"])}


def add_times(context: PageContext, cards: list[dict[str, Any]]) -> None:
    """Add to cards when they were added and last changed."""
    keys = [(card["workspace"], card["id"]) for card in cards]
    times = context.store.read(task_times, what="times of tasks", tasks=keys)
    for card in cards:
        card |= times.get((card["workspace"], card["id"]), {})


def show_task(context: PageContext, request: PageRequest) -> Response:
    """Show a plan or task: steps as a tree with criteria, evidence and claims, and the radar."""
    workspace = request.query.get("workspace") or workspace_in_view(context, request, "task")
    target = request.path_parameters["id"]
    task = context.call("tasks_show", workspace=workspace, target=target, max_chars=_MAX_CHARS)
    times = {"workspace": workspace, "id": task["target"]}
    add_times(context, [times])
    return context.page(
        request,
        "task.html",
        family="task",
        place=workspace,
        task=task,
        times=times,
        **value_view(request, task.get("contract")),
        radar=_radar(context, workspace, target),
        done=_count_steps(task["steps"], "done"),
        total=_count_steps(task["steps"]),
    )


def _radar(context: PageContext, workspace: str, target: str) -> dict[str, Any] | None:
    try:
        return context.call("tasks_radar", workspace=workspace, target=target, max_chars=_MAX_CHARS)
    except MossError:
        return None


def _count_steps(steps: list[dict[str, Any]], status: str = "") -> int:
    own: int = sum(not status or step["status"] == status for step in steps)
    return own + sum(_count_steps(step["steps"], status) for step in steps)
