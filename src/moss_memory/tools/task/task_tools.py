"""Tools for plans and tasks: create, list, edit, complete, delete, focus."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, backticked, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated, Literal
from moss_memory.registry.arguments import Offset, Tag, Tags
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import HINT, PAGINATION, flag, list_of, text
from moss_memory.rows.names import normalize_label, normalize_workspace, tags_json
from moss_memory.rows.paging import Page
from moss_memory.tools.reasoning.branches.document_refs import add_branch, bootstrap
from moss_memory.tools.reasoning.reasoning_arguments import OneOrMore, as_list
from moss_memory.tools.task.model.leases import release_claims, warn_of_holder
from moss_memory.tools.task.model.task_rows import (
    Task,
    dependencies_of,
    find_task,
    focus_of,
    format_id,
    reserve_task_numbers,
    save_task,
    sql,
    steps_of,
    task_key,
    tasks_of_plan,
)

from .graph_projection import (
    add_to_plan_graph,
    remove_steps,
    remove_task,
    step_edge,
    step_node,
    task_node,
    update_dependencies,
    update_graph,
)
from .step_changes import add_steps
from .task_arguments import (
    ClosingAgent,
    Contract,
    Description,
    PageLimit,
    Priority,
    RequiredWorkspace,
    Revision,
    StepId,
    StepPath,
    Steps,
    TaskId,
    TaskKind,
    TaskStatus,
    TaskTitle,
    normalize_title,
)
from .task_mutation import Mutation, mutation_response, record_task_event
from .task_responses import CHANGED, ITEM, STEP_NAMED, STEPS, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

FocusAction = Annotated[Literal["get", "set", "clear"], "set when a target is given"]
ParentId = Annotated[str, "id of the plan"]

LIST_MAX = 200
_EDITABLE = ("title", "description", "priority", "tags", "depends_on", "contract")


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "steps": STEPS},
    cli=Cli(defaults={"kind": "task"}, sentence="Created {task}."),
    example="moss task create task 'Rotate the signing keys' -w shop --parent PLAN-001",
    words=(
        "new task, todo, to-do, ticket, plan, add work, open an issue, backlog item, schedule, plan a project, "
        "plan with several steps, start a project, create a task, make a plan, new work item, story, bug report, "
        "add a task, add a todo, file a ticket, file a bug, create a plan, new plan, open a ticket, write a task,"
        " set up a plan, plan the work, put on the list"
    ),
)
def tasks_create(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    kind: TaskKind,
    title: TaskTitle,
    parent: ParentId | None = None,
    description: Description | None = None,
    priority: Priority = "normal",
    tags: Tags | None = None,
    steps: Steps | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Create a plan, or a task (of a plan, with `parent`), optionally with its steps."""
    if expected_revision:
        raise MossError(
            "VERSION_MISMATCH",
            f"a new task has no revision yet, and {expected_revision} was expected; leave `expected_revision` out,"
            " or change what is there with `tasks_edit`",
            details={"expected": expected_revision, "actual": 0},
            recovery=next_call("tasks_list", {"workspace": workspace}, "lists the plans and tasks there are"),
        )
    plan = None if parent is None else _find_plan(tx, workspace, kind, parent)
    bootstrap(tx, workspace)
    new = format_id(kind, reserve_task_numbers(tx, workspace, kind))
    row = {
        "workspace": normalize_workspace(workspace),
        "id": new,
        "kind": kind,
        "title": normalize_title(title),
        "description": description or None,
        "priority": priority,
        "tags_json": tags_json(tags),
        "parent_id": plan.id if plan else None,
        "branch_id": add_branch(tx, workspace, f"{kind}/{new}", canonical=True),
        "now_ms": tx.now_ms,
    }
    tx.run(sql["add_task"], row)
    task = find_task(tx, workspace, new)
    added = add_steps(tx, workspace, task, None, steps) if steps else []
    save_task(tx, task)
    payload: dict[str, Any] = {"title": task.title, "steps": len(added)}
    if plan:
        payload["parent"] = plan.id
    event = record_task_event(tx, workspace, task, f"{kind}_created", payload)
    parts = [part for step in added for part in (step_node(step), step_edge(task, step))]
    update_graph(tx, workspace, task, [task_node(task), *parts])
    add_to_plan_graph(tx, workspace, task)
    return {**mutation_response(workspace, task, event), "steps": [step.address() for step in added]}


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "items": list_of(ITEM, "the plans and tasks, oldest first", shown="answer"),
        "pagination": PAGINATION,
        **HINT,
    },
    example="moss task list -w shop --status ACTIVE",
    words=(
        "list tasks, todos, all plans, backlog, by status, unfinished work, done tasks, show the backlog, which "
        "tasks are there, open tasks, overview of tasks, finished tasks, all todos, show all tasks, list plans, "
        "which tasks are open, which tasks are not finished, remaining tasks, tasks with a tag, tasks of a plan, "
        "what is on the list, which tasks are done"
    ),
)
def tasks_list(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    kind: TaskKind | None = None,
    status: TaskStatus | None = None,
    parent: ParentId | None = None,
    tag: Tag | None = None,
    limit: PageLimit = 50,
    offset: Offset = 0,
    budget: Budget,
) -> dict[str, Any]:
    """List plans and tasks, oldest first, by kind, status, plan and tag; those to start now: `tasks_ready`."""
    page = Page(limit, offset, maximum=LIST_MAX)
    values: dict[str, Any] = {"workspace": normalize_workspace(workspace), "limit": page.limit, "offset": page.offset}
    conditions = ["workspace_norm = :workspace"]
    for column, value in (("kind", kind), ("status", status), ("parent_id", parent)):
        if value is not None:
            conditions.append(f"{column} = :{column}")
            values[column] = value
    if tag is not None:
        conditions.append(tx.sql_json_contains("tags_json", "tag"))
        values["tag"] = tag.strip()
    chosen = " and ".join(conditions)
    total = tx.value(f"select count(*) from tasks where {chosen}", values)
    columns = ", ".join(Task.columns)
    rows = tx.rows(f"select {columns} from tasks where {chosen} order by row_id limit :limit offset :offset", values)
    items = [Task(row).list_item() for row in rows]
    return budget.fit(
        items,
        lambda shown: {"items": shown, "pagination": page.answer(returned=len(shown), total=total), "truncated": False},
    )


