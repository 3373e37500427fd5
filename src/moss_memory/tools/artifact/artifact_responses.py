"""Responses of the artifact tools."""

from __future__ import annotations

from moss_memory.registry.responses import (
    ResponseSchema,
    TableColumn,
    fetch_key_of,
    free,
    integer,
    moment,
    needs_id_column,
    text,
    texts,
)

KEY = fetch_key_of("artifact", name="ArtifactKey")

ITEM = ResponseSchema(
    "ArtifactItem",
    {
        "id": text("ULID"),
        "workspace": text("namespace, as it was written"),
        "name": text("handle, as it was written", nullable=True),
        "kind": text("type of the data"),
        "data": free("structured content"),
        "version": integer("1 when stored, one more with every update"),
        "run_id": text("workflow run", nullable=True),
        "phase": text("workflow phase", nullable=True),
        "role": text("agent role", nullable=True),
        "tags": texts("tags"),
        "data_chars": integer("characters of the data as compact JSON"),
        "text_chars": integer("characters of the text", nullable=True),
        "ttl_seconds": integer("how long it lives", nullable=True),
        "expires_at": moment("when it expires", nullable=True),
        "created_at": moment("when it was first stored"),
        "updated_at": moment("when it last changed"),
        "deleted_at": moment("when it was deleted", optional=True),
    },
    table=(
        TableColumn("kind", min_width=6, drop_rank=3),
        TableColumn("name", min_width=8),
        TableColumn("workspace", min_width=8, drop_rank=6),
        TableColumn("version", drop_rank=4),
        TableColumn("expires_at", "expires", drop_rank=5),
        TableColumn("run_id", min_width=8, drop_rank=7),
        TableColumn("updated_at", "updated", drop_rank=3),
        TableColumn("deleted_at", "deleted", drop_rank=2, unless=None),
        TableColumn("id", when=needs_id_column),
    ),
)
ARTIFACT = ITEM.with_fields(
    {
        "workspace_norm": text("the form in which workspaces are compared", shown="never"),
        "name_norm": text("the form in which names are compared", nullable=True, shown="never"),
        "text": text("rendered view for models", nullable=True, shown="whole"),
        "deleted_at": moment("when it was deleted", nullable=True),
    },
    "Artifact",
)
