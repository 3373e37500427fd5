"""Tools for several agents on one plan: ready tasks and claims."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.arguments import Offset, Tag
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import HINT, PAGINATION, list_of, moment_ms, text
from moss_memory.rows.names import normalize_label, normalize_workspace
from moss_memory.rows.paging import Page
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.task.model.leases import WHOLE_TASK, Claim, claims_on, write_claim
from moss_memory.tools.task.model.task_rows import sql

from .task_arguments import PageLimit, RequiredWorkspace, StepId, StepPath, TaskId
from .task_mutation import Mutation
from .task_responses import CHANGED, READY, STEP_NAMED
from .task_tools import ParentId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.task.model.task_rows import Step

Agent = Annotated[str, "name of the agent that works on it"]
LeaseSeconds = Annotated[int, {"minimum": 1}, "length of the lease in seconds"]
Release = Annotated[bool, "release it instead"]

READY_MAX = 200
LEASE_S = 1800
LEASE_MAX_S = 31_536_000


class ReadyTask(NamedRow):
    """A task that can be started, and its first step."""

    id: str
    title: str
    priority: str
    step_id: str | None
    path: str | None
    step_title: str | None


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "tasks": list_of(READY, "the tasks to start, best first", shown="answer"),
        "pagination": PAGINATION,
        **HINT,
    },
    example="moss task ready -w shop",
    words=(
        "what can I start, can be started, available work, unblocked tasks, free tasks, pick something to do, "
        "what is available, who needs help, next free task, unassigned, something to work on, give me work, not "
        "taken yet, which tasks can I start, tasks nobody works on, what is free, find work, tasks without "
        "blockers, tasks that are ready, available tasks, what could I work on, unclaimed tasks"
    ),
)
def tasks_ready(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    parent: ParentId | None = None,
    tag: Tag | None = None,
    limit: PageLimit = 20,
    offset: Offset = 0,
    budget: Budget,
) -> dict[str, Any]:
    """List the tasks that can be started now and nobody works on, the more urgent and then the older first."""
    page = Page(limit, offset, maximum=READY_MAX)
    tx.begin()
    values: dict[str, Any] = {"workspace": normalize_workspace(workspace), "now_ms": tx.now_ms}
    ready: str = sql["ready"]
    if parent is not None:
        ready += " and t.parent_id = :parent"
        values["parent"] = parent
    if tag is not None:
        ready += f" and {tx.sql_json_contains('t.tags_json', 'tag')}"
        values["tag"] = tag.strip()
    total: int = tx.value(f"select count(*) from ({ready}) as counted", values)
    rows = tx.rows(
        f"{ready} {sql['in_order']} limit :limit offset :offset", {**values, "limit": page.limit, "offset": page.offset}
    )
    tasks = []
    for row in rows:
        task = ReadyTask(row)
        fields: dict[str, Any] = {"id": task.id, "title": task.title, "priority": task.priority}
        if task.step_id is not None:
            fields["step"] = {"step_id": task.step_id, "path": task.path, "title": task.step_title}
        tasks.append({**fields, "why": f"{task.priority} priority, no blockers, not claimed"})
    return budget.fit(
        tasks,
        lambda shown: {"tasks": shown, "pagination": page.answer(returned=len(shown), total=total), "truncated": False},
    )


def _describe_claim(_: dict[str, Any], arguments: dict[str, Any]) -> str:
    return "Released {step}{task}." if arguments.get("release") else "{agent} holds {step}{task} until {lease}."


@operation(
    mutates=True,
    scan_secrets=True,
    answers={
        **CHANGED,
        "step": STEP_NAMED.or_absent(),
        "agent": text("the agent that claimed or released it"),
        "lease_until_ms": moment_ms("end of the lease; null if it was released", nullable=True),
    },
    cli=Cli(positional=("target", "agent"), sentence=_describe_claim),
    example="moss task claim TASK-001 --agent me -w shop",
    words=(
        "reserve, claim, take, lock, assign to me, nobody else, release, give back, lease, work on it alone, so "
        "that nobody starts it, mine, hold, exclusive, pick up a task, take over a task, keep others off, "
        "allocate, book, start working on a task, free it again, stop working on a task, not taken, claim a task,"
        " reserve a step, take a task, lock a task, make sure nobody else starts it, give a task back, release a "
        "task, renew the lease, let others have it, I am working on this, I will do it, sign up for a task"
    ),
)
def tasks_claim(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    agent: Agent,
    target: TaskId | None = None,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    lease_s: LeaseSeconds = LEASE_S,
    release: Release = False,
) -> dict[str, Any]:
    """Reserve a task or a step for yourself, so that no other agent takes it; without `target` the first ready one.

    Claiming again or `tasks_note` with `agent` renews the lease.
    """
    who = normalize_label(agent, what="agent")
    if who is None:
        raise invalid_request("`agent` is blank; say who works on it", path="agent")
    if lease_s > LEASE_MAX_S:
        raise invalid_request(f"`lease_s` is {lease_s}; at most {LEASE_MAX_S} are allowed", path="lease_s")
    if target is None:
        if step_id is not None or path is not None:
            raise invalid_request("a step needs the `target` that it belongs to", path="target")
        target, step_id = _find_claim(tx, workspace, who) if release else (_first_ready(tx, workspace), None)
    mutation = Mutation(tx, workspace, target, None)
    step = mutation.find_step(step_id, path)
    if release:
        return _release(mutation, step, who)
    mutation.refuse_done()
    return _claim(mutation, step, who, lease_s)


def _first_ready(tx: ReadTransaction, workspace: str) -> str:
    first = f"{sql['ready']} {sql['in_order']} limit 1"
    tx.begin()
    task_id: str | None = tx.value(first, {"workspace": normalize_workspace(workspace), "now_ms": tx.now_ms})
    if task_id is None:
        raise MossError(
            "NOT_FOUND",
            f"nothing in workspace {workspace!r} can be started now: all open work is claimed, blocked or waiting",
            recovery=next_call("tasks_list", {"workspace": workspace}, "shows the open work and its status"),
        )
    return task_id


def _find_claim(tx: ReadTransaction, workspace: str, agent: str) -> tuple[str, str | None]:
    tx.begin()
    values = {"workspace": normalize_workspace(workspace), "agent": agent, "now_ms": tx.now_ms}
    claims = [(task_id, step_id, path) for task_id, step_id, path in tx.rows(sql["claims_of_agent"], values)]
    if not claims:
        raise MossError("NOT_FOUND", f"{agent[:100]!r} has claimed nothing in workspace {workspace!r}")
    if len(claims) > 1:
        pieces = ", ".join(f"{task_id} {path}" if path else task_id for task_id, _, path in claims)
        raise invalid_request(
            f"{agent[:100]!r} holds several pieces: {pieces}; name the `target` to give back", path="target"
        )
    return claims[0][0], claims[0][1]


def _claim(mutation: Mutation, step: Step | None, agent: str, lease_s: int) -> dict[str, Any]:
    task = mutation.task
    if step is not None and step.done:
        raise mutation.conflict(f"step {step.path} is done; there is nothing to work on")
    for claim in claims_on(mutation.tx, task):
        if claim.agent != agent and claim.touches(step):
            raise _claim_conflict(mutation, claim)
    if task.status == "TODO":
        task.status = "ACTIVE"
    new_claim = write_claim(mutation.tx, mutation.workspace, task, step, agent, lease_s)
    kind = task.kind if step is None else "step"
    return {**mutation.finish(f"{kind}_claimed", new_claim.to_dict(), step=step), **new_claim.to_dict()}


def _release(mutation: Mutation, step: Step | None, agent: str) -> dict[str, Any]:
    claim_key = WHOLE_TASK if step is None else step.step_id
    name = mutation.task.id if step is None else f"step {step.path} of {mutation.task.id}"
    claim = next((claim for claim in claims_on(mutation.tx, mutation.task) if claim.step_id == claim_key), None)
    if claim is None:
        raise MossError("NOT_FOUND", f"{name} is not claimed; there is nothing to release")
    if claim.agent != agent:
        raise _claim_conflict(mutation, claim)
    mutation.tx.run(sql["release"], {"task_row": mutation.task.row_id, "step_id": claim_key})
    kind = mutation.task.kind if step is None else "step"
    response = mutation.finish(f"{kind}_released", {"agent": agent}, step=step)
    return {**response, "agent": agent, "lease_until_ms": None}


def _claim_conflict(mutation: Mutation, claim: Claim) -> MossError:
    piece = mutation.task.id if claim.path is None else f"step {claim.path} of {mutation.task.id}"
    return mutation.conflict(
        f"{claim.agent!r} works on {piece}; take another piece, or wait until the lease runs out",
        details=claim.to_dict(),
        recovery=next_call(
            "tasks_ready", {"workspace": mutation.workspace}, "lists what nobody works on and can be started"
        ),
    )
