"""Where work stands: radar on one screen, what happened since, and the hand-over to whoever goes on."""

from __future__ import annotations

import json

from ..addressing import Address
from ..errors import MossError, invalid, next_call
from ..operation import operation
from ..reasoning.arguments import CursorPage
from ..reasoning.documents import tail
from ..reasoning.graph import NodeFilters, nodes_of
from ..reasoning.targets import Reference
from ..reasoning.views import graph_view
from ..values import Workspace
from .arguments import PageLimit, RequiredWorkspace, TaskId
from .mutation import shown_event
from .projection import home_of
from .rows import Step, Task, find_task, sql, steps_of

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


@operation(idempotent=True, bounded=True, example="moss task radar TASK-001 -w shop")
def tasks_radar(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Show on one screen where a plan or task (default: the focus) stands and the one next call to make."""
    workspace = Workspace(workspace)
    look = Look(tx, workspace, _target(tx, workspace, target))
    steps = [step.shown() for step in steps_of(tx, look.task, limit=SHOWN_STEPS + 1)]

    def build(kept: list[Any]) -> dict[str, Any]:
        frame = look.shown()
        target = frame["target"] if len(kept) == 1 else kept[1]
        return {**frame, "target": target, "radar": kept[0], "steps": kept[2:], "truncated": len(steps) > SHOWN_STEPS}

    rows = [look.radar(), look.summary(), *steps[:SHOWN_STEPS]]
    return budget.fit(rows, build)


@operation(idempotent=True, bounded=True, example="moss task delta -w shop --since 01J9ZK4T9Q3W7X0V5M2N8B6C4D")
def tasks_delta(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    since: Since | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """List the task events after one of them, oldest first; go on with `since` = the last event's id."""
    workspace = Workspace(workspace)
    most = min(limit, EVENTS_MAX)
    after = 0 if since is None else _seq_of(tx, workspace, since)
    found = list(tx.rows(sql["events_after"], {"workspace": workspace.norm, "after": after, "limit": most + 1}))
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
    workspace = Workspace(workspace)
    look = Look(tx, workspace, _target(tx, workspace, target))
    handoff = look.handoff()
    capsule = _store_capsule(tx, workspace, look, handoff) if as_capsule else None
    parts = [{"list": name, "text": text} for name in ("risks", "remaining", "done") for text in handoff[name]]

    def build(kept: list[Any]) -> dict[str, Any]:
        lists: dict[str, list[str]] = {"done": [], "remaining": [], "risks": []}
        for part in kept[2:]:
            lists[part["list"]].append(part["text"])
        tight = len(kept) == 1
        radar = {**kept[0], "next": None} if tight else kept[0]
        stored = {} if capsule is None else {"capsule": capsule}
        answer = {"workspace": workspace, "target": look.shown()["target"] if tight else kept[1], "radar": radar}
        return {**answer, "handoff": lists, **stored, "next": kept[0]["next"], "truncated": False}

    rows = [look.radar(), look.summary(), *parts]
    return budget.fit(rows, build)


class Look:
    """What can be said about a plan or task at one moment."""

    def __init__(self, tx: ReadTransaction, workspace: Workspace, task: Task) -> None:
        self.tx = tx
        self.workspace = workspace
        self.task = task
        key = {"workspace": workspace.norm, "id": task.id}
        self._needs = list(tx.rows(sql["dependencies"], key))
        self._open = [] if task.status == "DONE" else steps_of(tx, task, "open_steps")
        counted = tx.row(sql["count_steps"], {"task_row": task.row_id})
        self._steps, self._done = counted or (0, 0)
        self._next_task = tx.row(sql["next_task_of_plan"], key) if task.kind == "plan" else None
        focus = tx.row(sql["focus"], {"workspace": workspace.norm})
        self._focus = focus[0] if focus else None
        self._leaf = self._first_leaf()

    def summary(self) -> dict[str, Any]:
        """What the plan or task is."""
        return self.task.summary([row[0] for row in self._needs])

    def shown(self) -> dict[str, Any]:
        """The frame of the radar."""
        return {
            "workspace": self.workspace,
            "target": {name: getattr(self.task, name) for name in ("id", "kind", "title", "status", "revision")},
            "focus": self._focus,
            "reasoning_ref": Reference(self.task.id, self.task.kind, {}).shown(),
        }

    def radar(self) -> dict[str, Any]:
        """What is to be done now and why, how to know that it is done, what is in the way, and the next call."""
        now, why = self._now()
        verify = [] if self._leaf is None else [*self._leaf.texts("success_criteria"), *self._leaf.texts("tests")]
        return {"now": now, "why": why, "verify": verify, "next": self.next(), "blockers": self.blockers()}

    def blockers(self) -> list[str]:
        """What is in the way: other tasks, blocked steps, and what the present step was known to wait for."""
        found = [f"{needed} {title} is {status}" for needed, _, title, status in self._unmet()]
        for step in self._open:
            if step.blocked:
                found.append(f"{step.path} {step.title}: {step.block_reason or 'blocked'}")
        return found if self._leaf is None else found + self._leaf.texts("blockers")

    def next(self) -> dict[str, Any]:
        """The one best next call, ready to send."""
        task, target = self.task, {"workspace": self.workspace, "target": self.task.id}
        if task.status == "DONE":
            return self._after_done()
        unmet = self._unmet()
        if unmet:
            needed = {"workspace": self.workspace, "target": unmet[0][0]}
            return next_call("tasks_radar", needed, f"{task.id} depends on it")
        if self._leaf is not None:
            return self._next_of_step(self._leaf, target)
        if self._next_task is not None:
            work = {"workspace": self.workspace, "target": self._next_task[0]}
            return next_call("tasks_radar", work, "the task of the plan to go on with")
        if self._steps or self._has_tasks():
            return next_call("tasks_complete", target, "everything in it is done")
        if task.kind == "plan":
            first = {"workspace": self.workspace, "kind": "task", "parent": task.id, "title": _brief(task.title)}
            return next_call("tasks_create", first, "the plan has no task yet; name the first one")
        steps = [{"title": _brief(task.title), "success_criteria": ["it works as described"]}]
        return next_call("tasks_decompose", {**target, "steps": steps}, "it has no steps yet; say how it will be done")

    def handoff(self) -> dict[str, list[str]]:
        """What is done, what remains, and what could go wrong, one line each."""
        everything = steps_of(self.tx, self.task)
        evidence: dict[str | None, list[str]] = {}
        for step_id, _, content in self.tx.rows(sql["evidence"], {"task_row": self.task.row_id}):
            evidence.setdefault(step_id, []).append(" ".join(content.split()))
        done: list[str] = []
        remaining: list[str] = []
        for step in everything:
            line = f"{step.path} {step.title}{_state(step)}{_shown_by(evidence.get(step.step_id))}"
            (done if step.done else remaining).append(line)
        done += [f"evidence: {text}" for text in evidence.get(None, ())]
        for row in self.tx.rows(sql["tasks_of_plan"], {"workspace": self.workspace.norm, "id": self.task.id}):
            child = Task(row)
            (done if child.status == "DONE" else remaining).append(f"{child.id} {child.title} ({child.status})")
        risks = self.blockers()
        if done and not evidence:
            risks.append("nothing is backed by evidence yet")
        return {"done": done, "remaining": remaining, "risks": risks}

    def decisions(self) -> list[str]:
        """What was decided and noted about it, the last first."""
        graph, notes = f"{self.task.id}-graph", home_of(self.workspace, self.task, "notes")
        view = graph_view(self.tx, self.task.branch_id, graph)
        cards = nodes_of(self.tx, view, graph, NodeFilters(types="decision"), CursorPage(None, DECISIONS_MAX))
        said = [f"{card.get('title') or ''} {card.get('text') or ''}".strip() for card in cards]
        return said + [f"Note: {note['content']}" for note in tail(self.tx, notes, CursorPage(None, NOTES_MAX))]

    def _now(self) -> tuple[str, str]:
        task = self.task
        name = f"{task.id} {task.title}"
        if task.status == "DONE":
            return f"{name}: done", "its status is DONE"
        if self._unmet():
            return f"{name}: waits for {self._unmet()[0][0]}", "it depends on something that is not DONE"
        if self._leaf is not None:
            progress = f"{self._done} of {self._steps} steps are done"
            why = f"every open step is blocked; {progress}" if self._leaf.blocked else f"first open step; {progress}"
            return f"{name}: {self._leaf.path} {self._leaf.title}", why
        if self._next_task is not None:
            return f"{name}: {self._next_task[0]} {self._next_task[1]}", "the open task to go on with"
        if self._steps or self._has_tasks():
            return f"{name}: complete it", "nothing in it is open"
        return f"{name}: divide it", "it has nothing in it yet"

    def _unmet(self) -> list[Any]:
        """What must be done before it; its own plan cannot be, for that waits for it."""
        return [row for row in self._needs if row[3] != "DONE" and row[0] != self.task.parent_id]

    def _has_tasks(self) -> bool:
        key = {"workspace": self.workspace.norm, "id": self.task.id}
        return self.tx.row(sql["tasks_of_plan"], key) is not None

    def _first_leaf(self) -> Step | None:
        """The first open step that has no open one below it: one to work on, else a blocked one."""
        divided = {step.parent_step for step in self._open}
        leaves = [step for step in self._open if step.step_id not in divided]
        return next((step for step in leaves if not step.blocked), leaves[0] if leaves else None)

    def _next_of_step(self, step: Step, target: dict[str, Any]) -> dict[str, Any]:
        here = {**target, "step_id": step.step_id}
        if step.blocked:
            waits = f" ({step.block_reason})" if step.block_reason else ""
            return next_call("tasks_block", {**here, "blocked": False}, f"unblock {step.path} once it can go on{waits}")
        missing = step.missing()
        if missing:
            confirm = {**here, "checkpoints": dict.fromkeys(missing, True)}
            return next_call("tasks_verify", confirm, f"do {step.path}, then confirm {' and '.join(missing)}")
        return next_call("tasks_done", here, f"{step.path} is confirmed; close it")

    def _after_done(self) -> dict[str, Any]:
        if self.task.parent_id is not None:
            plan = {"workspace": self.workspace, "target": self.task.parent_id}
            return next_call("tasks_radar", plan, "it is done; its plan says what comes next")
        todo = {"workspace": self.workspace, "status": "TODO"}
        return next_call("tasks_list", todo, "it is done; choose what comes next")


def _brief(text: str, chars: int = 100) -> str:
    """A text on one line, at most so long."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: chars - 1] + "…"


def _shown_by(evidence: list[str] | None) -> str:
    return f" (evidence: {'; '.join(evidence)})" if evidence else ""


def _state(step: Step) -> str:
    if not step.blocked:
        return ""
    return f" (blocked: {step.block_reason})" if step.block_reason else " (blocked)"


def _target(tx: ReadTransaction, workspace: Workspace, target: str | None) -> Task:
    """The plan or task asked for, or the one in focus."""
    if target is not None:
        return find_task(tx, workspace, target)
    focus = tx.row(sql["focus"], {"workspace": workspace.norm})
    if focus is None or focus[0] is None:
        error = invalid("no target is given and nothing is in focus; name one, or set the focus", path="target")
        error.recovery = next_call("tasks_list", {"workspace": workspace}, "lists the plans and tasks there are")
        raise error
    return find_task(tx, workspace, focus[0])


def _seq_of(tx: ReadTransaction, workspace: Workspace, event_id: str) -> int:
    row = tx.row(sql["event_seq"], {"workspace": workspace.norm, "event_id": event_id})
    if row is None:
        raise MossError(
            "NOT_FOUND",
            f"there is no task event {event_id[:100]!r} in workspace {workspace!r}",
            recovery=next_call("tasks_delta", {"workspace": workspace}, "lists the events from the beginning"),
        )
    seq: int = row[0]
    return seq


def _store_capsule(tx: Transaction, workspace: Workspace, look: Look, handoff: dict[str, list[str]]) -> dict[str, Any]:
    """The hand-over as a capsule that passes lint; one of that name that Moss did not write is left alone."""
    from ..capsule.operations import capsule_store
    from ..capsule.rows import capsules

    name = f"{look.task.id}-handoff"
    existing = capsules.find_or_none(tx, Address(None, workspace, name))
    ours = existing is not None and existing["source"] == HANDOFF_SOURCE
    stored = capsule_store.body(
        tx,
        capsule_text=_capsule_text(look, handoff, tx.config.capsule_max_chars),
        workspace=workspace,
        name=name,
        title=f"Hand-over of {look.task.id}: {look.task.title}"[:200],
        source=HANDOFF_SOURCE,
        mode="replace" if ours else "error",
    )
    return {"id": stored["id"], "fetch_key": stored["fetch_key"]}


def _capsule_text(look: Look, handoff: dict[str, list[str]], most: int) -> str:
    """The six sections, with fewer lines where they would not fit."""
    radar, task, call = look.radar(), look.task, look.next()
    reference = Reference(task.id, task.kind, {}).shown()
    decided = look.decisions()
    for lines in (200, 50, 20, 5, 1):
        sections = {
            "Objective": [f"{task.id}: {_brief(task.title, 300)}", *_lines([task.description or ""], lines)],
            "Current status": [
                _brief(radar["now"], 300),
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


def _lines(texts: list[str], most: int) -> list[str]:
    told = [_brief(text, 300) for text in texts if text.strip()]
    return told if len(told) <= most else [*told[:most], f"and {len(told) - most} more"]
