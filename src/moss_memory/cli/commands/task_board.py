"""`moss task board`: plans, tasks and steps with their blockers, and the focus of the workspace."""

from __future__ import annotations

from moss_memory.cli.render.cell import Cell, cells, line_of, printable, wrap_text
from moss_memory.cli.render.columns import share_width
from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.responses import LONG, TableColumn
from moss_memory.rows.names import pluralize
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PAGE = 200
BLOCKERS_SHOWN = 5
LINES_SHOWN = 2
_STATUSES = ("ACTIVE", "TODO", "DONE")
_COLUMNS = [
    TableColumn("id", min_width=16, max_width=28),
    TableColumn("status", drop_rank=2),
    TableColumn("title", min_width=16, max_width=LONG),
    TableColumn("priority", drop_rank=4),
    TableColumn("so far", min_width=9, drop_rank=3),
]
_TITLE = 2
"""The column in which the text of a blocker begins."""
_OPTIONAL = (3, 4)
"""The columns that are left out if they are empty in every row."""


def board(home: str | None, *, workspace: str, plan: str | None = None) -> dict[str, Any]:
    """Return the board of a workspace in the store of a home folder."""
    with Store(load_settings(home), actor="cli") as store:
        return read_board(store, workspace, plan)


def read_board(store: Store, workspace: str, plan: str | None = None) -> dict[str, Any]:
    """Return the board of a workspace, or of one plan, from the tools' responses."""
    focus = store.call("tasks_focus", {"workspace": workspace})["focus"]
    listed = _list_ids(store, workspace) if plan is None else _list_kind(store, workspace, plan)
    radars = {}
    for name in listed:
        radar = _read(store, "tasks_radar", workspace, name)
        if radar is not None:
            radars[name] = radar
    entries = {name: _entry(radar) for name, radar in radars.items()}
    for entry in entries.values():
        if entry["status"] == "ACTIVE":
            _add_agents(store, workspace, entry)
    for entry in entries.values():
        parent = entries.get(entry.get("parent", ""))
        if parent is not None:
            parent["tasks"].append(entry)
    plans = [entry for entry in entries.values() if entry["kind"] == "plan"]
    alone = [entry for entry in entries.values() if entry["kind"] == "task" and entry.get("parent") not in entries]
    current_work = radars[focus]["radar"]["now"] if focus in radars else None
    return {"workspace": workspace, "focus": focus, "now": current_work, "counts": _counts(entries), "plans": plans,
            "tasks": alone}  # fmt: skip


def _list_ids(store: Store, workspace: str, **chosen: str) -> list[str]:
    """Return the ids of every plan and task, of all pages, each once even if rows are deleted meanwhile."""
    ids: dict[str, None] = {}
    offset = 0
    while True:
        arguments = {"workspace": workspace, "limit": PAGE, "offset": offset, "max_chars": 0, **chosen}
        page = store.call("tasks_list", arguments)
        ids.update(dict.fromkeys(item["id"] for item in page["items"]))
        offset += len(page["items"])
        if not page["pagination"]["has_more"] or not page["items"]:
            return list(ids)


def _list_kind(store: Store, workspace: str, plan: str) -> list[str]:
    try:
        target = store.call("tasks_radar", {"workspace": workspace, "target": plan, "max_chars": 0})["target"]
    except MossError as error:
        error.message = error.message.removeprefix("`target`: ")
        raise
    if target["kind"] != "plan":
        raise invalid_request(
            f"{plan} is a task; --plan names a plan, and `moss task radar {plan}` shows a task", path="plan"
        )
    return [plan, *_list_ids(store, workspace, parent=plan)]


def _read(store: Store, tool: str, workspace: str, id: str) -> dict[str, Any] | None:
    """Return the whole response of a tool about a plan or task, None if it was deleted meanwhile."""
    try:
        return store.call(tool, {"workspace": workspace, "target": id, "max_chars": 0})
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return None


def _add_agents(store: Store, workspace: str, entry: dict[str, Any]) -> None:
    """Add the agents that have claimed a plan or task or its steps."""
    task = _read(store, "tasks_show", workspace, entry["id"])
    if task is None:
        return
    if "agent" in task:
        entry["agent"] = task["agent"]
    agents = dict(_agents(task["steps"]))
    entry["steps"] = [
        {**step, "agent": agents[step["step_id"]]} if step["step_id"] in agents else step for step in entry["steps"]
    ]


