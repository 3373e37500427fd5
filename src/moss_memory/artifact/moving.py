"""How artifacts go to files and come back: one line each."""

from __future__ import annotations

from ..tables import Table, json_column, number, tags_column, text, whole

TABLE = Table(
    "artifacts",
    text("id"),
    text("workspace_raw"),
    text("workspace_norm"),
    text("name_raw", optional=True),
    text("name_norm", optional=True),
    text("kind"),
    json_column("data_json", dict),
    text("text", optional=True),
    text("run_id", optional=True),
    text("phase", optional=True),
    text("role", optional=True),
    tags_column(),
    whole("version"),
    whole("ttl_seconds", optional=True),
    whole("expires_at", optional=True),
    whole("created_at"),
    whole("updated_at"),
    whole("deleted_at", optional=True),
    whole("data_chars"),
    whole("text_chars", optional=True),
    number("row_id", "artifacts"),
    whole("change_seq"),
    key=("workspace_norm", "id"),
)
