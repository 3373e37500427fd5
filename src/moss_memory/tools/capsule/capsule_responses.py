"""Responses of the capsule tools."""

from __future__ import annotations

from moss_memory.registry.responses import (
    ResponseSchema,
    TableColumn,
    fetch_key_of,
    integer,
    moment,
    needs_id_column,
    text,
    texts,
)

KEY = fetch_key_of("capsule")
VERSION = integer("1 when stored, one more with every change")

NAME = TableColumn("name", min_width=8)
WORKSPACE = TableColumn("workspace", min_width=8, drop_rank=6)
DELETED_AT = TableColumn("deleted_at", "deleted", drop_rank=2, unless=None)
ID = TableColumn("id", when=needs_id_column)

SUMMARY = ResponseSchema(
    "CapsuleSummary",
    {
        "id": text("ULID"),
        "workspace": text("namespace, as it was written"),
        "workspace_norm": text("the form in which workspaces are compared", shown="never"),
        "name": text("handle, as it was written", optional=True),
        "name_norm": text("the form in which names are compared", optional=True, shown="never"),
        "title": text("display title", optional=True),
        "capsule_chars": integer("characters of its text"),
        "tokens_estimate": integer("tokens of its text, about"),
        "tags": texts("tags"),
        "source": text("who wrote it", optional=True),
        "run_id": text("workflow run", optional=True),
        "phase": text("workflow phase", optional=True),
        "role": text("agent role", optional=True),
        "created_at": moment("when it was first stored"),
        "updated_at": moment("when it last changed"),
        "deleted_at": moment("when it was deleted", optional=True),
        "version": VERSION,
        "fetch_key": KEY,
    },
    table=(
        NAME,
        WORKSPACE,
        TableColumn("title", min_width=8, drop_rank=7),
        TableColumn("capsule_chars", "chars", drop_rank=4),
        TableColumn("updated_at", "updated", drop_rank=3),
        DELETED_AT,
        ID,
    ),
)
CAPSULE = SUMMARY.with_fields(
    {"capsule_text": text("the capsule itself, if asked for", optional=True, shown="whole")}, "Capsule"
)
STORED = ResponseSchema("StoredCapsule", {"id": text("ULID"), "fetch_key": KEY, "version": VERSION})
