"""Plans, tasks and steps in the graph: `task:` and `step:` nodes, `contains` and `depends_on` edges."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.branches.document_refs import BranchRow, DocumentRef
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.node_versions import EDGE_MARK, Version, edge, node, present, versions, write
from moss_memory.tools.task.model.task_rows import Task, find_task, sql, tasks_of_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Transaction
    from moss_memory.tools.task.model.task_rows import Step

CONTAINS, DEPENDS_ON = "contains", "depends_on"
_OURS = "v.deleted = 0 and (v.key >= 'task:' and v.key < 'task;' or v.key >= 'step:' and v.key < 'step;')"


def home_of(workspace: str, task: Task, doc: str) -> DocumentRef:
    """A document on the canonical branch of a plan or task."""
    branch = BranchRow((task.branch_id, f"{task.kind}/{task.id}", None, None, 0, 1))
    return DocumentRef(workspace, branch, doc)


def task_node(task: Task) -> Version:
    """A plan or task as a node."""
    return node(f"task:{task.id}", task.kind, title=task.title, status=task.status)


def step_node(step: Step) -> Version:
    """A step as a node."""
    meta = json.dumps({"path": step.path})
    return node(f"step:{step.step_id}", "step", title=step.title, status=step.status(), meta=meta)


def step_edge(task: Task, step: Step) -> Version:
    """What contains a step: its parent step, or the plan or task."""
    parent = f"task:{task.id}" if step.parent_step is None else f"step:{step.parent_step}"
    return edge(parent, CONTAINS, f"step:{step.step_id}")


def show(tx: Transaction, workspace: str, owner: Task, versions: list[Version], gone: list[str] | None = None) -> None:
    """Writes to a plan's or task's graph what changed of these nodes and edges, and tombstones for the gone keys."""
    place = home_of(workspace, owner, f"{owner.id}-graph")
    keys = [version.key for version in versions]
    view = graph_view(tx, owner.branch_id, place.doc)
    now = present(tx, view, place.doc, [*keys, *(gone or ())])
    new = [version for version in versions if version.key not in now or now[version.key].state != version.state]
    new += [now[key].tombstone() for key in gone or () if key in now and not now[key].deleted]
    if new:
        write(tx, place, new)


def show_elsewhere(tx: Transaction, workspace: str, task: Task) -> None:
    """Keeps a plan or task true in the graphs of its plan and of those that depend on it."""
    for owner in _referrers(tx, workspace, task):
        show(tx, workspace, owner, [task_node(task)])


def show_in_plan(tx: Transaction, workspace: str, task: Task) -> None:
    """A new task in the graph of its plan."""
    if task.parent_id is not None:
        plan = find_task(tx, workspace, task.parent_id)
        show(tx, workspace, plan, [task_node(task), edge(f"task:{plan.id}", CONTAINS, f"task:{task.id}")])


def show_dependencies(tx: Transaction, workspace: str, task: Task, before: list[str], now: list[Task]) -> None:
    """The dependencies of a plan or task in its graph, in place of those before."""
    here = f"task:{task.id}"
    versions: list[Version] = []
    for other in now:
        versions += [task_node(other), edge(here, DEPENDS_ON, f"task:{other.id}")]
    kept = {other.id for other in now}
    children = {child.id for child in tasks_of_plan(tx, workspace, task)}
    gone = [EDGE_MARK.join((here, DEPENDS_ON, f"task:{one}")) for one in before if one not in kept]
    gone += [f"task:{one}" for one in before if one not in kept and one not in children]
    show(tx, workspace, task, versions, gone)


def hide_steps(tx: Transaction, workspace: str, task: Task, steps: list[Step]) -> None:
    """Takes steps that are deleted out of the graph."""
    gone = [step_edge(task, step).key for step in steps] + [f"step:{step.step_id}" for step in steps]
    show(tx, workspace, task, [], gone)


def hide(tx: Transaction, workspace: str, task: Task) -> None:
    """Takes a plan or task that is deleted out of its own graph and out of every other."""
    place = home_of(workspace, task, f"{task.id}-graph")
    live = versions(tx, graph_view(tx, task.branch_id, place.doc), place.doc, _OURS)
    tombstones = [version.tombstone() for version in live]
    if tombstones:
        write(tx, place, tombstones)
    here = f"task:{task.id}"
    for owner in _referrers(tx, workspace, task):
        links = [EDGE_MARK.join((f"task:{owner.id}", rel, here)) for rel in (CONTAINS, DEPENDS_ON)]
        show(tx, workspace, owner, [], [*links, here])


def _referrers(tx: Transaction, workspace: str, task: Task) -> list[Task]:
    """Whose graphs show a plan or task beside its own: its plan, and those that depend on it."""
    ids = [
        other for (other,) in tx.rows(sql["dependents"], {"workspace": normalize_workspace(workspace), "id": task.id})
    ]
    if task.parent_id is not None:
        ids.insert(0, task.parent_id)
    return [find_task(tx, workspace, one) for one in dict.fromkeys(ids)]
