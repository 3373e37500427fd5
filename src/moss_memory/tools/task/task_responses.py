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
from moss_memory.tools.task.model.task_fields import TARGET
from moss_memory.tools.task.model.task_rows import CHECKPOINTS

ITEM = ResponseSchema(
    "TaskItem",
    {
        **{name: TARGET.fields[name] for name in ("id", "kind", "title", "status", "parent")},
        "tags": texts("tags"),
        "revision": integer("rises with every change"),
    },
    table=(
        TableColumn("id"),
        TableColumn("kind", goes=4),
        TableColumn("status"),
        TableColumn("title", least=16),
        TableColumn("parent", goes=6),
        TableColumn("tags", least=8, goes=8, unless=[]),
    ),
)
EVENT = ResponseSchema(
    "TaskEvent",
    {
        "event_id": text("ULID"),
        "ts": time_text("when it happened", shown="never"),
        "ts_ms": moment_ms("the same in milliseconds", label="written"),
        "type": text("what happened, such as step_done"),
        "target": text("to which plan or task"),
        "path": text("to which step", optional=True),
        "payload": free("what changed"),
        "by": text("who did it, where that is known", optional=True),
    },
    table=(
        TableColumn("ts_ms", "written", goes=6),
        TableColumn("type", goes=5),
        TableColumn("by", least=8, goes=7, unless=None),
        TableColumn("target", least=8),
        TableColumn("path", goes=8),
        TableColumn("event_id", "event id"),
    ),
)
_STEP_COLUMNS = (TableColumn("step_id", "step"), TableColumn("path"), TableColumn("title", least=16))
NEW_STEP = ResponseSchema(
    "NewStep",
    {"step_id": text("STEP-001"), "path": text("s:0.s:2"), "title": text("what is to be done")},
    table=_STEP_COLUMNS,
)
STEP = NEW_STEP.with_fields(
    {
        "done": flag("whether it is closed"),
        "blocked": flag("whether it waits for something"),
        "checkpoints": object_of(
            ResponseSchema(
                "Checkpoints",
                {
                    name: flag("whether it is confirmed", optional=True)
                    for name in ("criteria", "tests", "security", "perf", "docs")
                },
            ),
            "what was confirmed",
        ),
    },
    "Step",
    table=(
        *_STEP_COLUMNS,
        TableColumn("done", goes=7),
        TableColumn("blocked", goes=8),
        TableColumn("checkpoints", least=8, goes=9),
    ),
)
CHANGED = {
    "workspace": text("project namespace, as it was given"),
    **{name: TARGET.fields[name] for name in ("id", "kind", "title")},
    "revision": integer("its revision now"),
    "event": object_of(EVENT, "the event that tells of the change", shown="opened"),
}
"""The fields that each change of a plan or task returns."""

_CLAIM = {
    "agent": text("who works on it", optional=True),
    "lease_until_ms": moment_ms("until when it is theirs", optional=True),
}
SHOWN_STEP = NEW_STEP.with_fields(
    {
        "status": choice(("open", "done", "blocked"), "where it stands"),
        "criteria": texts("what must be true in the end"),
        "tests": texts("how that is checked"),
        "blockers": texts("what stands in the way"),
        "confirmed": object_of(
            ResponseSchema("Confirmed", {name: flag("whether it is confirmed") for name in CHECKPOINTS}),
            "what was confirmed",
        ),
        "evidence": texts("what shows that it is done"),
        "notes": texts("what was noted, oldest first"),
        **_CLAIM,
        "steps": Field("list", "the steps below it, each like this one", of=anything("a step")),
    },
    "ShownStep",
    table=(*_STEP_COLUMNS, TableColumn("status"), TableColumn("agent", goes=5)),
)
SHOWN = {
    "workspace": text("project namespace, as it was given"),
    "target": text("PLAN-001 or TASK-001"),
    **{name: TARGET.fields[name] for name in ("kind", "title", "description", "status")},
    "priority": choice(("low", "normal", "high"), "how urgent it is"),
    "tags": texts("tags"),
    "contract": TARGET.fields["contract"],
    "depends_on": texts("what must be done before"),
    "parent": TARGET.fields["parent"],
    "revision": integer("rises with every change"),
    "evidence": texts("what shows that it is done"),
    "notes": texts("what was noted, oldest first"),
    **_CLAIM,
    "steps": list_of(SHOWN_STEP, "its steps, in the order of work"),
    "tasks": list_of(
        ResponseSchema(
            "TaskOfPlan",
            {
                **{name: TARGET.fields[name] for name in ("id", "title", "status")},
                "steps_done": integer("how many steps are closed"),
                "steps_total": integer("how many there are"),
            },
            table=(
                TableColumn("id"),
                TableColumn("status"),
                TableColumn("title", least=16),
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
        "priority": choice(("low", "normal", "high"), "how urgent it is"),
        "step": object_of(NEW_STEP, "the step to begin with", optional=True),
        "why": text("why it can be started"),
    },
    table=(
        TableColumn("id"),
        TableColumn("priority"),
        TableColumn("title", least=16),
        TableColumn("why", least=12, goes=9),
    ),
)
WARNING = {"warning": text("if another agent holds the step or task that was closed", optional=True)}
STEP_NAMED = object_of(NEW_STEP, "the step, where the call was about one")
STEPS = list_of(NEW_STEP, "the steps that were added")
