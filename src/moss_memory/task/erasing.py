"""Taking the texts of a plan, task or step out for good: what it says, its notes and evidence, its trace."""

from __future__ import annotations

import json

from ..erasure import ERASED, Erasure
from ..errors import invalid
from ..reasoning.erasing import blank_entries, blank_events, erase_copies_of_nodes
from ..values import norm
from ..work.rows import find_step, find_task, save_step, steps_of
from ..work.rows import sql as work_sql
from .mutation import Mutation
from .projection import step_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction, Transaction
    from ..work.rows import Step, Task


def erase_task(tx: ReadTransaction, workspace: str, target: str | None, *, step_id: str | None) -> Erasure:
    """A plan, task or step stays where it is, with its status, and says nothing any more."""
    if target is None:
        raise invalid("`target` is needed: the plan or task", path="target")
    task = find_task(tx, workspace, target)
    step = None if step_id is None else find_step(tx, workspace, task, step_id, None)
    steps = steps_of(tx, task) if step is None else [step]
    said = _events_of(tx, workspace, task, step)
    events = list(said)
    entries = _entries_of(tx, task, None if step is None else said)
    key = {"task_row": task.row_id, "step_id": step_id}
    counted = "count_evidence" if step is None else "count_step_evidence"
    evidence: int = tx.value(work_sql[counted], key)

    def carry_out(tx: Transaction) -> None:
        blank_entries(tx, entries)
        blank_events(tx, events)
        tx.run(work_sql["delete_evidence" if step is None else "delete_step_evidence"], key)
        mutation = Mutation(tx, workspace, target, None)
        if step is None:
            mutation.task.title = ERASED
            mutation.task.description = mutation.task.contract_json = mutation.task.tags_json = None
        for one in steps:
            _blank(tx, one)
        kind = mutation.task.kind if step is None else "step"
        mutation.finish(f"{kind}_erased", {}, step=step, shown=[step_node(one) for one in steps])
        own = [] if step is not None else [f"task:{task.id}"]
        erase_copies_of_nodes(tx, workspace, [*own, *(f"step:{one.step_id}" for one in steps)])

    rows = len(steps) + (step is None) + evidence + len(entries)
    return Erasure(carry_out, rows=rows, vectors=tx.vectors_of("note", entries))


def _events_of(tx: ReadTransaction, workspace: str, task: Task, step: Step | None) -> dict[str, dict[str, Any]]:
    """The events that tell of a plan or task, or of one of its steps: id -> what it says."""
    found = tx.stream(work_sql["events_of_task"], {"workspace": norm(workspace), "id": task.id})
    said = {event_id: json.loads(payload) for event_id, payload in found}
    return {event_id: one for event_id, one in said.items() if step is None or _tells_of(one, step)}


def _tells_of(said: dict[str, Any], step: Step) -> bool:
    return said.get("path") == step.path or step.step_id in json.dumps(said.get("payload"))


def _entries_of(tx: ReadTransaction, task: Task, said: dict[str, dict[str, Any]] | None) -> list[int]:
    """The entries on the branch of a plan or task, or those of some events and of the notes that they tell of."""
    found = tx.stream(work_sql["entries_of_branch"], {"branch_id": task.branch_id})
    if said is None:
        return [seq for seq, _ in found]
    notes = {one["payload"].get("seq") for one in said.values()}
    return [seq for seq, source in found if source in said or seq in notes]


def _blank(tx: Transaction, step: Step) -> None:
    step.title = ERASED
    step.success_criteria_json = step.tests_json = step.blockers_json = None
    if step.block_reason is not None:
        step.block_reason = ERASED
    save_step(tx, step)
