"""Tools for the status of work: radar, events since an event, hand-over."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import HINT, NEXT, ResponseSchema, choice, flag, list_of, object_of, text, texts
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.capsule.capsule_responses import STORED
from moss_memory.tools.reasoning.graph.open_conflicts import OPEN_CONFLICTS, count_only, open_conflicts
from moss_memory.tools.task.model.task_rows import REFERENCE, TARGET, Task, find_task, focus_of, sql, steps_of
from moss_memory.tools.task.model.task_status import TaskStatus, choose_open

from .task_arguments import PageLimit, RequiredWorkspace, TaskId
from .task_responses import EVENT, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

EventCursor = Annotated[str, "event_id; those after it"]
AsCapsule = Annotated[bool, "also store it as capsule <target>-handoff"]

EVENTS_MAX = 200
SHOWN_STEPS = 200

_RADAR = object_of(
    ResponseSchema(
        "Radar",
        {
            "now": text("the work to do now"),
            "why": text("the reason"),
            "verify": texts("criteria and tests to check"),
            "next": NEXT,
            "blockers": texts("open dependencies and blocked steps"),
        },
    ),
    "its status",
)
_HANDOFF = ResponseSchema(
    "Handoff",
    {
        "done": texts("completed work, with its evidence"),
        "remaining": texts("remaining work"),
        "risks": texts("risks and blockers"),
        "open": texts("open questions, hypotheses and tests", optional=True),
        "decisions": texts("decisions, newest first", optional=True),
        "notes": texts("the last notes, newest first", optional=True),
    },
)
_PART_ORDER = ("risks", "remaining", "open", "notes", "decisions", "done")
"""The lists of a hand-over; a small budget drops the last ones first."""


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "workspace": text("project namespace, as it was given"),
        "target": object_of(TARGET, "the plan or task"),
        "chosen": choice(("target", "focus", "only_open", "last_worked_on"), "the reason for this choice"),
        "focus": text("the plan or task in focus", nullable=True),
        "reasoning_ref": REFERENCE.or_absent(),
        "radar": _RADAR,
        "steps": list_of(STEP, "its steps, in order"),
        **OPEN_CONFLICTS,
    },
    cli=Cli(table="render.radar_view.screen_of"),
    example="moss task radar TASK-001 -w shop",
    words=(
        "what next, what should I do next, where do we stand, status of the work, progress, next step, dashboard,"
        " situation, current status, how far are we, what now, what to do now, overview of the work, what do I do"
        " now, what is next, next thing to do, how is it going, how far along, where are we, what is left to do, "
        "state of the plan, how much is done, which step is next"
    ),
)
def tasks_radar(
    tx: ReadTransaction, *, workspace: RequiredWorkspace, target: TaskId | None = None, budget: Budget
) -> dict[str, Any]:
    """Say what to do now in planned work and the one next call (all details: `tasks_show`).

    Without `target` the focus, else the only open task or plan with steps, else the one last worked on.
    """
    task, chosen = _choose_target(tx, workspace, target)
    task_status = TaskStatus(tx, workspace, task)
    steps = [step.to_dict() for step in steps_of(tx, task_status.task, limit=SHOWN_STEPS + 1)]
    conflicts = open_conflicts(tx, workspace)

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        frame = task_status.to_dict()
        target = frame["target"] if len(kept_rows) == 1 else kept_rows[1]
        cut = len(steps) > SHOWN_STEPS
        return {
            **frame, "target": target, "chosen": chosen, "radar": kept_rows[0], "steps": kept_rows[2:],
            **(conflicts if len(kept_rows) > 1 else count_only(conflicts)), "truncated": cut,
        }  # fmt: skip

    rows = [task_status.radar(), task_status.summary(), *steps[:SHOWN_STEPS]]
    return budget.fit(rows, build)


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "events": list_of(EVENT, "the events, oldest first", shown="answer"),
        "has_more": flag("true if events follow", shown="if_true"),
        **HINT,
    },
    example="moss task delta -w shop --since 01J9ZK4T9Q3W7X0V5M2N8B6C4D",
    words=(
        "what changed in tasks since, news, events, updates since, recent activity, changes since, what did "
        "others do, poll, what happened to the tasks, changes to tasks since, task events, what is new in the "
        "tasks, which tasks changed, what did the others do on tasks, since yesterday"
    ),
)
def tasks_delta(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    since: EventCursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """List what happened to plans and tasks, oldest first; go on with `since` = the last event's id."""
    from .task_mutation import render_event  # the radar does without it

    most = min(limit, EVENTS_MAX)
    key = {"workspace": normalize_workspace(workspace)}
    after = 0 if since is None else tx.value(sql["event_seq"], {**key, "event_id": since})
    if after is None:
        raise MossError(
            "NOT_FOUND",
            f"there is no task event {str(since)[:100]!r} in workspace {workspace!r}",
            recovery=next_call("tasks_delta", {"workspace": workspace}, "lists the events from the beginning"),
        )
    rows = list(tx.rows(sql["events_after"], {**key, "after": after, "limit": most + 1}))
    events = [render_event(event_id, ts_ms, json.loads(payload), by) for event_id, ts_ms, payload, by in rows[:most]]
    return budget.fit(events, lambda shown: {"events": shown, "has_more": len(rows) > len(shown), "truncated": False})


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    writes_with="as_capsule",
    has_budget=True,
    answers={
        "workspace": text("project namespace, as it was given"),
        "target": object_of(TARGET, "the plan or task"),
        "radar": _RADAR,
        "handoff": object_of(_HANDOFF, "the content of the hand-over"),
        "capsule": object_of(STORED, "the capsule in which it was stored", optional=True),
        **OPEN_CONFLICTS,
        "next": NEXT,
    },
    example="moss task handoff TASK-001 -w shop --as-capsule",
    words=(
        "hand over a task, hand the work over, hand off, colleague, summary for the next person, end of shift, "
        "status report, pass the work on, transfer, summarize the work, wrap up, leave instructions, summary of "
        "the work for a colleague, hand the task to somebody else, hand-over document of a task, report on the "
        "work, brief a colleague, summarize progress, write a status report, end of my shift"
    ),
)
def tasks_handoff(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId | None = None,
    as_capsule: AsCapsule = False,
    budget: Budget,
) -> dict[str, Any]:
    """Sum up planned work for another session: done, remaining, risks, findings, notes; yourself: `tasks_radar`."""
    from .handoff_text import collect_handoff

    if as_capsule and "capsule" in tx.config.disabled_types:
        raise invalid_request("`as_capsule` is disabled by the configuration", path="as_capsule")
    task, _ = _choose_target(tx, workspace, target)
    task_status = TaskStatus(tx, workspace, task)
    handoff = collect_handoff(task_status)
    capsule = _store_capsule(tx, task_status, handoff) if as_capsule else None
    conflicts = open_conflicts(tx, workspace)
    parts = [{"list": name, "text": text} for name in _PART_ORDER for text in handoff.get(name, ())]

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        lists: dict[str, list[str]] = {name: [] for name in handoff}
        for part in kept_rows[2:]:
            lists[part["list"]].append(part["text"])
        tight = len(kept_rows) == 1
        radar = {**kept_rows[0], "next": None} if tight else kept_rows[0]
        stored = {} if capsule is None else {"capsule": capsule}
        answer = {
            "workspace": workspace,
            "target": task_status.to_dict()["target"] if tight else kept_rows[1],
            "radar": radar,
        }
        shown = count_only(conflicts) if tight else conflicts
        return {**answer, "handoff": lists, **stored, **shown, "next": kept_rows[0]["next"], "truncated": False}

    rows = [task_status.radar(), task_status.summary(), *parts]
    return budget.fit(rows, build)


