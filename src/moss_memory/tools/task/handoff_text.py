"""The text of the capsule that hands over a plan or task."""

from __future__ import annotations

import re
import shlex

from moss_memory.rows.names import pluralize
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.cards.frontier import RANKED_TYPES, find_settled
from moss_memory.tools.reasoning.cursor_pages import CursorPage
from moss_memory.tools.reasoning.graph.node_queries import NodeFilters, find_nodes
from moss_memory.tools.reasoning.graph.open_conflicts import open_conflicts
from moss_memory.tools.task.model.task_rows import Reference, find_task, sql, steps_of, tasks_of_plan
from moss_memory.tools.task.model.task_status import shorten_line

from .task_show import notes_about

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.tools.task.model.task_rows import Step
    from moss_memory.tools.task.model.task_status import TaskStatus

HANDOFF_SOURCE = "tasks_handoff"
"""The source of hand-overs that Moss wrote; capsules with another source belong to callers."""
CARDS_MAX = 20
NOTES_MAX = 10
LOCATIONS_MAX = 20
LINE_CHARS = 300
_LOCATION = re.compile(
    r"https?://[^\s<>\"'`)\]]+"
    r"|(?<![\w/.-])(?:[\w.-]+/)+[\w.-]+(?::\d+)?"
    r"|(?<![\w/.-])[\w-]+\.(?:c|cpp|css|go|html|java|js|json|kt|md|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|yaml|yml)"
    r"(?![\w/])(?::\d+)?"
)
"""Matches a file path with an optional line number, or a URL."""


def handover_name(id: str) -> str:
    return f"{id}-handoff"


def collect_handoff(task_status: TaskStatus) -> dict[str, list[str]]:
    """Return the lines to hand over by their kind: the work, and the decisions, open cards and last notes if any."""
    notes = notes_about(task_status.tx, task_status.workspace, task_status.task, NOTES_MAX)
    findings = {
        "open": [line for kind in RANKED_TYPES for line in _card_lines(task_status, kind, status="open")],
        "decisions": _card_lines(task_status, "decision"),
        "notes": [note["content"] for note in notes],
    }
    handoff = task_status.handoff(_card_lines(task_status, "evidence"))
    return {**handoff, **{name: lines for name, lines in findings.items() if lines}}


def capsule_text(task_status: TaskStatus, handoff: dict[str, list[str]], most: int) -> str:
    """Return the six sections in at most `most` characters, with fewer lines per section if necessary."""
    work, why = task_status.now()  # without a holder: a claim ends before a capsule does
    status = [f"{work} ({why}).", f"Status {task_status.task.status}.", *(f"Done: {item}" for item in handoff["done"])]
    decisions = [*handoff.get("decisions", ()), *(f"Noted: {note}" for note in handoff.get("notes", ()))]
    questions = [*handoff["risks"], *_conflict_lines(task_status), *handoff.get("open", ())]
    sections = {
        "Objective": _objective_lines(task_status),
        "Current status": status,
        "Decisions": decisions or ["Nothing was recorded as decided."],
        "Next actions": _next_action_lines(task_status),
        "Key locations": _location_lines(task_status, handoff),
        "Open questions": questions or ["No blockers are known."],
    }
    for limit in (200, 50, 20, 10, 5, 2, 1):
        parts = []
        for title, lines in sections.items():
            bullets = [f"- {shorten_line(line, LINE_CHARS)}" for line in lines if line.strip()]
            if len(bullets) > limit:
                bullets[limit:] = [f"- and {len(bullets) - limit} more"]
            parts.append(f"## {title}\n" + "\n".join(bullets))
        text = "\n\n".join(parts) + "\n"
        if len(text) <= most:
            break
    return text


def _objective_lines(task_status: TaskStatus) -> list[str]:
    task = task_status.task
    lines = [f"{task.title} ({task.id})", task.description or ""]
    if task.parent_id is not None:
        lines.append(
            f"Part of {task.parent_id}: {find_task(task_status.tx, task_status.workspace, task.parent_id).title}"
        )
    return lines


