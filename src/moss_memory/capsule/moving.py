"""How capsules go to files and come back: each is a Markdown file, its columns stand above its text."""

from __future__ import annotations

from ..tables import Table, number, tags_column, text, whole

TEXT = "capsule_text"
TABLE = Table(
    "capsules",
    text("id"),
    text("workspace_raw"),
    text("workspace_norm"),
    text("name_raw", optional=True),
    text("name_norm", optional=True),
    text("title", optional=True),
    tags_column(),
    text("source", optional=True),
    text("run_id", optional=True),
    text("phase", optional=True),
    text("role", optional=True),
    whole("created_at"),
    whole("updated_at"),
    whole("deleted_at", optional=True),
    whole("capsule_chars"),
    whole("tokens_estimate"),
    number("row_id", "capsules"),
    whole("change_seq"),
    text(TEXT),
    key=("workspace_norm", "id"),
)