@operation(
    mutates=True,
    scan_secrets=True,
    answers=CHANGED,
    cli=Cli(positional=("target",), sentence="Changed {task}."),
    example="moss task edit TASK-001 -w shop --priority high --depends-on TASK-002",
    words=(
        "change a task, rename a task, priority, urgent, depends on, due, description, dependency, make urgent, "
        "more important, deadline, update a task, change the title of a task, tags of a task, blocked by another "
        "task, edit a task, raise the priority, change the priority of a task, task depends on another, task must"
        " wait for another task, change the description of a task, rename a plan, retitle a task, low priority, "
        "add a dependency"
    ),
)
def tasks_edit(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    title: TaskTitle | None = None,
    description: Description | None = None,
    priority: Priority | None = None,
    tags: Tags | None = None,
    depends_on: OneOrMore | None = None,
    contract: Contract | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Change a plan or task as a whole (one step: `tasks_define`); other fields stay. An empty list clears."""
    values = dict(zip(_EDITABLE, (title, description, priority, tags, depends_on, contract), strict=True))
    changed = [name for name, value in values.items() if value is not None]
    if not changed:
        raise invalid_request(f"nothing to change; give at least one of {backticked(_EDITABLE)}")
    mutation = Mutation(tx, workspace, target, expected_revision)
    task = mutation.task
    if contract is not None and task.kind != "plan":
        raise invalid_request(f"{task.id} is a task; only plans have a contract", path="contract")
    if title is not None:
        task.title = normalize_title(title)
    if description is not None:
        task.description = description or None
    if priority is not None:
        task.priority = priority
    if tags is not None:
        task.tags_json = tags_json(tags)
    if contract is not None:
        task.contract_json = json.dumps(contract, ensure_ascii=False, separators=(",", ":")) if contract else None
    if depends_on is not None:
        _set_dependencies(mutation, as_list(depends_on))
    return mutation.finish(f"{task.kind}_edited", {"changed": changed})


@operation(
    mutates=True,
    answers={**CHANGED, **WARNING},
    cli=Cli(positional=("target",), sentence="{task} is now {status}."),
    example="moss task complete TASK-001 -w shop",
    words=(
        "finish a task, mark as done, close a ticket, complete, set status, in progress, whole task finished, "
        "everything done, ship, task completed, mark task done, activate, begin a task, close a plan, task is "
        "finished, ticket is done, close a task, complete a plan, finish the whole task, mark the ticket as "
        "finished, set a task to active, start a task, plan is done"
    ),
)
def tasks_complete(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    status: TaskStatus = "DONE",
    agent: ClosingAgent | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Finish a plan or task (one step: `tasks_done`), or set it to TODO or ACTIVE. DONE needs all inside done."""
    mutation = Mutation(tx, workspace, target, expected_revision)
    task = mutation.task
    if status == "DONE":
        _refuse_open(mutation)
    elif task.status == "DONE":
        mutation.refuse_in_done_plan()
    before, task.status = task.status, status
    warning: dict[str, str] = {}
    if status == "DONE":
        warning = warn_of_holder(tx, mutation.workspace, task, None, normalize_label(agent, what="agent"))
        release_claims(tx, task)
    return mutation.finish("status_changed", {"from": before, "to": status}) | warning


@operation(
    mutates=True,
    destructive=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent(), "deleted": flag("true")},
    cli=Cli(positional=("target",), sentence="Deleted {step}{task}."),
    example="moss task delete TASK-001 -w shop --path s:2",
    words=(
        "delete a task, cancel, remove a plan or step, no longer needed, drop a task, remove a task, abort, "
        "delete a step, delete a plan, cancel a task, we will not do it, remove a ticket, get rid of a task, "
        "remove a step, task created by mistake"
    ),
)
def tasks_delete(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Delete a step with those below it, a task, or a plan with its tasks; the trace keeps what happened."""
    mutation = Mutation(tx, workspace, target, expected_revision)
    task = mutation.task
    step = mutation.find_step(step_id, path)
    if step is not None:
        subtree = steps_of(tx, task, "subtree", sort_key=step.sort_key)
        for subtree_step in subtree:
            tx.run(sql["delete_step_evidence"], {"task_row": task.row_id, "step_id": subtree_step.step_id})
            tx.run(sql["delete_step"], {"row_id": subtree_step.row_id})
        remove_steps(tx, workspace, task, subtree)
        ids = [subtree_step.step_id for subtree_step in subtree]
        return {**mutation.finish("step_deleted", {"steps": ids}, step=step), "deleted": True}
    for child in tasks_of_plan(tx, workspace, task):
        _delete_task(tx, workspace, child)
    return {**mutation_response(workspace, task, _delete_task(tx, workspace, task)), "deleted": True}


@operation(
    mutates=True,
    idempotent=True,
    writes_if=lambda values: values.get("action", "set" if "target" in values else "get") != "get",
    answers={
        "workspace": text("project namespace, as it was given"),
        "previous": text("the focus before", nullable=True),
        "focus": text("the focus now", nullable=True),
        "title": text("its title, if it was set", optional=True),
    },
    example="moss task focus TASK-001 -w shop",
    words=(
        "current task, focus, are we working on, what are we working on, switch to a task, which task are we on, "
        "what is the current task, set the focus, set the current task, focus on a task, change the focus, clear "
        "the focus, active task, which plan are we working on"
    ),
)
def tasks_focus(
    tx: Transaction, *, workspace: RequiredWorkspace, action: FocusAction | None = None, target: TaskId | None = None
) -> dict[str, Any]:
    """Get, set or clear the plan or task that the workspace works on; radar and hand-over use it by default."""
    chosen_action = action or ("get" if target is None else "set")
    previous = focus_of(tx, workspace)
    if target is not None and chosen_action != "set":
        raise invalid_request(f'`target` has no meaning with `action: "{chosen_action}"`; leave it out', path="target")
    if chosen_action == "get":
        return {"workspace": workspace, "previous": previous, "focus": previous}
    if chosen_action == "set" and target is None:
        raise invalid_request(
            "`target` is needed to set the focus; `tasks_list` lists the existing ones", path="target"
        )
    task = None if chosen_action == "clear" else find_task(tx, workspace, target or "")
    focus = None if task is None else task.id
    if tx.run(sql["set_focus"], {"workspace": normalize_workspace(workspace), "id": focus}):
        tx.set_event_subject(workspace=normalize_workspace(workspace), address=focus)
    title = {} if task is None else {"title": task.title}
    return {"workspace": workspace, "previous": previous, "focus": focus, **title}


def _find_plan(tx: Transaction, workspace: str, kind: str, parent: str) -> Task:
    if kind == "plan":
        raise invalid_request("a plan has no parent; leave `parent` out", path="parent")
    plan = find_task(tx, workspace, parent, what="parent")
    if plan.kind != "plan":
        raise invalid_request(f"{parent} is a task; the parent of a task is a plan", path="parent")
    if plan.status == "DONE":
        raise MossError(
            "CONFLICT",
            f"{parent} is DONE and takes no new tasks; reopen it first",
            recovery=next_call("tasks_reopen", {"workspace": workspace, "target": parent}, "makes it ACTIVE again"),
        )
    return plan


def _set_dependencies(mutation: Mutation, ids: list[str]) -> None:
    tx, workspace, task = mutation.tx, mutation.workspace, mutation.task
    needed_tasks = [find_task(tx, workspace, needed_id, what="depends_on") for needed_id in ids]
    for needed_task in needed_tasks:
        if needed_task.id == task.id:
            raise invalid_request(f"{task.id} cannot depend on itself", path="depends_on")
        ends = {"workspace": normalize_workspace(workspace), "start": needed_task.id, "end": task.id}
        if tx.row(sql["reaches"], ends) is not None:
            raise mutation.conflict(f"{needed_task.id} already depends on {task.id}; a circle would never end")
        if needed_task.id != task.parent_id and tx.row(sql["waits"], ends) is not None:
            raise mutation.conflict(f"{needed_task.id} cannot be done before {task.id}; a circle would never end")
    key = task_key(workspace, task)
    before = [needed_task.id for needed_task in dependencies_of(tx, workspace, task)]
    tx.run(sql["clear_dependencies"], key)
    for position, needed_task in enumerate(needed_tasks):
        tx.run(sql["add_dependency"], {**key, "depends_on": needed_task.id, "place": position})
    update_dependencies(tx, workspace, task, before, needed_tasks)


def _refuse_open(mutation: Mutation) -> None:
    """Refuse to close a plan or task with open steps or tasks."""
    tx, task = mutation.tx, mutation.task
    steps = [step.path for step in steps_of(tx, task, "open_steps", limit=20)]
    if steps:
        raise mutation.conflict(f"{task.id} has open steps: {', '.join(steps)}", details={"open": steps})
    tasks = [child for (child,) in tx.rows(sql["open_tasks_of_plan"], task_key(mutation.workspace, task))]
    if tasks:
        raise mutation.conflict(f"{task.id} has open tasks: {', '.join(tasks)}", details={"open": tasks})


def _delete_task(tx: Transaction, workspace: str, task: Task) -> dict[str, Any]:
    """Delete a plan or task with its steps and return the event."""
    task.revision += 1
    event = record_task_event(tx, workspace, task, f"{task.kind}_deleted", {"title": task.title})
    remove_task(tx, workspace, task)
    key = {**task_key(workspace, task), "task_row": task.row_id, "row_id": task.row_id}
    for query in ("delete_steps", "delete_evidence", "clear_dependencies", "forget_dependency", "clear_focus_on"):
        tx.run(sql[query], key)
    tx.run(sql["delete_task"], key)
    return event
