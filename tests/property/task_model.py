"""A plain-Python model of plans, tasks and steps.

If a call can be refused for two reasons whose order is unspecified, the model returns both codes. `check_consistency`
needs no model: it compares the events, traces and graphs of a store with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from property.model import norm

if TYPE_CHECKING:
    from moss_memory.store import Store

ANY: Any = ...
"""A placeholder for an unspecified value."""
GATE = {"criteria": "success_criteria", "tests": "tests"}
"""The checkpoints that closing a step requires, with the field that makes each necessary."""
TEXTS = ("success_criteria", "tests", "blockers")
PRIORITIES = ("high", "normal", "low")
MUTATIONS = (
    "create", "edit", "decompose", "define", "note", "verify", "done", "reopen", "block", "complete", "evidence",
    "delete",
)  # fmt: skip


class RefusedCallError(Exception):
    """A refusal with its possible error codes and the expected details."""

    def __init__(self, codes: set[str], details: dict[str, Any]) -> None:
        super().__init__(codes)
        self.codes = codes
        self.details = details


def refuse(details: dict[str, Any] | None = None, /, **wrong: bool) -> None:
    """Refuse a call if any of the codes applies."""
    codes = {code for code, applies in wrong.items() if applies}
    if codes:
        raise RefusedCallError(codes, details or {})


@dataclass(eq=False)
class Step:
    id: str
    path: str
    title: str
    parent: Step | None
    texts: dict[str, list[str]]
    done: bool = False
    blocked: bool = False
    confirmed: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    next_index: int = 0

    @property
    def status(self) -> str:
        return "done" if self.done else "blocked" if self.blocked else "open"

    @property
    def address(self) -> dict[str, str]:
        return {"step_id": self.id, "path": self.path}

    @property
    def named(self) -> dict[str, str]:
        return {**self.address, "title": self.title}


@dataclass(eq=False)
class Task:
    id: str
    kind: str
    title: str
    parent: Task | None
    description: str | None
    priority: str
    tags: list[str]
    status: str = "TODO"
    contract: dict[str, Any] | None = None
    depends_on: list[Task] = field(default_factory=list)
    revision: int = 1
    steps: list[Step] = field(default_factory=list)
    next_index: int = 0

    def every_step(self) -> list[Step]:
        """Return all steps in reading order: each before its children."""

        def below(steps: list[Step]) -> Iterator[Step]:
            for step in steps:
                yield step
                yield from below(step.steps)

        return list(below(self.steps))

    def open_steps(self) -> list[Step]:
        return [step for step in self.every_step() if not step.done]

    def listed(self) -> dict[str, Any]:
        parent = {"parent": self.parent.id} if self.parent else {}
        return {
            "id": self.id, "kind": self.kind, "title": self.title, "status": self.status, **parent, "tags": self.tags,
            "revision": self.revision,
        }  # fmt: skip


@dataclass(eq=False)
class Event:
    ts_ms: int
    type: str
    target: str
    path: str | None
    payload: Any = ANY
    id: str | None = None
    """Taken from the answer of the store."""

    def shown(self) -> dict[str, Any]:
        path = {} if self.path is None else {"path": self.path}
        return {
            "event_id": self.id or ANY, "ts": format_time(self.ts_ms), "ts_ms": self.ts_ms, "type": self.type,
            "target": self.target, **path, "payload": self.payload, "by": "python",
        }  # fmt: skip


@dataclass(eq=False)
class Space:
    tasks: dict[str, Task] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)
    events: list[Event] = field(default_factory=list)
    focus: Task | None = None
    notes: dict[str, list[tuple[str | None, str]]] = field(default_factory=dict)
    """By plan or task, including deleted ones: the step path and the text of each note."""

    def number(self, kind: str) -> str:
        self.numbers[kind] += 1
        return f"{kind.upper()}-{self.numbers[kind]:03d}"

    def tasks_of(self, plan: Task) -> list[Task]:
        return [task for task in self.tasks.values() if task.parent is plan]


class TaskModel:
    """All workspaces of a store. Each method implements a tool or raises the refusal."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.spaces: dict[str, Space] = {}

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | RefusedCallError:
        """Return the answer of `tasks_<tool>` or its refusal; a refused call changes nothing."""
        method: Callable[..., dict[str, Any]] = getattr(self, {"list": "listing"}.get(tool, tool))
        try:
            return method(**arguments)
        except RefusedCallError as refused:
            return refused

    def space(self, workspace: str) -> Space:
        return self.spaces.setdefault(norm(workspace), Space())

    # Plans and tasks

    def create(
        self, workspace: str, kind: str, title: str, parent: str | None = None, description: str | None = None,
        priority: str = "normal", tags: list[str] | None = None, steps: list[dict[str, Any]] | None = None,
        expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space = self.space(workspace)
        plan = space.tasks.get(parent or "")
        refuse(
            INVALID_REQUEST=blank(title, *(tags or [])) or blank_steps(steps or [])
            or (parent is not None and kind == "plan") or (plan is not None and plan.kind == "task"),
            NOT_FOUND=parent is not None and plan is None,
            CONFLICT=plan is not None and plan.status == "DONE",
            VERSION_MISMATCH=expected_revision not in (None, 0),
        )  # fmt: skip
        task = Task(space.number(kind), kind, title, plan, description or None, priority, clean(tags or []))
        space.tasks[task.id] = task
        added = self.add_steps(space, task, None, steps or [])
        event = self.emit(space, task, f"{kind}_created")
        return {**answer(task, event), "steps": [step.named for step in added]}

    def listing(
        self, workspace: str, kind: str | None = None, status: str | None = None, parent: str | None = None,
        tag: str | None = None, limit: int = 50, offset: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        found = [
            task
            for task in self.space(workspace).tasks.values()
            if kind in (None, task.kind)
            and status in (None, task.status)
            and (parent is None or (task.parent is not None and task.parent.id == parent))
            and (tag is None or tag in task.tags)
        ]
        more = offset + limit < len(found)
        page = {"limit": limit, "offset": offset, "has_more": more, "total": len(found)}
        items = [task.listed() for task in found[offset : offset + limit]]
        return {"items": items, "pagination": page, "truncated": False}

    def edit(self, workspace: str, target: str, expected_revision: int | None = None, **changes: Any) -> dict[str, Any]:
        empty = not changes or blank(changes.get("title", "x"), *changes.get("tags", []))
        space, task, wrong = self.target(workspace, target, expected_revision, empty)
        named = listed(changes.get("depends_on", []))
        others = [space.tasks[one] for one in named if one in space.tasks]
        wrong["INVALID_REQUEST"] |= ("contract" in changes and task.kind == "task") or task in others
        wrong["NOT_FOUND"] = len(others) < len(named)
        wrong["CONFLICT"] = any(
            task in needed_by(other) or (other is not task.parent and task in awaited_by(other, space))
            for other in others
            if other is not task
        )
        refuse(**wrong)
        if "depends_on" in changes:
            task.depends_on = others
        for name in ("title", "priority", "contract"):
            setattr(task, name, changes.get(name, getattr(task, name)))
        task.description = changes.get("description", task.description) or None
        task.tags = clean(changes.get("tags", task.tags))
        return self.changed(space, task, f"{task.kind}_edited")

    def complete(
        self, workspace: str, target: str, status: str = "DONE", expected_revision: int | None = None
    ) -> dict[str, Any]:
        space, task, wrong = self.target(workspace, target, expected_revision)
        still_open = [step.path for step in task.open_steps()]
        still_open += [child.id for child in space.tasks_of(task) if child.status != "DONE"]
        in_done_plan = task.parent is not None and task.parent.status == "DONE"
        refused = bool(still_open) if status == "DONE" else in_done_plan
        refuse({"open": still_open} if still_open else {}, **wrong | {"CONFLICT": refused})
        task.status = status
        return self.changed(space, task, "status_changed")

    def delete(
        self, workspace: str, target: str, step_id: str | None = None, path: str | None = None,
        expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space, task, wrong = self.target(workspace, target, expected_revision)
        step = self.step(task, wrong, step_id, path)
        refuse(**wrong)
        if step is not None:
            (task.steps if step.parent is None else step.parent.steps).remove(step)
            return {**self.changed(space, task, "step_deleted", step), "deleted": True}
        for gone in [*space.tasks_of(task), task]:
            self.forget(space, gone)
            gone.revision += 1
            event = self.emit(space, gone, f"{gone.kind}_deleted")
        return {**answer(task, event), "deleted": True}

    def forget(self, space: Space, task: Task) -> None:
        del space.tasks[task.id]
        for other in space.tasks.values():
            other.depends_on = [one for one in other.depends_on if one is not task]
        space.focus = None if space.focus is task else space.focus

    def focus(self, workspace: str, action: str | None = None, target: str | None = None) -> dict[str, Any]:
        space = self.space(workspace)
        before = space.focus
        wanted = action or ("set" if target else "get")
        if wanted == "set":
            refuse(INVALID_REQUEST=target is None, NOT_FOUND=target is not None and target not in space.tasks)
            space.focus = space.tasks[target or ""]
        elif wanted == "clear":
            space.focus = None
        names = [None if one is None else one.id for one in (before, space.focus)]
        title = {"title": space.focus.title} if wanted == "set" and space.focus else {}
        return {"workspace": workspace, "previous": names[0], "focus": names[1], **title}

    # Steps

    def decompose(
        self, workspace: str, target: str, steps: list[dict[str, Any]], parent: str | None = None,
        expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        invalid_request = not steps or blank_steps(steps)
        space, task, wrong = self.target(workspace, target, expected_revision, invalid_request)
        above = next((step for step in task.every_step() if parent in (step.id, step.path)), None)
        wrong["NOT_FOUND"] = parent is not None and above is None
        wrong["CONFLICT"] = task.status == "DONE" or (above is not None and above.done)
        refuse(**wrong)
        added = self.add_steps(space, task, above, steps)
        told = self.changed(space, task, "steps_added", above)
        return {**told, "steps": [step.named for step in added]}

    def add_steps(self, space: Space, task: Task, above: Step | None, steps: Iterable[dict[str, Any]]) -> list[Step]:
        holder: Task | Step = above or task
        prefix = f"{above.path}." if above else ""
        added = []
        for given in steps:
            texts = {name: listed(given.get(name, [])) for name in TEXTS}
            path = f"{prefix}s:{holder.next_index}"
            added.append(Step(space.number("step"), path, given["title"], above, texts))
            holder.next_index += 1
        holder.steps += added
        return added

    def define(
        self, workspace: str, target: str, step_id: str | None = None, path: str | None = None,
        expected_revision: int | None = None, **changes: Any,
    ) -> dict[str, Any]:  # fmt: skip
        texts = {name: listed(value) for name, value in changes.items() if name in TEXTS}
        empty = not changes or blank(changes.get("title", "x"), *(text for one in texts.values() for text in one))
        space, task, step = self.open_step(workspace, target, step_id, path, expected_revision, empty)
        step.title = changes.get("title", step.title)
        for name, confirmed_by in (("success_criteria", "criteria"), ("tests", "tests")):
            if texts.get(name, step.texts[name]) != step.texts[name]:
                step.confirmed.discard(confirmed_by)
        step.texts.update(texts)
        return self.changed(space, task, "step_defined", step)

    def note(
        self, workspace: str, target: str, note: str, step_id: str | None = None, path: str | None = None,
        expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space, task, wrong = self.target(workspace, target, expected_revision, blank(note))
        step = self.step(task, wrong, step_id, path)
        refuse(**wrong)
        space.notes.setdefault(task.id, []).append((step.path if step else None, note))
        return self.changed(space, task, "note_added", step)

    def verify(
        self, workspace: str, target: str, checkpoints: dict[str, bool], step_id: str | None = None,
        path: str | None = None, expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space, task, step = self.open_step(
            workspace, target, step_id, path, expected_revision, not any(checkpoints.values())
        )
        step.confirmed = confirmed(step, checkpoints)
        return self.changed(space, task, "step_verified", step)

    def done(
        self, workspace: str, target: str, step_id: str | None = None, path: str | None = None,
        checkpoints: dict[str, bool] | None = None, expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space, task, step = self.open_step(workspace, target, step_id, path, expected_revision)
        now = confirmed(step, checkpoints or {})
        missing = [name for name, texts in GATE.items() if step.texts[texts] and name not in now]
        still_open = [child.path for child in step.steps if not child.done]
        refuse(
            {"missing": missing},
            CONFLICT=step.blocked or bool(still_open),
            CHECKPOINTS_NOT_CONFIRMED=bool(missing),
        )
        step.confirmed, step.done = now, True
        if task.status == "TODO":
            task.status = "ACTIVE"
        return self.changed(space, task, "step_done", step)

    def reopen(
        self, workspace: str, target: str, step_id: str | None = None, path: str | None = None,
        expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space, task, wrong = self.target(workspace, target, expected_revision)
        step = self.step(task, wrong, step_id, path)
        in_done_plan = task.parent is not None and task.parent.status == "DONE"
        nothing = task.status != "DONE" if step is None else not step.done
        refuse(**wrong | {"CONFLICT": in_done_plan or nothing})
        if task.status == "DONE":
            task.status = "ACTIVE"
        above = step
        while above is not None and above.done:
            above.done, above.confirmed = False, set()
            above = above.parent
        return self.changed(space, task, "step_reopened" if step else f"{task.kind}_reopened", step)

    def block(
        self, workspace: str, target: str, step_id: str | None = None, path: str | None = None, blocked: bool = True,
        reason: str | None = None, expected_revision: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        space, task, step = self.open_step(workspace, target, step_id, path, expected_revision)
        step.blocked = blocked
        return self.changed(space, task, "step_blocked" if blocked else "step_unblocked", step)

    def evidence(
        self, workspace: str, target: str, step_id: str | None = None, path: str | None = None,
        expected_revision: int | None = None, **given: Any,
    ) -> dict[str, Any]:  # fmt: skip
        items = [text for value in given.values() for text in listed(value)]
        space, task, wrong = self.target(workspace, target, expected_revision, not items or blank(*items))
        step = self.step(task, wrong, step_id, path)
        refuse(**wrong)
        return self.changed(space, task, "evidence_added", step)

    # Reading

    def radar(self, workspace: str, target: str | None = None) -> dict[str, Any]:
        space = self.space(workspace)
        task, chosen = self.chosen(space) if target is None else (space.tasks.get(target), "target")
        refuse(
            INVALID_REQUEST=target is None and task is None,
            NOT_FOUND=target is not None and task is None,
        )
        assert task is not None
        described = {"description": task.description} if task.description else {}
        promised = {"contract": task.contract} if task.contract else {}
        needs = {"depends_on": [one.id for one in task.depends_on]} if task.depends_on else {}
        tool, arguments = self.next_call(space, task)
        reference = {"branch": f"{task.kind}/{task.id}", "notes_doc": "notes"}
        reference |= {f"{kind}_doc": f"{task.id}-{kind}" for kind in ("graph", "trace")}
        call = {"tool": tool, "arguments": ANY if arguments is None else {"workspace": workspace, **arguments}}
        return {
            "workspace": workspace,
            "target": {**task.listed(), "priority": task.priority, **described, **promised, **needs},
            "focus": space.focus.id if space.focus else None,
            "chosen": chosen,
            "reasoning_ref": reference,
            "radar": {"now": ANY, "why": ANY, "verify": ANY, "next": {**call, "reason": ANY}, "blockers": ANY},
            "steps": [
                {**step.named, "done": step.done, "blocked": step.blocked,
                 "checkpoints": step.confirmed}
                for step in task.every_step()
            ],
            "truncated": False,
        }  # fmt: skip

    def chosen(self, space: Space, *, focused: bool = True) -> tuple[Task | None, str]:
        """Return the target of a radar without a target, and the reason."""
        if space.focus is not None and focused:
            return space.focus, "focus"
        still_open = [task for task in space.tasks.values() if task.status != "DONE"]
        for candidates in ([task for task in still_open if task.kind == "task" or task.steps], still_open):
            if len(candidates) == 1:
                return candidates[0], "only_open"
            worked_on = [event for event in space.events if not event.type.endswith("_created")]
            for event in (*reversed(worked_on), *reversed(space.events)):
                for task in candidates:
                    if event.target == task.id:
                        return task, "last_worked_on"
        return None, ""

    def next_call(self, space: Space, task: Task) -> tuple[str, dict[str, Any] | None]:
        """Return the tool of the radar's next call and its arguments, None if they are unspecified."""
        unmet = [one for one in task.depends_on if one.status != "DONE" and one is not task.parent]
        if task.status == "DONE":
            plan_is_open = task.parent is not None and task.parent.status != "DONE"
            following = task.parent if plan_is_open else self.chosen(space, focused=False)[0]
            return ("tasks_create", {"kind": "task"}) if following is None else self.next_call(space, following)
        if unmet:
            return self.next_call(space, unmet[0])
        leaves = [step for step in task.open_steps() if all(child.done for child in step.steps)]
        workable = [step for step in leaves if not step.blocked]
        if workable:
            return "tasks_done", {"target": task.id, "step_id": workable[0].id}
        if leaves:
            return "tasks_block", {"target": task.id, "step_id": leaves[0].id, "blocked": False}
        children = space.tasks_of(task)
        ranked = sorted(
            [child for child in children if child.status != "DONE"],
            key=lambda child: (child.status != "ACTIVE", PRIORITIES.index(child.priority), child.id),
        )
        if ranked:
            return self.next_call(space, ranked[0])
        if task.steps or children:
            return "tasks_complete", {"target": task.id}
        return ("tasks_create" if task.kind == "plan" else "tasks_decompose"), None

    def delta(self, workspace: str, since: str | None = None, limit: int = 50) -> dict[str, Any]:
        events = self.space(workspace).events
        ids = [event.id for event in events]
        refuse(NOT_FOUND=since is not None and since not in ids)
        left = events[ids.index(since) + 1 :] if since is not None else events
        shown = [event.shown() for event in left[:limit]]
        return {"events": shown, "has_more": len(left) > limit, "truncated": False}

    # What mutations share

    def target(
        self, workspace: str, target: str, expected_revision: int | None, invalid_request: bool = False
    ) -> tuple[Space, Task, dict[str, bool]]:
        """Return the plan or task and the reasons found so far to refuse the call; refuse an unknown one."""
        space = self.space(workspace)
        refuse(NOT_FOUND=target not in space.tasks, INVALID_REQUEST=invalid_request and target not in space.tasks)
        task = space.tasks[target]
        wrong = {"INVALID_REQUEST": invalid_request, "NOT_FOUND": False, "CONFLICT": False}
        return space, task, {**wrong, "VERSION_MISMATCH": expected_revision not in (None, task.revision)}

    def step(self, task: Task, wrong: dict[str, bool], step_id: str | None, path: str | None) -> Step | None:
        """Return the addressed step, if any."""
        found = [step for step in task.every_step() if step.id == step_id or step.path == path]
        wrong["INVALID_REQUEST"] |= step_id is not None and path is not None
        wrong["NOT_FOUND"] |= (step_id is not None or path is not None) and not found
        return found[0] if found else None

    def open_step(
        self, workspace: str, target: str, step_id: str | None, path: str | None, expected_revision: int | None,
        invalid_request: bool = False,
    ) -> tuple[Space, Task, Step]:  # fmt: skip
        """Return the addressed step, which is required and must be open."""
        nothing = step_id is None and path is None
        space, task, wrong = self.target(workspace, target, expected_revision, invalid_request or nothing)
        step = self.step(task, wrong, step_id, path)
        refuse(**wrong | {"CONFLICT": step is not None and step.done})
        assert step is not None
        return space, task, step

    def changed(self, space: Space, task: Task, type: str, step: Step | None = None) -> dict[str, Any]:
        task.revision += 1
        event = self.emit(space, task, type, step)
        return {**answer(task, event), **({"step": step.named} if step else {})}

    def emit(self, space: Space, task: Task, type: str, step: Step | None = None) -> Event:
        event = Event(self.now_ms, type, task.id, step.path if step else None)
        space.events.append(event)
        return event


def answer(task: Task, event: Event) -> dict[str, Any]:
    names = {"workspace": ANY, "id": task.id, "kind": task.kind, "title": task.title}
    return {**names, "revision": task.revision, "event": event.shown()}


def confirmed(step: Step, checkpoints: dict[str, bool]) -> set[str]:
    given = {name for name, value in checkpoints.items() if value}
    return (step.confirmed - checkpoints.keys()) | given


def needed_by(task: Task) -> set[Task]:
    """Return all direct and indirect dependencies of a plan or task."""
    found: set[Task] = set()
    left = [task]
    while left:
        one = left.pop()
        left += [other for other in one.depends_on if other not in found]
        found.update(one.depends_on)
    return found


def awaited_by(task: Task, space: Space) -> set[Task]:
    """Return everything that must be DONE before a plan or task can be, except its own plan."""
    found: set[Task] = set()
    left = [task]
    while left:
        one = left.pop()
        held = [other for other in space.tasks.values() if other.parent is one]
        awaited = {*held, *(other for other in one.depends_on if other is not one.parent)} - found
        left += awaited
        found |= awaited
    return found


def listed(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(dict.fromkeys(value))


def clean(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tag.strip() for tag in tags))


def blank(*texts: str) -> bool:
    return any(not text.strip() for text in texts)


def blank_steps(steps: list[dict[str, Any]]) -> bool:
    return any(blank(step["title"], *(text for name in TEXTS for text in listed(step.get(name, [])))) for step in steps)


def format_time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def agree(expected: Any, actual: Any, at: str = "") -> None:
    """Assert that an answer equals the expected one, except for placeholders."""
    if expected is ANY:
        return
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{at}: {actual} is no object"
        assert expected.keys() == actual.keys(), f"{at}: {sorted(expected)} != {sorted(actual)}"
        for name, value in expected.items():
            agree(value, actual[name], f"{at}.{name}")
    elif isinstance(expected, list):
        assert isinstance(actual, list), f"{at}: {actual} is no list"
        assert len(expected) == len(actual), f"{at}: {expected} != {actual}"
        for number, pair in enumerate(zip(expected, actual, strict=True)):
            agree(*pair, at=f"{at}[{number}]")
    elif isinstance(expected, set):
        assert expected == {name for name, value in actual.items() if value}, f"{at}: {expected} != {actual}"
    else:
        assert (type(expected), expected) == (type(actual), actual), at


# Consistency of a store, read from its answers alone


def every_event(store: Store, workspace: str) -> list[dict[str, Any]]:
    """Return all task events of a workspace, oldest first."""
    found: list[dict[str, Any]] = []
    more = True
    while more:
        since = {"since": found[-1]["event_id"]} if found else {}
        page = store.call("tasks_delta", {"workspace": workspace, "limit": 200, "max_chars": 0, **since})
        found += page["events"]
        more = page["has_more"]
    return found


@dataclass
class WorkspaceState:
    """The plans and tasks of one workspace, as read from a store."""

    events: list[dict[str, Any]]
    items: list[dict[str, Any]]
    radars: dict[str, dict[str, Any]]
    graphs: dict[str, dict[str, tuple[Any, int]]]
    """By plan or task, including deleted ones: the state and seq of each key of its graph."""


def check_consistency(store: Store, workspace: str) -> WorkspaceState:
    """Assert that events, traces and graphs agree."""
    events = every_event(store, workspace)
    items = every_item(store, workspace)
    known = {event["target"] for event in events}
    assert {item["id"] for item in items} <= known, "a plan or task came without an event"
    told = sorted((entry for target in known for entry in trace_of(store, workspace, target)), key=lambda one: one[0])
    assert [event for _, event in told] == events, "the traces and the events differ"
    assert len({event["event_id"] for event in events}) == len(events), "an event id came twice"
    last = store.call("branchmind_status", {"workspace": workspace})["last_event"]
    assert last == ({name: events[-1][name] for name in ("event_id", "ts", "ts_ms")} if events else None)
    radars = {item["id"]: radar_of(store, workspace, item["id"]) for item in items}
    graphs = {target: graph_of(store, workspace, target) for target in known}
    for target in known:
        expected = projection(radars, target) if target in radars else {}
        assert {key: state for key, (state, _) in graphs[target].items()} == expected, f"the graph of {target} differs"
    return WorkspaceState(events, items, radars, graphs)


def every_item(store: Store, workspace: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    more = True
    while more:
        page = store.call("tasks_list", {"workspace": workspace, "limit": 200, "offset": len(found)})
        found += page["items"]
        more = page["pagination"]["has_more"]
    return found


def radar_of(store: Store, workspace: str, target: str) -> dict[str, Any]:
    """Return the radar of a plan or task; assert that nothing was closed too early."""
    radar = store.call("tasks_radar", {"workspace": workspace, "target": target})
    for name, kind in (("now", str), ("why", str), ("verify", list), ("blockers", list)):
        assert isinstance(radar["radar"][name], kind), radar["radar"]
    by_path = {step["path"]: step for step in radar["steps"]}
    defined = defined_by(store.call("tasks_show", {"workspace": workspace, "target": target, "max_chars": 0})["steps"])
    for step in radar["steps"]:
        above = by_path.get(step["path"].rpartition(".")[0])
        if step["done"]:
            assert step["checkpoints"].keys() >= defined[step["path"]], f"{step} is done and not confirmed"
            assert not step["blocked"], f"{step} is done and blocked"
        else:
            assert radar["target"]["status"] != "DONE", f"{target} is DONE with {step}"
            assert above is None or not above["done"], f"{above} is done with {step}"
    return radar


def defined_by(steps: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the checkpoints that each step defines, by path."""
    found: dict[str, set[str]] = {}
    for step in steps:
        found[step["path"]] = {name for name in GATE if step[name]}
        found |= defined_by(step["steps"])
    return found


def home_of(target: str) -> str:
    return f"{target.partition('-')[0].lower()}/{target}"


def trace_of(store: Store, workspace: str, target: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the events in the trace of a plan or task, as tasks_delta returns them, each with its seq."""
    place = {"workspace": workspace, "branch": home_of(target), "doc": f"{target}-trace", "limit": 200, "max_chars": 0}
    entries: list[dict[str, Any]] = []
    more, cursor = True, None
    while more:
        page = store.call("branchmind_show", {**place, "cursor": cursor})
        entries[:0] = page["entries"]
        more, cursor = page["pagination"]["has_more"], page["pagination"].get("next_cursor")
    told = []
    for entry in entries:
        if entry["kind"] == "event":
            assert entry["title"] == entry["meta"]["type"]
            event = {"event_id": entry["source_event_id"], "ts": entry["ts"], "ts_ms": entry["ts_ms"], **entry["meta"]}
            event |= {"by": entry["by"]} if "by" in entry else {}
            told.append((entry["seq"], event))
    return told


def graph_of(store: Store, workspace: str, target: str) -> dict[str, tuple[Any, int]]:
    """Return the plans, tasks and steps in the graph of a plan or task: by key, the state and its seq."""
    place = {"workspace": workspace, "branch": home_of(target), "doc": f"{target}-graph"}
    check = store.call("branchmind_graph_validate", place)
    assert check["ok"], check["errors"]
    found: dict[str, tuple[Any, int]] = {}
    # The branch main has nothing of this document, so the difference is all of it.
    way = {"workspace": workspace, "from": "main", "to": home_of(target), "doc": f"{target}-graph", "limit": 200}
    more, cursor = True, None
    while more:
        page = store.call("branchmind_graph_diff", {**way, "cursor": cursor})
        more, cursor = page["pagination"]["has_more"], page["pagination"].get("next_cursor")
        for change in page["changes"]:
            key = change["id"] if change["kind"] == "node" else "|".join(change["key"].values())
            if key.startswith(("task:", "step:")) and not change["to"]["deleted"]:
                found[key] = (state_of(change["kind"], change["to"]), change["to"]["last_seq"])
    return found


def state_of(kind: str, shown: dict[str, Any]) -> Any:
    """Return the state of a node or an edge of the projection."""
    names = ("type", "title", "text", "status", "meta") if kind == "node" else ("meta",)
    assert not shown.get("tags"), shown
    return {name: shown[name] for name in names if name in shown}


def projection(radars: dict[str, dict[str, Any]], target: str) -> dict[str, Any]:
    """Return the expected graph of a plan or task for these radars."""

    def node(id: str) -> dict[str, Any]:
        shown = radars[id]["target"]
        return {"type": shown["kind"], "title": shown["title"], "status": shown["status"]}

    here = f"task:{target}"
    radar = radars[target]
    keys: dict[str, Any] = {here: node(target)}
    ids = {step["path"]: f"step:{step['step_id']}" for step in radar["steps"]}
    for step in radar["steps"]:
        status = "done" if step["done"] else "blocked" if step["blocked"] else "open"
        above = ids.get(step["path"].rpartition(".")[0], here)
        me = ids[step["path"]]
        keys[me] = {"type": "step", "title": step["title"], "status": status, "meta": {"path": step["path"]}}
        keys[f"{above}|contains|{me}"] = {}
    children = [one for one, other in radars.items() if other["target"].get("parent") == target]
    for rel, others in (("contains", children), ("depends_on", radar["target"].get("depends_on", []))):
        for other in others:
            keys[f"task:{other}"] = node(other)
            keys[f"{here}|{rel}|task:{other}"] = {}
    return keys
