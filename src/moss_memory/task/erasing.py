"""Taking the texts of a plan, task or step out for good: what it says, its notes and evidence, its trace."""

from __future__ import annotations

import json

from ..addressing import Address
from ..erasure import ERASED, Erasure
from ..errors import invalid
from ..reasoning.erasing import (
    blank_entries,
    blank_events,
    copies_of_entries,
    erase_copies_of_nodes,
    versions_of_key,
)
from ..reasoning.places import branch_named
from ..values import norm
from ..work.rows import Task, find_step, no_such_task, save_step, steps_of
from ..work.rows import sql as work_sql
from .handover import HANDOFF_SOURCE, handover_name
from .mutation import Mutation
from .projection import step_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction, Transaction
    from ..work.rows import Step

_HANDOVERS = "select id from capsules where workspace_norm = :workspace and name_norm = :name and source = :source"


def erase_task(tx: ReadTransaction, workspace: str, target: str | None, *, step_id: str | None) -> Erasure:
    """A plan, task or step stays where it is, with its status, and says nothing any more.

    Of one that was deleted, what still tells of it. The hand-over that Moss wrote of it goes too.
    """
    if target is None:
        raise invalid("`target` is needed: the plan or task", path="target")
    row = tx.row(work_sql["task"], {"workspace": norm(workspace), "id": target})
    if row is None:
        return _erase_deleted(tx, workspace, target, step_id)
    task = Task(row)
    step = None if step_id is None else find_step(tx, workspace, task, step_id, None)
    steps = steps_of(tx, task) if step is None else [step]
    said = _events_of(tx, workspace, task.id, step)
    entries = _entries_of(tx, workspace, task.branch_id, None if step is None else said)
    key = {"task_row": task.row_id, "step_id": step_id}
    counted = "count_evidence" if step is None else "count_step_evidence"
    evidence: int = tx.value(work_sql[counted], key)
    nodes = [*([] if step is not None else [f"task:{task.id}"]), *(f"step:{one.step_id}" for one in steps)]

    def carry_out(tx: Transaction) -> None:
        blank_entries(tx, entries)
        blank_events(tx, list(said))
        tx.run(work_sql["delete_evidence" if step is None else "delete_step_evidence"], key)
        mutation = Mutation(tx, workspace, target, None)
        if step is None:
            mutation.task.title = ERASED
            mutation.task.description = mutation.task.contract_json = mutation.task.tags_json = None
        for one in steps:
            _blank(tx, one)
        kind = mutation.task.kind if step is None else "step"
        mutation.finish(f"{kind}_erased", {}, step=step, shown=[step_node(one) for one in steps])
        erase_copies_of_nodes(tx, workspace, nodes)

    rows = len(steps) + (step is None) + evidence + len(entries)
    vectors = tx.vectors_of("note", entries) + _vectors_of_nodes(tx, workspace, nodes)
    erasure = Erasure(carry_out, rows=rows, vectors=vectors)
    return erasure.and_also(_handovers_of(tx, workspace, task.id))


def _vectors_of_nodes(tx: ReadTransaction, workspace: str, nodes: list[str]) -> int:
    return tx.vectors_of("node", [seq for node in nodes for seq in versions_of_key(tx, workspace, node)])


def _erase_deleted(tx: ReadTransaction, workspace: str, id: str, step_id: str | None) -> Erasure:
    """What trace, events and graphs still tell of a plan or task that was deleted; `NOT_FOUND` where nothing does."""
    said = _events_of(tx, workspace, id, None)
    if step_id is not None or not said:
        raise no_such_task(tx, workspace, id)
    branches = [branch_named(tx, workspace, f"{kind}/{id}") for kind in ("task", "plan")]
    numbers = [branch.branch_id for branch in branches if branch is not None]
    entries = [seq for number in numbers for seq in _entries_of(tx, workspace, number, None)]
    steps = [
        key
        for number in numbers
        for (key,) in tx.stream(work_sql["steps_in_graph"], {"branch_id": number, "doc": f"{id}-graph"})
    ]
    nodes = [f"task:{id}", *steps]

    def carry_out(tx: Transaction) -> None:
        blank_entries(tx, entries)
        blank_events(tx, list(said))
        erase_copies_of_nodes(tx, workspace, nodes)

    vectors = tx.vectors_of("note", entries) + _vectors_of_nodes(tx, workspace, nodes)
    erasure = Erasure(carry_out, rows=len(entries), vectors=vectors)
    return erasure.and_also(_handovers_of(tx, workspace, id))


def _handovers_of(tx: ReadTransaction, workspace: str, id: str) -> list[Erasure]:
    """The capsules that Moss wrote to hand a plan or task over, deleted or not; what others wrote is theirs."""
    from ..capsule.rows import capsules, versioned

    key = {"workspace": norm(workspace), "name": norm(handover_name(id)), "source": HANDOFF_SOURCE}
    found = [capsules.find(tx, Address(one, None, None), include_deleted=True) for (one,) in tx.rows(_HANDOVERS, key)]
    return [versioned.erasure(tx, row) for row in found]


def _events_of(tx: ReadTransaction, workspace: str, id: str, step: Step | None) -> dict[str, dict[str, Any]]:
    """The events that tell of a plan or task, or of one of its steps: id -> what it says."""
    found = tx.stream(work_sql["events_of_task"], {"workspace": norm(workspace), "id": id})
    said = {event_id: json.loads(payload) for event_id, payload in found}
    return {event_id: one for event_id, one in said.items() if step is None or _tells_of(one, step)}


def _tells_of(said: dict[str, Any], step: Step) -> bool:
    """Whether an event is of a step or names it by its id; what others wrote of it is theirs."""
    return said.get("path") == step.path or json.dumps(step.step_id) in json.dumps(said.get("payload"))


def _entries_of(
    tx: ReadTransaction, workspace: str, branch_id: int, said: dict[str, dict[str, Any]] | None
) -> list[int]:
    """The entries on the branch of a plan or task, or those of some events and of the notes that they tell of.

    What merges copied from them is among them.
    """
    found = list(tx.stream(work_sql["entries_of_branch"], {"branch_id": branch_id}))
    if said is not None:
        notes = {one["payload"].get("seq") for one in said.values()}
        found = [(seq, source) for seq, source in found if source in said or seq in notes]
    seqs = [seq for seq, _ in found]
    return [*seqs, *copies_of_entries(tx, workspace, branch_id, seqs)]


def _blank(tx: Transaction, step: Step) -> None:
    step.title = ERASED
    step.success_criteria_json = step.tests_json = step.blockers_json = None
    if step.block_reason is not None:
        step.block_reason = ERASED
    save_step(tx, step)
