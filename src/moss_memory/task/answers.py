"""What task tools answer: an item of a list, a step, an event, what every change answers."""

from __future__ import annotations

from ..answers import (
    Column,
    Shape,
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
from ..work.answers import TARGET

ITEM = Shape(
    "TaskItem",
    {
        **{name: TARGET.fields[name] for name in ("id", "kind", "title", "status", "parent")},
        "tags": texts("tags"),
        "revision": integer("rises with every change"),
    },
    table=(
        Column("id"),
        Column("kind", goes=4),
        Column("status"),
        Column("title", least=16),
        Column("parent", goes=6),
        Column("tags", least=8, goes=8, unless=[]),
    ),
)
EVENT = Shape(
    "TaskEvent",
    {
        "event_id": text("ULID"),
        "ts": time_text("when it happened", shown="never"),
        "ts_ms": moment_ms("the same in milliseconds", label="written"),
        "type": text("what happened, such as step_done"),
        "target": text("to which plan or task"),
        "path": text("to which step", optional=True),
        "payload": free("what changed"),
    },
    table=(
        Column("ts_ms", "written", goes=6),
        Column("type", goes=5),
        Column("target", least=8),
        Column("path", goes=8),
        Column("event_id", "event id"),
    ),
)
STEP_ADDRESS = Shape("StepAddress", {"step_id": text("STEP-001"), "path": text("s:0.s:2")})
_STEP_COLUMNS = (Column("step_id", "step"), Column("path"), Column("title", least=16))
NEW_STEP = STEP_ADDRESS.with_fields({"title": text("what is to be done")}, "NewStep", table=_STEP_COLUMNS)
STEP = NEW_STEP.with_fields(
    {
        "done": flag("whether it is closed"),
        "blocked": flag("whether it waits for something"),
        "checkpoints": object_of(
            Shape(
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
        Column("done", goes=7),
        Column("blocked", goes=8),
        Column("checkpoints", least=8, goes=9),
    ),
)
CHANGED = {
    "id": text("PLAN-001 or TASK-001"),
    "kind": choice(("plan", "task"), "which of them"),
    "revision": integer("its revision now"),
    "event": object_of(EVENT, "the event that tells of the change", shown="opened"),
}
"""What every change of a plan or task answers."""

STEP_NAMED = object_of(STEP_ADDRESS, "the step, where the call was about one")
STEPS = list_of(NEW_STEP, "the steps that were added")
