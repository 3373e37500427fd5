"""`beads` and `task-master`: issues and tasks, which become plans, tasks, steps and their dependencies."""

from __future__ import annotations

import os

from moss_memory.errors import invalid_request

from .items import SourceFile, capsule, clean_item_tags, parse_time, to_single_line, to_text
from .source_files import find_file, json_lines, parse_json, read_source_text, relative_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_DONE = ("done", "closed", "completed", "cancelled")
_STARTED = ("in_progress", "in-progress", "review", "hooked")
_GONE = ("tombstone",)
_DESCRIBED = (
    ("description", ""),
    ("details", "Details"),
    ("design", "Design"),
    ("acceptance_criteria", "Acceptance criteria"),
    ("testStrategy", "Tests"),
    ("notes", "Notes"),
    ("close_reason", "Closed"),
)


def read_beads(path: str) -> Iterator[SourceFile]:
    """Yield an epic as a plan and every other issue as a task; issues without an epic belong to the file's plan.

    A memory beside the issues becomes a capsule.
    """
    inside = os.path.join(path, ".beads") if os.path.isdir(os.path.join(path, ".beads")) else path
    found = find_file(inside, "issues.jsonl", "beads.jsonl")
    file = relative_name(found, path)
    issues: list[dict[str, Any]] = []
    for number, line in json_lines(found):
        if line.get("_type") == "memory" and to_text(line.get("key")).strip() and to_text(line.get("value")).strip():
            key = to_text(line["key"])
            file.items.append(capsule(f"memory {key}", to_text(line["value"]), name=f"memory {key}", title=key))
        elif not to_text(line.get("id")).strip() or not to_text(line.get("title")).strip():
            file.skip(f"line {number}", "is no issue with an id and a title")
        elif to_text(line.get("status")) in _GONE:
            file.skip(to_text(line["id"]), "was deleted there")
        else:
            issues.append(line)
    plans = {to_text(one["id"]) for one in issues if one.get("issue_type") == "epic"}
    orphans = [one for one in issues if to_text(one["id"]) not in plans and not _epic(one, plans)]
    if orphans:
        file.items.append(_plan("issues", title=f"Issues of {os.path.basename(os.path.abspath(path))}"))
    for one in sorted(issues, key=lambda one: to_text(one["id"]) not in plans):
        file.items.append(_issue(one, plans))
    yield file


def _epic(issue: dict[str, Any], plans: set[str]) -> str:
    """Return the plan of an issue."""
    above = [end for kind, end in _links(issue) if kind == "parent-child" and end in plans]
    return above[0] if above else ""


def _links(issue: dict[str, Any]) -> list[tuple[str, str]]:
    links = issue.get("dependencies")
    found = [one for one in links if isinstance(one, dict)] if isinstance(links, list) else []
    return [(to_text(one.get("type")) or "blocks", to_text(one.get("depends_on_id"))) for one in found]


def _issue(issue: dict[str, Any], plans: set[str]) -> dict[str, Any]:
    key = to_text(issue["id"])
    level = issue.get("priority")
    comments = issue.get("comments")
    notes = [
        f"{to_text(one.get('author')) or 'somebody'}, {to_text(one.get('created_at'))}: {to_text(one.get('text'))}"
        for one in (comments if isinstance(comments, list) else [])
        if isinstance(one, dict) and to_text(one.get("text")).strip()
    ]
    notes += [f"{kind}: {end}" for kind, end in _links(issue) if kind not in ("blocks", "parent-child") and end]
    labels = issue.get("labels")
    task = _task(
        key,
        issue,
        kind="plan" if key in plans else "task",
        parent="" if key in plans else _epic(issue, plans) or "issues",
        priority="high" if level in (0, 1) else "low" if level in (3, 4) else "normal",
        depends_on=[end for kind, end in _links(issue) if kind == "blocks" and end],
        tags=[*(labels if isinstance(labels, list) else []), to_text(issue.get("issue_type"))],
    )
    return {**task, "notes": notes}


def read_task_master(path: str) -> Iterator[SourceFile]:
    """Yield a tag as a plan, and a task as a task with its subtasks as steps."""
    found = find_file(path, ".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")
    file = relative_name(found, path)
    value = parse_json(read_source_text(found), found)
    if not isinstance(value, dict):
        raise invalid_request(f"{found} has no object with tasks", path="path")
    groups = {"master": value} if isinstance(value.get("tasks"), list) else value
    for tag, group in groups.items():
        tasks = group.get("tasks") if isinstance(group, dict) else None
        if not isinstance(tasks, list):
            file.skip(to_text(tag), "has no tasks")
            continue
        file.items.append(_plan(tag, title=f"{tag} of {os.path.basename(os.path.abspath(path))}"))
        for one in tasks:
            if isinstance(one, dict) and one.get("id") is not None and to_text(one.get("title")).strip():
                file.items.append(_tagged(tag, one))
            else:
                file.skip(f"a task of {tag}", "has no id or no title")
    yield file


def _tagged(tag: str, task: dict[str, Any]) -> dict[str, Any]:
    needed = task.get("dependencies")
    steps = task.get("subtasks")
    made = _task(
        f"{tag}/{task['id']}",
        task,
        kind="task",
        parent=tag,
        priority={"high": "high", "critical": "high", "low": "low"}.get(to_text(task.get("priority")), "normal"),
        depends_on=[f"{tag}/{one}" for one in (needed if isinstance(needed, list) else [])],
        tags=[],
    )
    made["steps"] = [
        {
            "title": to_single_line(to_text(one["title"]))[:1000],
            "tests": [to_text(one["testStrategy"])] if to_text(one.get("testStrategy")).strip() else [],
            "text": _describe(one),
            "done": to_text(one.get("status")) in _DONE,
        }
        for one in (steps if isinstance(steps, list) else [])
        if isinstance(one, dict) and to_text(one.get("title")).strip()
    ]
    return made


def _plan(key: str, *, title: str) -> dict[str, Any]:
    return {
        "kind": "plan", "key": key, "title": to_single_line(title)[:1000], "description": "", "priority": "normal",
        "parent": "", "depends_on": [], "tags": [], "status": "TODO", "steps": [], "notes": [],
    }  # fmt: skip


def _task(
    key: str, task: dict[str, Any], *, kind: str, parent: str, priority: str, depends_on: list[str], tags: list[str]
) -> dict[str, Any]:
    status = to_text(task.get("status"))
    times = [f"{name} {to_text(task[name])}" for name in ("created_at", "updated_at", "closed_at") if task.get(name)]
    return {
        "kind": kind,
        "key": key,
        "title": to_single_line(to_text(task["title"]))[:1000],
        "description": _describe(task),
        "priority": priority,
        "parent": parent,
        "depends_on": depends_on,
        "tags": clean_item_tags(tags),
        "status": "DONE" if status in _DONE else "ACTIVE" if status in _STARTED else "TODO",
        "steps": [],
        "notes": [],
        "times": ", ".join(times),
        "created_at": parse_time(task.get("created_at")),
    }


def _describe(task: dict[str, Any]) -> str:
    parts = [(label, to_text(task.get(field)).strip()) for field, label in _DESCRIBED]
    return "\n\n".join([f"{label}: {text}" if label else text for label, text in parts if text])
