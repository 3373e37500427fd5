"""The projection of plans, tasks and steps into the graph: `task:` and `step:` nodes with their edges."""

from __future__ import annotations

import json

from moss_memory.tools.reasoning.branches.document_refs import BranchRow, DocumentRef
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.graph_keys import EDGE_SEPARATOR
from moss_memory.tools.reasoning.graph.node_versions import (
    Version,
    current_versions,
    new_edge,
    new_node,
    stream_versions,
    write_versions,
)
from moss_memory.tools.task.model.task_rows import Task, find_task, sql, task_key, tasks_of_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Transaction
    from moss_memory.tools.task.model.task_rows import Step

CONTAINS, DEPENDS_ON = "contains", "depends_on"
_TASK_NODES = "v.deleted = 0 and (v.key >= 'task:' and v.key < 'task;' or v.key >= 'step:' and v.key < 'step;')"


def task_document(workspace: str, task: Task, doc: str) -> DocumentRef:
    branch = BranchRow((task.branch_id, f"{task.kind}/{task.id}", None, None, 0, 1))
    return DocumentRef(workspace, branch, doc)


def task_node(task: Task) -> Version:
    return new_node(f"task:{task.id}", task.kind, title=task.title, status=task.status)


def step_node(step: Step) -> Version:
    meta = json.dumps({"path": step.path})
    return new_node(f"step:{step.step_id}", "step", title=step.title, status=step.status(), meta=meta)


def step_edge(task: Task, step: Step) -> Version:
    """Return the edge to a step from its parent step, or from the plan or task."""
    parent = f"task:{task.id}" if step.parent_step is None else f"step:{step.parent_step}"
    return new_edge(parent, CONTAINS, f"step:{step.step_id}")


def update_graph(
    tx: Transaction, workspace: str, owner: Task, versions: list[Version], deleted_keys: list[str] | None = None
) -> None:
    """Write the changed nodes and edges, and tombstones for the deleted keys, to a plan's or task's graph."""
    document = task_document(workspace, owner, f"{owner.id}-graph")
    keys = [version.key for version in versions]
    view = graph_view(tx, owner.branch_id, document.doc)
    current = current_versions(tx, view, [*keys, *(deleted_keys or ())])
    new = [version for version in versions if version.key not in current or current[version.key].state != version.state]
    new += [current[key].tombstone() for key in deleted_keys or () if key in current and not current[key].deleted]
    if new:
        write_versions(tx, document, new)


def update_referrers(tx: Transaction, workspace: str, task: Task) -> None:
    """Update the node of a plan or task in the graphs of its plan and of its dependents."""
    for owner in _find_referrers(tx, workspace, task):
        update_graph(tx, workspace, owner, [task_node(task)])


def add_to_plan_graph(tx: Transaction, workspace: str, task: Task) -> None:
    if task.parent_id is not None:
        plan = find_task(tx, workspace, task.parent_id)
        update_graph(tx, workspace, plan, [task_node(task), new_edge(f"task:{plan.id}", CONTAINS, f"task:{task.id}")])


def update_dependencies(tx: Transaction, workspace: str, task: Task, before: list[str], now: list[Task]) -> None:
    node_id = f"task:{task.id}"
    versions: list[Version] = []
    for needed_task in now:
        versions += [task_node(needed_task), new_edge(node_id, DEPENDS_ON, f"task:{needed_task.id}")]
    kept_ids = {needed_task.id for needed_task in now}
    children = {child.id for child in tasks_of_plan(tx, workspace, task)}
    deleted_keys = [
        EDGE_SEPARATOR.join((node_id, DEPENDS_ON, f"task:{old_id}")) for old_id in before if old_id not in kept_ids
    ]
    deleted_keys += [f"task:{old_id}" for old_id in before if old_id not in kept_ids and old_id not in children]
    update_graph(tx, workspace, task, versions, deleted_keys)


def remove_steps(tx: Transaction, workspace: str, task: Task, steps: list[Step]) -> None:
    deleted_keys = [step_edge(task, step).key for step in steps] + [f"step:{step.step_id}" for step in steps]
    update_graph(tx, workspace, task, [], deleted_keys)


def remove_task(tx: Transaction, workspace: str, task: Task) -> None:
    document = task_document(workspace, task, f"{task.id}-graph")
    live = stream_versions(tx, graph_view(tx, task.branch_id, document.doc), _TASK_NODES)
    tombstones = [version.tombstone() for version in live]
    if tombstones:
        write_versions(tx, document, tombstones)
    node_id = f"task:{task.id}"
    for owner in _find_referrers(tx, workspace, task):
        links = [EDGE_SEPARATOR.join((f"task:{owner.id}", rel, node_id)) for rel in (CONTAINS, DEPENDS_ON)]
        update_graph(tx, workspace, owner, [], [*links, node_id])


def _find_referrers(tx: Transaction, workspace: str, task: Task) -> list[Task]:
    """Return the plan of a task and its dependents, whose graphs contain its node."""
    ids = [dependent_id for (dependent_id,) in tx.rows(sql["dependents"], task_key(workspace, task))]
    if task.parent_id is not None:
        ids.insert(0, task.parent_id)
    return [find_task(tx, workspace, owner_id) for owner_id in dict.fromkeys(ids)]
