"""Response schemas of task tools: list items, steps, events and changes."""

from __future__ import annotations

from moss_memory.registry.responses import (
    Field,
    ResponseSchema,
    TableColumn,
    anything,
    choice,
    flag,
    free,
    integer,
    list_of,
    moment_ms,
    object_of,
    text,
    texts,
    time_text,
)
from moss_memory.tools.task.model.task_rows import CHECKPOINTS, TARGET

ITEM = ResponseSchema(
    "TaskItem",
    {
        **{name: TARGET.fields[name] for name in ("id", "kind", "title", "status", "parent")},
        "tags": texts("tags"),
        "revision": integer("rises with every change"),
    },
    table=(
        TableColumn("id"),
        TableColumn("kind", drop_rank=4),
        TableColumn("status"),
        TableColumn("title", min_width=16),
        TableColumn("parent", drop_rank=6),
        TableColumn("tags", min_width=8, drop_rank=8, unless=[]),
    ),
)
EVENT = ResponseSchema(
    "TaskEvent",
    {
        "event_id": text("ULID"),
        "ts": time_text("when it happened", shown="never"),
        "ts_ms": moment_ms("the same in milliseconds", label="written"),
        "type": text("the type of the event, such as step_done"),
        "target": text("the plan or task"),
        "path": text("path of the step", optional=True),
        "payload": free("the kind of its key"),
        "by": text("the actor, if known", optional=True),
    },
    table=(
        TableColumn("ts_ms", "written", drop_rank=6),
        TableColumn("type", drop_rank=5),
        TableColumn("by", min_width=8, drop_rank=7, unless=None),
        TableColumn("target", min_width=8),
        TableColumn("path", drop_rank=8),
        TableColumn("event_id", "event id"),
    ),
)
_STEP_COLUMNS = (TableColumn("step_id", "step"), TableColumn("path"), TableColumn("title", min_width=16))
NEW_STEP = ResponseSchema(
    "NewStep",
    {"step_id": text("STEP-001"), "path": text("s:0.s:2"), "title": text("the work to do")},
    table=_STEP_COLUMNS,
)
STEP = NEW_STEP.with_fields(
    {
        "done": flag("true if it is closed"),
        "blocked": flag("true if it waits for something"),
        "checkpoints": object_of(
            ResponseSchema(
                "Checkpoints", {name: flag("true if it is confirmed", optional=True) for name in CHECKPOINTS}
            ),
            "the checkpoints",
        ),
    },
    "Step",
    table=(
        *_STEP_COLUMNS,
        TableColumn("done", drop_rank=7),
        TableColumn("blocked", drop_rank=8),
        TableColumn("checkpoints", min_width=8, drop_rank=9),
    ),
)
CHANGED = {
    "workspace": text("project namespace, as it was given"),
    **{name: TARGET.fields[name] for name in ("id", "kind", "title")},
    "revision": integer("its revision now"),
    "event": object_of(EVENT, "the event of the change", shown="opened"),
}
"""The fields that each change of a plan or task returns."""

_CLAIM = {
    "agent": text("name of the agent that works on it", optional=True),
    "lease_until_ms": moment_ms("end of the lease", optional=True),
}
SHOWN_STEP = NEW_STEP.with_fields(
    {
        "status": choice(("open", "done", "blocked"), "its status"),
        "criteria": texts("success criteria"),
        "tests": texts("tests of these criteria"),
        "blockers": texts("known blockers"),
        "confirmed": object_of(
            ResponseSchema("Confirmed", {name: flag("true if it is confirmed") for name in CHECKPOINTS}),
            "the checkpoints",
        ),
        "evidence": texts("evidence that it is done"),
        "notes": texts("notes about it, oldest first"),
        **_CLAIM,
        "steps": Field("list", "the steps below it, each like this one", of=anything("a step")),
    },
    "ShownStep",
    table=(*_STEP_COLUMNS, TableColumn("status"), TableColumn("agent", drop_rank=5)),
)
SHOWN = {
    "workspace": text("project namespace, as it was given"),
    "target": text("PLAN-001 or TASK-001"),
    **{name: TARGET.fields[name] for name in ("kind", "title", "description", "status")},
    "priority": choice(("low", "normal", "high"), "its urgency"),
    "tags": texts("tags"),
    "contract": TARGET.fields["contract"],
    "depends_on": texts("plans and tasks to finish first"),
    "parent": TARGET.fields["parent"],
    "revision": integer("rises with every change"),
    "evidence": texts("evidence that it is done"),
    "notes": texts("notes about it, oldest first"),
    **_CLAIM,
    "steps": list_of(SHOWN_STEP, "its steps, in the order of work"),
    "tasks": list_of(
        ResponseSchema(
            "TaskOfPlan",
            {
                **{name: TARGET.fields[name] for name in ("id", "title", "status")},
                "steps_done": integer("number of closed steps"),
                "steps_total": integer("number of steps"),
            },
            table=(
                TableColumn("id"),
                TableColumn("status"),
                TableColumn("title", min_width=16),
                TableColumn("steps_done", "done"),
                TableColumn("steps_total", "of"),
            ),
        ),
        "the tasks of a plan",
        optional=True,
    ),
}
"""The response of `tasks_show`."""

READY = ResponseSchema(
    "ReadyTask",
    {
        **{name: TARGET.fields[name] for name in ("id", "title")},
        "priority": choice(("low", "normal", "high"), "its urgency"),
        "step": object_of(NEW_STEP, "the step to begin with", optional=True),
        "why": text("the reason that it can be started"),
    },
    table=(
        TableColumn("id"),
        TableColumn("priority"),
        TableColumn("title", min_width=16),
        TableColumn("why", min_width=12, drop_rank=9),
    ),
)
WARNING = {"warning": text("if another agent holds the step or task that was closed", optional=True)}
STEP_NAMED = object_of(NEW_STEP, "the step, if the call named one")
STEPS = list_of(NEW_STEP, "the steps that were added")
