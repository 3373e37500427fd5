"""Where work stands: radar on one screen, what happened since, and the hand-over to whoever goes on."""

from __future__ import annotations

import json

from ..addressing import Address
from ..answers import Shape, flag, list_of, object_of, text, texts
from ..capsule.answers import STORED
from ..errors import MossError, invalid, next_call
from ..operation import operation
from ..reasoning.answers import NEXT
from ..reasoning.arguments import CursorPage
from ..reasoning.documents import tail
from ..reasoning.graph import NodeFilters, nodes_of
from ..reasoning.views import graph_view
from ..values import norm
from ..work.answers import REFERENCE, TARGET
from ..work.reference import Reference
from ..work.rows import Task, find_task, focus_of, sql, steps_of
from ..work.standing import Standing, brief
from .answers import EVENT, STEP
from .arguments import PageLimit, RequiredWorkspace, TaskId
from .mutation import shown_event
from .projection import home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..budget import Budget
    from ..storage.engine import ReadTransaction, Transaction

    Since = str
    AsCapsule = bool
else:
    Since = {"type": "string", "description": "event_id; those after it"}
    AsCapsule = {"type": "boolean", "description": "also store it as the capsule <target>-handoff"}

EVENTS_MAX = 200
SHOWN_STEPS = 200
HANDOFF_SOURCE = "tasks_handoff"
DECISIONS_MAX = 20
NOTES_MAX = 10

_RADAR = object_of(
    Shape(
        "Radar",
        {
            "now": text("what is to be done now"),
            "why": text("why that"),
            "verify": texts("how to know that it is done"),
            "next": NEXT,
            "blockers": texts("what is in the way"),
        },
    ),
    "where it stands",
)
_HANDOFF = Shape(
    "Handoff", {"done": texts("what is done"), "remaining": texts("what remains"), "risks": texts("what may go wrong")}
)