def _choose_target(tx: ReadTransaction, workspace: str, target: str | None) -> tuple[Task, str]:
    """Return the given plan or task, or the default one, and the reason of the choice."""
    if target is not None:
        return find_task(tx, workspace, target), "target"
    focus = focus_of(tx, workspace)
    if focus is not None:
        return find_task(tx, workspace, focus), "focus"
    open_id, chosen = choose_open(tx, workspace)
    if open_id is not None:
        return find_task(tx, workspace, open_id), chosen
    error = invalid_request("nothing is open in this workspace; create a task first", path="target")
    first = {"workspace": workspace, "kind": "task", "title": "Plan the next work"}
    error.recovery = next_call("tasks_create", first, "creates a task; give the `title` of the work")
    raise error


def _store_capsule(tx: Transaction, task_status: TaskStatus, handoff: dict[str, list[str]]) -> dict[str, Any]:
    """Store the hand-over as a capsule; refuse to replace a capsule that Moss did not write."""
    from moss_memory.tools.capsule.capsule_rows import capsules
    from moss_memory.tools.capsule.capsule_tools import capsule_store

    from .handoff_text import HANDOFF_SOURCE, capsule_text, handover_name

    name = handover_name(task_status.task.id)
    existing = capsules.find_or_none(tx, Address(None, task_status.workspace, name))
    ours = existing is not None and existing["source"] == HANDOFF_SOURCE
    stored: dict[str, Any] = capsule_store.run_in_transaction(
        tx,
        capsule_text=capsule_text(task_status, handoff, tx.config.capsule_max_chars),
        workspace=task_status.workspace,
        name=name,
        title=f"Hand-over of {task_status.task.id}: {task_status.task.title}"[:200],
        source=HANDOFF_SOURCE,
        mode="replace" if ours else "error",
    )
    return {name: stored[name] for name in STORED.fields}
