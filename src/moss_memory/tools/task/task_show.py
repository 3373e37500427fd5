"""The tool that shows a plan or task as a tree of steps with notes, evidence and claims."""

from __future__ import annotations

import json

from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.cursor_pages import CursorPage
from moss_memory.tools.reasoning.notes.entries import last_entries
from moss_memory.tools.task.model.leases import WHOLE_TASK, claims_on
from moss_memory.tools.task.model.task_rows import (
    CHECKPOINTS,
    dependencies_of,
    find_step,
    find_task,
    sql,
    steps_of,
    task_key,
)

from .graph_projection import task_document
from .task_arguments import RequiredWorkspace, StepId, StepPath, TaskId
from .task_responses import SHOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.task.model.task_rows import Step, Task

STEPS_SHOWN = 1000
TASKS_SHOWN = 500
NOTES_SHOWN = 200
NOTES_SCANNED = 500


@operation(
    idempotent=True,
    has_budget=True,
    answers=SHOWN,
    cli=Cli(
        positional=("target",),
        inferred={"target": "the one that `moss task radar` chooses"},
        table="render.plan_view.plan_of",
    ),
    example="moss task show TASK-001 -w shop",
    words=(
        "details of a task, whole task, steps and criteria, look at a task, who works on it, show a task, full "
        "task, read a task, task description, acceptance criteria of a task, show everything about a task, "
        "details of a step, show a plan, open a task, steps of a task, what does the task say, view a ticket, see"
        " the notes of a task"
    ),
)
def tasks_show(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Show every detail of a plan, task or step: criteria, tests, notes, evidence, agents; next: `tasks_radar`."""
    task = find_task(tx, workspace, target)
    only = None if step_id is None and path is None else find_step(tx, workspace, task, step_id, path)
    tree = TaskTree(tx, workspace, task)
    steps = tree.steps(only)
    tasks = tree.tasks()

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        inside = [row for row in kept_rows[1:] if "step_id" in row]
        task_rows = [row for row in kept_rows[1:] if "step_id" not in row]
        listed = {"tasks": task_rows} if task.kind == "plan" else {}
        cut = len(steps) > STEPS_SHOWN or len(tasks) > TASKS_SHOWN
        return {**kept_rows[0], "steps": _nest(inside), **listed, "truncated": cut}

    rows = [tree.head(), *tasks[:TASKS_SHOWN], *steps[:STEPS_SHOWN]]
    return budget.fit(rows, build)


class TaskTree:
    """A plan or task with its steps, notes, evidence and claims."""

    def __init__(self, tx: ReadTransaction, workspace: str, task: Task) -> None:
        self._tx = tx
        self._workspace = workspace
        self._task = task
        self._claims = {claim.step_id: claim for claim in claims_on(tx, task)}
        self._evidence: dict[str | None, list[str]] = {}
        for step_id, content in tx.rows(sql["evidence_by_step"], {"task_row": task.row_id}):
            self._evidence.setdefault(step_id, []).append(content)
        self._notes: dict[str | None, list[str]] = {}
        for note in notes_about(tx, workspace, task, NOTES_SHOWN):
            title = note.get("title") or ""
            step_path = title.partition(" ")[0] if title.startswith("s:") else None
            self._notes.setdefault(step_path, []).insert(0, note["content"])

    def head(self) -> dict[str, Any]:
        task = self._task
        head: dict[str, Any] = {
            "workspace": self._workspace,
            "target": task.id,
            "kind": task.kind,
            "title": task.title,
            "status": task.status,
            "priority": task.priority,
            "tags": task.tags(),
            "depends_on": [dependency.id for dependency in dependencies_of(self._tx, self._workspace, task)],
            "revision": task.revision,
            "evidence": self._evidence.get(None, []),
            "notes": self._notes.get(None, []),
        }
        if task.description is not None:
            head["description"] = task.description
        if task.contract_json is not None:
            head["contract"] = json.loads(task.contract_json)
        if task.parent_id is not None:
            head["parent"] = task.parent_id
        return head | (self._claims[WHOLE_TASK].to_dict() if WHOLE_TASK in self._claims else {})

    def steps(self, only: Step | None) -> list[dict[str, Any]]:
        """Return all steps, or one step with its descendants, in order and without nesting."""
        if only is None:
            steps = steps_of(self._tx, self._task, limit=STEPS_SHOWN + 1)
        else:
            steps = steps_of(self._tx, self._task, "subtree", limit=STEPS_SHOWN + 1, sort_key=only.sort_key)
        return [self._step(step) for step in steps]

    def _step(self, step: Step) -> dict[str, Any]:
        confirmed = step.checkpoints()
        blocked = [step.block_reason] if step.blocked and step.block_reason else []
        fields: dict[str, Any] = {
            "step_id": step.step_id,
            "path": step.path,
            "title": step.title,
            "status": step.status(),
            "criteria": step.texts("success_criteria"),
            "tests": step.texts("tests"),
            "blockers": [*blocked, *step.texts("blockers")],
            "confirmed": {name: bool(confirmed.get(name)) for name in CHECKPOINTS},
            "evidence": self._evidence.get(step.step_id, []),
            "notes": self._notes.get(step.path, []),
        }
        claim = self._claims.get(step.step_id)
        return {**fields, **(claim.to_dict() if claim else {}), "steps": []}

    def tasks(self) -> list[dict[str, Any]]:
        if self._task.kind != "plan":
            return []
        rows = self._tx.rows(sql["step_counts"], task_key(self._workspace, self._task))
        return [
            {"id": task_id, "title": title, "status": status, "steps_done": done, "steps_total": total}
            for task_id, title, status, total, done in rows
        ]


def _nest(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps as a tree; a step without its parent becomes a root."""
    placed = {step["path"]: {**step, "steps": []} for step in steps}
    top: list[dict[str, Any]] = []
    for path, step in placed.items():
        above = placed.get(path.rpartition(".")[0])
        (top if above is None else above["steps"]).append(step)
    return top


def notes_about(tx: ReadTransaction, workspace: str, task: Task, most: int) -> list[dict[str, Any]]:
    """Return the last notes about a plan or task, newest first; only those of `tasks_note` if reasoning is disabled."""
    disabled = "reasoning" in tx.config.disabled_types
    notes = last_entries(
        tx, task_document(workspace, task, "notes"), CursorPage(None, NOTES_SCANNED if disabled else most)
    )
    if not disabled:
        return notes
    key = {"workspace": normalize_workspace(workspace), "address": task.id, "limit": NOTES_SCANNED}
    own = {json.loads(payload)["payload"].get("seq") for (payload,) in tx.rows(sql["note_events"], key)}
    return [note for note in notes if note["seq"] in own][:most]