def _next_action_lines(task_status: TaskStatus) -> list[str]:
    """Return the open steps and tasks with their criteria, and the command that shows the next call."""
    tx, workspace, task = task_status.tx, task_status.workspace, task_status.task
    lines = [_describe_step(step) for step in sorted(steps_of(tx, task, "open_steps"), key=lambda step: step.blocked)]
    for child in tasks_of_plan(tx, workspace, task):
        if child.status != "DONE":
            lines.append(f"{child.title} ({child.id}, {child.status})")
    if not lines:
        done = task.status == "DONE"
        lines = ["Everything in it is done." if done else f"Complete {task.id}: nothing in it is open."]
    command = f"moss task radar {task.id} --workspace {shlex.quote(workspace)}"
    hint = f"`{command}`, or the tool `tasks_radar`, shows the next call."
    return [*lines[:1], hint, *lines[1:]]


def _describe_step(step: Step) -> str:
    line = f"{step.title} ({step.path}"
    line += f", blocked: {step.block_reason or 'see below'})" if step.blocked else ")"
    criteria, tests = step.texts("success_criteria"), step.texts("tests")
    line += f"; done when {', and '.join(criteria)}" if criteria else ""
    return line + (f"; check with {', '.join(tests)}" if tests else "")


def _location_lines(task_status: TaskStatus, handoff: dict[str, list[str]]) -> list[str]:
    """Return the files and URLs in notes and evidence, and the documents of the reasoning."""
    evidence = [
        content for _, content in task_status.tx.rows(sql["evidence_by_step"], {"task_row": task_status.task.row_id})
    ]
    reference = Reference(task_status.task)
    branch = f"Notes, trace and graph: branch {reference.branch} of workspace {task_status.workspace}"
    documents = f"documents {reference.notes_doc}, {reference.trace_doc}, {reference.graph_doc}"
    locations = find_locations([*evidence, *reversed(handoff.get("notes", []))])
    if _is_reasoning_disabled(task_status):
        return locations or [f"Workspace {task_status.workspace}, {task_status.task.id}"]
    return [*locations, f"{branch}, {documents}"]


def find_locations(texts: Iterable[str]) -> list[str]:
    """Return the files and URLs in texts, in order and without duplicates."""
    locations = (location.rstrip(".,;:") for text in texts for location in _LOCATION.findall(text))
    return list(dict.fromkeys(location for location in locations if len(location) > 2))[:LOCATIONS_MAX]


def _is_reasoning_disabled(task_status: TaskStatus) -> bool:
    return "reasoning" in task_status.tx.config.disabled_types


def _card_lines(task_status: TaskStatus, type: str, status: str | None = None) -> list[str]:
    if _is_reasoning_disabled(task_status):
        return []
    graph = f"{task_status.task.id}-graph"
    view = graph_view(task_status.tx, task_status.task.branch_id, graph)
    filters = NodeFilters(types=type, status=status)
    cards: list[dict[str, Any]] = find_nodes(task_status.tx, view, filters, CursorPage(None, CARDS_MAX))
    if status == "open":
        done = find_settled(task_status.tx, view, [card["id"] for card in cards])
        cards = [card for card in cards if card["id"] not in done]
    texts = [": ".join(filter(None, (card.get("title"), card.get("text")))) for card in cards]
    if status is None:
        return texts
    return [f"{type} {card['id']}: {text}" for card, text in zip(cards, texts, strict=True)]


def _conflict_lines(task_status: TaskStatus) -> list[str]:
    """Return a line about the open merge conflicts of the workspace, if there are any."""
    conflicts = open_conflicts(task_status.tx, task_status.workspace).get("conflicts")
    if conflicts is None:
        return []
    return [
        f"{pluralize(conflicts['open'], 'merge conflict')} to resolve, the first is {conflicts['first']['conflict_id']}"
    ]
