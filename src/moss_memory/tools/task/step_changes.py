"""Changes of steps: new steps, confirmed checkpoints, refusals to close one, and reopening."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.task.model.task_rows import (
    REQUIRED_CHECKPOINTS,
    Step,
    Task,
    find_step,
    format_id,
    reserve_task_numbers,
    save_step,
    sql,
    steps_of,
)
from moss_memory.tools.task.model.task_status import reason_to_close

from .task_arguments import ITEMS_MAX, check_texts, normalize_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction

    from .task_mutation import Mutation

_TEXTS = ("success_criteria", "tests", "blockers")


def add_steps(
    tx: Transaction, workspace: str, task: Task, parent: Step | None, steps: list[dict[str, Any]]
) -> list[Step]:
    """Write new steps after the existing ones; their ids and paths are never reused."""
    if not 1 <= len(steps) <= ITEMS_MAX:
        raise invalid_request(f"`steps` has {len(steps)} entries; give 1 to {ITEMS_MAX}", path="steps")
    holder: Task | Step = task if parent is None else parent
    prefix = "" if parent is None else f"{parent.path}."
    sort_prefix = "" if parent is None else f"{parent.sort_key}."
    number = reserve_task_numbers(tx, workspace, "step", len(steps))
    added = []
    for offset, step in enumerate(steps):
        index = holder.next_index + offset
        row = {
            "task_row": task.row_id,
            "workspace": normalize_workspace(workspace),
            "step_id": format_id("step", number + offset),
            "parent_step": None if parent is None else parent.step_id,
            "path": f"{prefix}s:{index}",
            "sort_key": f"{sort_prefix}{index:06d}",
            "title": normalize_title(step["title"], what=f"steps[{offset}].title"),
            **{
                f"{name}_json": texts_json(check_texts(step.get(name), what=f"steps[{offset}].{name}"))
                for name in _TEXTS
            },
        }
        tx.run(sql["add_step"], row)
        added.append(find_step(tx, workspace, task, str(row["step_id"]), None))
    holder.next_index += len(steps)
    if parent is not None:
        save_step(tx, parent)
    return added


def texts_json(texts: list[str]) -> str | None:
    return json.dumps(texts, ensure_ascii=False) if texts else None


def confirm(step: Step, checkpoints: dict[str, bool]) -> None:
    confirmed = {**step.checkpoints(), **checkpoints}
    confirmed = {name: True for name, value in confirmed.items() if value}
    step.checkpoints_json = json.dumps(confirmed) if confirmed else None


def refuse_unnamed_step(mutation: Mutation, given: str | None, checkpoints: dict[str, bool] | None) -> None:
    """Refuse to close a step that is not named, or a step of a plan or task without steps."""
    tx, task = mutation.tx, mutation.task
    recovery = next_call("tasks_complete", mutation.arguments(), "closes it as a whole")
    if not steps_of(tx, task, limit=1):
        message = f"{task.id} has no steps; `tasks_complete` closes it"
        if given is not None:
            raise MossError("NOT_FOUND", f"{message}; there is no step {given[:100]!r}", recovery=recovery)
    elif given is not None:
        return
    elif open_steps := steps_of(tx, task, "open_steps", limit=2):
        message = f"`step_id` or `path` is needed: which step of {task.id} is done?"
        recovery = next_call("tasks_radar", mutation.arguments(), "lists the steps and says which one comes next")
        if len(open_steps) == 1:
            optional = {"checkpoints": checkpoints} if checkpoints else {}
            arguments = mutation.arguments(step_id=open_steps[0].step_id, **optional)
            recovery = next_call("tasks_done", arguments, f"{open_steps[0].path} is the only open step")
    else:
        message = f"every step of {task.id} is done; `tasks_complete` closes it as a whole"
    raise MossError("INVALID_REQUEST", message, details={"path": "step_id"}, recovery=recovery)


def refuse_to_close(mutation: Mutation, step: Step) -> None:
    """Refuse to close a step that is blocked or has open steps below it."""
    if step.blocked:
        reason = f" ({step.block_reason})" if step.block_reason else ""
        arguments = mutation.arguments(step_id=step.step_id, blocked=False)
        unblock = next_call("tasks_block", arguments, f"unblocks it, once it can go on{reason}")
        raise mutation.conflict(f"step {step.path} is blocked{reason}; unblock it first", recovery=unblock)
    key = {"task_row": mutation.task.row_id, "step_id": step.step_id}
    children = [child for (child,) in mutation.tx.rows(sql["open_children"], key)]
    if children:
        problem = f"step {step.path} has open steps below it: {', '.join(children)}"
        raise mutation.conflict(problem, details={"open": children})


def refuse_unconfirmed(mutation: Mutation, step: Step) -> None:
    """Refuse to close a step with checkpoints that are not confirmed."""
    missing = step.missing()
    if missing:
        texts = {REQUIRED_CHECKPOINTS[name]: step.texts(REQUIRED_CHECKPOINTS[name]) for name in missing}
        raise MossError(
            "CHECKPOINTS_NOT_CONFIRMED",
            f"step {step.path} {step.title} is not confirmed: {' and '.join(missing)}; check them, then send the same"
            " call with `checkpoints`",
            details={"missing": missing, **texts},
            recovery=next_call("tasks_done", mutation.arguments(step_id=step.step_id), reason_to_close(step)),
        )


def reopen_upwards(mutation: Mutation, step: Step) -> list[Step]:
    """Reopen a step and its closed ancestors, because no closed step may contain an open one."""
    reopened = []
    above: Step | None = step
    while above is not None and above.done:
        above.done, above.checkpoints_json = 0, None
        save_step(mutation.tx, above)
        reopened.append(above)
        parent = above.parent_step
        above = None if parent is None else find_step(mutation.tx, mutation.workspace, mutation.task, parent, None)
    return reopened
