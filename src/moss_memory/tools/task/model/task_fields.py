"""Response fields of plans and tasks that reasoning tools use too."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema, choice, free, integer, object_of, text, texts

REFERENCE = object_of(
    ResponseSchema(
        "ReasoningRef",
        {
            "branch": text("branch of the plan or task"),
            "notes_doc": text("its notes"),
            "graph_doc": text("its graph"),
            "trace_doc": text("its trace"),
        },
    ),
    "where the reasoning about it lives",
)
TARGET = ResponseSchema(
    "Target",
    {
        "id": text("PLAN-001 or TASK-001"),
        "kind": choice(("plan", "task"), "which of them"),
        "title": text("what is to be done"),
        "status": choice(("TODO", "ACTIVE", "DONE"), "where it stands"),
        "parent": text("the plan of a task", optional=True),
        "tags": texts("tags", optional=True),
        "revision": integer("rises with every change", optional=True),
        "priority": choice(("low", "normal", "high"), "how urgent it is", optional=True),
        "description": text("details", optional=True),
        "contract": free("what a plan promises", optional=True),
        "depends_on": texts("what must be done before", optional=True),
    },
)
"""A plan or task in a response; optional fields are dropped if the budget is small."""