def _agents(steps: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for step in steps:
        if "agent" in step:
            yield step["step_id"], step["agent"]
        yield from _agents(step["steps"])


def _entry(radar: dict[str, Any]) -> dict[str, Any]:
    """Return a plan or task with its steps, each with its blockers."""
    steps, blockers = [], list(radar["radar"]["blockers"])
    for step in radar["steps"]:
        reason = next(
            (blocker for blocker in blockers if blocker.startswith(f"{step['path']} {step['title']}: ")), None
        )
        if step["blocked"] and reason is not None:
            blockers.remove(reason)
            step = {**step, "blocker": reason.removeprefix(f"{step['path']} {step['title']}: ")}
        steps.append(step)
    inside: dict[str, Any] = {"tasks": []} if radar["target"]["kind"] == "plan" else {}
    truncation = {"truncated": True} if radar["truncated"] else {}
    return {**radar["target"], "blockers": blockers, "steps": steps, **truncation, **inside}


def _counts(entries: dict[str, dict[str, Any]]) -> dict[str, int]:
    tasks = [entry for entry in entries.values() if entry["kind"] == "task"]
    by_status = {status.lower(): sum(task["status"] == status for task in tasks) for status in _STATUSES}
    blocked = sum(step["blocked"] and not step["done"] for entry in entries.values() for step in entry["steps"])
    return {"plans": len(entries) - len(tasks), "tasks": len(tasks), **by_status, "blocked_steps": blocked}


def board_table(board: dict[str, Any], *, width: int = 0) -> str:
    """Return the board as a tree in aligned columns; completed entries are not expanded."""
    rows = [row for entry in [*board["plans"], *board["tasks"]] for row in _rows(entry, board["focus"], 0)]
    heading = wrap_text(_heading(board), width)
    if board["now"]:
        heading += _wrap(f"* {line_of(board['now'])}", width)
    if not rows:
        return "\n".join([*heading, "", "(nothing; `moss task create plan TITLE` makes a plan)"])
    titles = [Cell(f"  {column.title}" if column.key == "id" else column.title) for column in _COLUMNS]
    lines = [row for row in rows if isinstance(row, list)]
    needed = [max(cells(line[index].text) for line in [titles, *lines]) for index in range(len(_COLUMNS))]
    for index in _OPTIONAL:
        if all(line[index].text == "" for line in lines):
            needed[index] = 0
    widths = share_width(_COLUMNS, needed, width)
    rendered = [text for row in [titles, *rows] for text in _render(row, widths, width)]
    return "\n".join([*heading, "", *rendered])


def _heading(board: dict[str, Any]) -> str:
    counts = board["counts"]
    statuses = [f"{counts[status.lower()]} {status}" for status in _STATUSES if counts[status.lower()]]
    summary = f"{pluralize(counts['plans'], 'plan')}, {pluralize(counts['tasks'], 'task')}"
    summary += f" ({', '.join(statuses)})" if statuses else ""
    if counts["blocked_steps"]:
        summary += f"; {pluralize(counts['blocked_steps'], 'step')} blocked"
    return f"{line_of(board['workspace'])}: {summary}"


def _rows(entry: dict[str, Any], focus: str | None, level: int) -> Iterator[list[Cell] | str]:
    """Yield the rows of a plan or task and its children; a string is a remark on the row above."""
    indent = "  " * level
    mark = "*" if entry["id"] == focus else " "
    yield _line(f"{mark} {indent}{entry['id']}", entry["status"], entry["title"], _progress(entry), entry["priority"])
    if entry["status"] == "DONE":
        return
    shown_blockers = entry["blockers"][:BLOCKERS_SHOWN]
    yield from shown_blockers
    if len(entry["blockers"]) > len(shown_blockers):
        yield f"and {len(entry['blockers']) - len(shown_blockers)} more"
    for step in entry["steps"]:
        status = "done" if step["done"] else "blocked" if step["blocked"] else "open"
        checkpoints = [] if step["done"] else [name for name, on in step["checkpoints"].items() if on]
        confirmed = ", ".join([*checkpoints, *_format_agents(step)])
        deep = "  " * step["path"].count(".")
        yield _line(f"    {indent}{step['path']}", status, step["title"], confirmed, title_indent=deep)
        if "blocker" in step and not step["done"]:
            yield step["blocker"]
    if entry.get("truncated"):
        yield _line("", "", f"more than {len(entry['steps'])} steps; the rest is not shown", "")
    for task in entry.get("tasks", ()):
        yield from _rows(task, focus, level + 1)


def _line(
    id: str, status: str, title: str, so_far: str, priority: str = "normal", *, title_indent: str = ""
) -> list[Cell]:
    shown_priority = "" if priority == "normal" else priority
    texts = (id, status, title_indent[:12] + line_of(title), shown_priority, so_far)
    return [Cell(printable(text)) for text in texts]


def _progress(entry: dict[str, Any]) -> str:
    tasks, steps = entry.get("tasks", ()), entry["steps"]
    parts = [f"{sum(task['status'] == 'DONE' for task in tasks)}/{len(tasks)} tasks"] if tasks else []
    plus = "+" if entry.get("truncated") else ""
    parts += [f"{sum(step['done'] for step in steps)}/{len(steps)}{plus} steps"] if steps else []
    return ", ".join([*parts, *_format_agents(entry)])


def _format_agents(entry: dict[str, Any]) -> list[str]:
    return [f"with {entry['agent']}"] if "agent" in entry else []


def _render(row: list[Cell] | str, widths: list[int], width: int) -> list[str]:
    """Return a row in its columns, or a remark below the title."""
    if not isinstance(row, str):
        return ["  ".join(cell.fit(wide) for cell, wide in zip(row, widths, strict=True) if wide).rstrip()]
    offset = sum(wide + 2 for wide in widths[:_TITLE] if wide)
    available = width - offset if width else 0
    return [" " * offset + line for line in _wrap(f"! {line_of(row)}", available)]


def _wrap(text: str, width: int) -> list[str]:
    """Return the text wrapped and indented, cut after a few lines."""
    if not width:
        return [text]
    lines = wrap_text(text, width, indent=2)
    shown_lines = lines[:LINES_SHOWN]
    if len(lines) > LINES_SHOWN:
        shown_lines[-1] = f"{shown_lines[-1]} {lines[LINES_SHOWN].strip()}"
    return [Cell(line).fit(width).rstrip() for line in shown_lines]