@operation(
    idempotent=True,
    bounded=True,
    answers={
        "workspace": text("project namespace, as it was given"),
        "target": object_of(TARGET, "the plan or task"),
        "focus": text("what the workspace works on", nullable=True),
        "reasoning_ref": REFERENCE,
        "radar": _RADAR,
        "steps": list_of(STEP, "its steps, as they read"),
    },
    example="moss task radar TASK-001 -w shop",
)
def tasks_radar(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Show on one screen where a plan or task (default: the focus) stands and the one next call to make."""
    standing = Standing(tx, workspace, _target(tx, workspace, target))
    steps = [step.shown() for step in steps_of(tx, standing.task, limit=SHOWN_STEPS + 1)]

    def build(kept: list[Any]) -> dict[str, Any]:
        frame = standing.shown()
        target = frame["target"] if len(kept) == 1 else kept[1]
        return {**frame, "target": target, "radar": kept[0], "steps": kept[2:], "truncated": len(steps) > SHOWN_STEPS}

    rows = [standing.radar(), standing.summary(), *steps[:SHOWN_STEPS]]
    return budget.fit(rows, build)


@operation(
    idempotent=True,
    bounded=True,
    answers={
        "events": list_of(EVENT, "the events, oldest first", shown="answer"),
        "has_more": flag("whether events follow", shown="if_true"),
    },
    example="moss task delta -w shop --since 01J9ZK4T9Q3W7X0V5M2N8B6C4D",
)
def tasks_delta(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    since: Since | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """List the task events after one of them, oldest first; go on with `since` = the last event's id."""
    most = min(limit, EVENTS_MAX)
    after = 0 if since is None else _seq_of(tx, workspace, since)
    found = list(tx.rows(sql["events_after"], {"workspace": norm(workspace), "after": after, "limit": most + 1}))
    events = [shown_event(event_id, ts_ms, json.loads(payload)) for event_id, ts_ms, payload in found[:most]]
    return budget.fit(
        events,
        lambda kept: {"events": kept, "has_more": len(found) > len(kept), "truncated": False},
    )


@operation(
    mutates=True,
    idempotent=True,
    writes_with="as_capsule",
    bounded=True,
    answers={
        "workspace": text("project namespace, as it was given"),
        "target": object_of(TARGET, "the plan or task"),
        "radar": _RADAR,
        "handoff": object_of(_HANDOFF, "what to hand over"),
        "capsule": object_of(STORED, "the capsule that it was stored as", optional=True),
        "next": NEXT,
    },
    example="moss task handoff TASK-001 -w shop --as-capsule",
)
def tasks_handoff(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId | None = None,
    as_capsule: AsCapsule = False,
    budget: Budget,
) -> dict[str, Any]:
    """Sum up a plan or task (default: the focus) for whoever goes on: done, remaining, risks, radar and next call."""
    standing = Standing(tx, workspace, _target(tx, workspace, target))
    handoff = standing.handoff()
    capsule = _store_capsule(tx, standing, handoff) if as_capsule else None
    parts = [{"list": name, "text": text} for name in ("risks", "remaining", "done") for text in handoff[name]]

    def build(kept: list[Any]) -> dict[str, Any]:
        lists: dict[str, list[str]] = {"done": [], "remaining": [], "risks": []}
        for part in kept[2:]:
            lists[part["list"]].append(part["text"])
        tight = len(kept) == 1
        radar = {**kept[0], "next": None} if tight else kept[0]
        stored = {} if capsule is None else {"capsule": capsule}
        answer = {"workspace": workspace, "target": standing.shown()["target"] if tight else kept[1], "radar": radar}
        return {**answer, "handoff": lists, **stored, "next": kept[0]["next"], "truncated": False}

    rows = [standing.radar(), standing.summary(), *parts]
    return budget.fit(rows, build)


def _target(tx: ReadTransaction, workspace: str, target: str | None) -> Task:
    """The plan or task asked for, or the one in focus."""
    if target is not None:
        return find_task(tx, workspace, target)
    focus = focus_of(tx, workspace)
    if focus is None:
        error = invalid("no target is given and nothing is in focus; name one, or set the focus", path="target")
        error.recovery = next_call("tasks_list", {"workspace": workspace}, "lists the plans and tasks there are")
        raise error
    return find_task(tx, workspace, focus)


def _seq_of(tx: ReadTransaction, workspace: str, event_id: str) -> int:
    seq: int | None = tx.value(sql["event_seq"], {"workspace": norm(workspace), "event_id": event_id})
    if seq is None:
        raise MossError(
            "NOT_FOUND",
            f"there is no task event {event_id[:100]!r} in workspace {workspace!r}",
            recovery=next_call("tasks_delta", {"workspace": workspace}, "lists the events from the beginning"),
        )
    return seq


def _store_capsule(tx: Transaction, standing: Standing, handoff: dict[str, list[str]]) -> dict[str, Any]:
    """The hand-over as a capsule that passes lint; one of that name that Moss did not write is left alone."""
    from ..capsule.operations import capsule_store
    from ..capsule.rows import capsules

    name = f"{standing.task.id}-handoff"
    existing = capsules.find_or_none(tx, Address(None, standing.workspace, name))
    ours = existing is not None and existing["source"] == HANDOFF_SOURCE
    stored = capsule_store.body(
        tx,
        capsule_text=_capsule_text(standing, handoff, tx.config.capsule_max_chars),
        workspace=standing.workspace,
        name=name,
        title=f"Hand-over of {standing.task.id}: {standing.task.title}"[:200],
        source=HANDOFF_SOURCE,
        mode="replace" if ours else "error",
    )
    return {"id": stored["id"], "fetch_key": stored["fetch_key"]}


def _capsule_text(standing: Standing, handoff: dict[str, list[str]], most: int) -> str:
    """The six sections, with fewer lines where they would not fit."""
    radar, task, call = standing.radar(), standing.task, standing.next()
    reference = Reference(task).shown()
    decided = _decisions(standing)
    for lines in (200, 50, 20, 5, 1):
        sections = {
            "Objective": [f"{task.id}: {brief(task.title, 300)}", *_lines([task.description or ""], lines)],
            "Current status": [
                brief(radar["now"], 300),
                f"Status {task.status}, revision {task.revision}.",
                *_lines([f"Done: {text}" for text in handoff["done"]], lines),
            ],
            "Decisions": [
                *_lines(decided, lines),
                f"More: branch {reference['branch']}, document {reference['notes_doc']}.",
            ],
            "Next actions": [
                f"{call['tool']} {json.dumps(call['arguments'], ensure_ascii=False)}: {call['reason']}",
                *_lines(handoff["remaining"], lines),
            ],
            "Key locations": [f"{name}: {value}" for name, value in reference.items()],
            "Open questions": _lines(handoff["risks"], lines) or ["Nothing is known to be in the way."],
        }
        parts = [f"## {title}\n" + "\n".join(f"- {line}" for line in body) for title, body in sections.items()]
        text = "\n\n".join(parts) + "\n"
        if len(text) <= most:
            break
    return text


def _decisions(standing: Standing) -> list[str]:
    """What was decided and noted about a plan or task, the last first."""
    tx, task = standing.tx, standing.task
    graph, notes = f"{task.id}-graph", home_of(standing.workspace, task, "notes")
    view = graph_view(tx, task.branch_id, graph)
    cards = nodes_of(tx, view, graph, NodeFilters(types="decision"), CursorPage(None, DECISIONS_MAX))
    said = [f"{card.get('title') or ''} {card.get('text') or ''}".strip() for card in cards]
    return said + [f"Note: {note['content']}" for note in tail(tx, notes, CursorPage(None, NOTES_MAX))]


def _lines(texts: list[str], most: int) -> list[str]:
    told = [brief(text, 300) for text in texts if text.strip()]
    return told if len(told) <= most else [*told[:most], f"and {len(told) - most} more"]
