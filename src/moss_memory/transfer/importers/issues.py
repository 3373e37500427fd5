"""`beads` and `task-master`: issues and tasks, which become plans, tasks, steps and their dependencies."""

from __future__ import annotations

import os

from moss_memory.errors import invalid_request

from .items import SourceFile, capsule, plan, step, task, to_text
from .source_files import find_file, json_lines, new_source_file, parse_json, read_source_text

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
    issues_path = find_file(inside, "issues.jsonl", "beads.jsonl")
    file = new_source_file(issues_path, path)
    issues: list[dict[str, Any]] = []
    for number, line in json_lines(issues_path):
        if line.get("_type") == "memory" and to_text(line.get("key")).strip() and to_text(line.get("value")).strip():
            key = to_text(line["key"])
            file.items.append(capsule(f"memory {key}", to_text(line["value"]), name=f"memory {key}", title=key))
        elif not to_text(line.get("id")).strip() or not to_text(line.get("title")).strip():
            file.skip(f"line {number}", "is no issue with an id and a title")
        elif to_text(line.get("status")) in _GONE:
            file.skip(to_text(line["id"]), "was deleted there")
        else:
            issues.append(line)
    plans = {to_text(issue["id"]) for issue in issues if issue.get("issue_type") == "epic"}
    orphans = [issue for issue in issues if to_text(issue["id"]) not in plans and not _epic(issue, plans)]
    if orphans:
        file.items.append(plan("issues", title=f"Issues of {os.path.basename(os.path.abspath(path))}"))
    for issue in sorted(issues, key=lambda issue: to_text(issue["id"]) not in plans):
        file.items.append(_issue(issue, plans))
    yield file


def _epic(issue: dict[str, Any], plans: set[str]) -> str:
    """Return the plan of an issue."""
    epics = [end for kind, end in _links(issue) if kind == "parent-child" and end in plans]
    return epics[0] if epics else ""


def _links(issue: dict[str, Any]) -> list[tuple[str, str]]:
    links = issue.get("dependencies")
    dependencies = [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []
    return [(to_text(link.get("type")) or "blocks", to_text(link.get("depends_on_id"))) for link in dependencies]


def _issue(issue: dict[str, Any], plans: set[str]) -> dict[str, Any]:
    key = to_text(issue["id"])
    level = issue.get("priority")
    comments = issue.get("comments")
    notes = [
        f"{to_text(note.get('author')) or 'somebody'}, {to_text(note.get('created_at'))}: {to_text(note.get('text'))}"
        for note in (comments if isinstance(comments, list) else [])
        if isinstance(note, dict) and to_text(note.get("text")).strip()
    ]
    notes += [f"{kind}: {end}" for kind, end in _links(issue) if kind not in ("blocks", "parent-child") and end]
    labels = issue.get("labels")
    fields = {
        **_common_fields(issue),
        "priority": "high" if level in (0, 1) else "low" if level in (3, 4) else "normal",
        "depends_on": [end for kind, end in _links(issue) if kind == "blocks" and end],
        "tags": [*(labels if isinstance(labels, list) else []), to_text(issue.get("issue_type"))],
        "notes": notes,
    }
    return plan(key, **fields) if key in plans else task(key, parent=_epic(issue, plans) or "issues", **fields)


def read_task_master(path: str) -> Iterator[SourceFile]:
    """Yield a tag as a plan, and a task as a task with its subtasks as steps."""
    tasks_path = find_file(path, ".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")
    file = new_source_file(tasks_path, path)
    value = parse_json(read_source_text(tasks_path), tasks_path)
    if not isinstance(value, dict):
        raise invalid_request(f"{tasks_path} has no object with tasks", path="path")
    groups = {"master": value} if isinstance(value.get("tasks"), list) else value
    for tag, group in groups.items():
        tasks = group.get("tasks") if isinstance(group, dict) else None
        if not isinstance(tasks, list):
            file.skip(to_text(tag), "has no tasks")
            continue
        file.items.append(plan(tag, title=f"{tag} of {os.path.basename(os.path.abspath(path))}"))
        for entry in tasks:
            if isinstance(entry, dict) and entry.get("id") is not None and to_text(entry.get("title")).strip():
                file.items.append(_tagged(tag, entry))
            else:
                file.skip(f"a task of {tag}", "has no id or no title")
    yield file


def _tagged(tag: str, entry: dict[str, Any]) -> dict[str, Any]:
    dependencies = entry.get("dependencies")
    subtasks = entry.get("subtasks")
    return task(
        f"{tag}/{entry['id']}",
        **_common_fields(entry),
        parent=tag,
        priority={"high": "high", "critical": "high", "low": "low"}.get(to_text(entry.get("priority")), "normal"),
        depends_on=[f"{tag}/{dependency}" for dependency in (dependencies if isinstance(dependencies, list) else [])],
        steps=[
            step(
                to_text(subtask["title"]),
                text=_describe(subtask),
                tests=[to_text(subtask["testStrategy"])] if to_text(subtask.get("testStrategy")).strip() else [],
                done=to_text(subtask.get("status")) in _DONE,
            )
            for subtask in (subtasks if isinstance(subtasks, list) else [])
            if isinstance(subtask, dict) and to_text(subtask.get("title")).strip()
        ],
    )


def _common_fields(issue: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a plan or task that both programs store under the same names."""
    status = to_text(issue.get("status"))
    times = [f"{name} {to_text(issue[name])}" for name in ("created_at", "updated_at", "closed_at") if issue.get(name)]
    return {
        "title": to_text(issue["title"]),
        "description": _describe(issue),
        "status": "DONE" if status in _DONE else "ACTIVE" if status in _STARTED else "TODO",
        "times": ", ".join(times),
    }


def _describe(issue: dict[str, Any]) -> str:
    parts = [(label, to_text(issue.get(field)).strip()) for field, label in _DESCRIBED]
    return "\n\n".join([f"{label}: {text}" if label else text for label, text in parts if text])
