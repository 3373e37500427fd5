"""The columns of a capsule, and its row as a response."""

from __future__ import annotations

import json

from moss_memory.rows.lookup import AddressedRows
from moss_memory.rows.names import fetch_key
from moss_memory.rows.versions import Versioned
from moss_memory.storage.queries import load_queries

from .sections import text_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Row

SUMMARY_COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_chars", "tokens_estimate",
    "tags_json", "source", "run_id", "phase", "role", "created_at", "updated_at", "deleted_at", "version", "version_at",
    "version_tool", "version_origin", "confirmed_origin",
)  # fmt: skip
FULL_COLUMNS = (*SUMMARY_COLUMNS, "capsule_text")
_UNEXPORTED = ("version_at", "version_tool", "version_origin", "confirmed_origin")
"""Time, tool and actor of a version: they belong to the store that it is in."""
EXPORTED_COLUMNS = tuple(column for column in FULL_COLUMNS if column not in _UNEXPORTED)

NEWEST_FIRST = "order by updated_at desc, change_seq desc"

summary_columns = ", ".join(SUMMARY_COLUMNS)
full_columns = ", ".join(FULL_COLUMNS)
sql = load_queries(__file__)

capsules = AddressedRows("capsules", FULL_COLUMNS, noun="capsule", lists="capsule_list", lists_all="capsule_inventory")
versioned = Versioned(
    capsules,
    columns={
        "capsule_text": "text", "title": "title", "tags_json": "tags_json", "source": "source", "run_id": "run_id",
        "phase": "phase", "role": "role",
    },
    chars="capsule_chars",
    measured=lambda content: text_columns(content["capsule_text"]),
    sql=sql,
)  # fmt: skip

_FIRST_FIELDS = (
    ("id", "id"), ("workspace", "workspace_raw"), ("workspace_norm", "workspace_norm"), ("name", "name_raw"),
    ("name_norm", "name_norm"), ("title", "title"),
)  # fmt: skip
_LAST_FIELDS = ("source", "run_id", "phase", "role", "created_at", "updated_at", "deleted_at", "version")


def capsule_response(row: dict[str, Any], *, include_text: bool) -> dict[str, Any]:
    """Return a capsule as a response, without absent fields."""
    item = {field: row[column] for field, column in _FIRST_FIELDS if row[column] is not None}
    if include_text:
        item["capsule_text"] = row["capsule_text"]
    item["capsule_chars"] = row["capsule_chars"]
    item["tokens_estimate"] = row["tokens_estimate"]
    item["tags"] = json.loads(row["tags_json"]) if row["tags_json"] else []
    item |= {field: row[field] for field in _LAST_FIELDS if row[field] is not None}
    item["fetch_key"] = fetch_key("capsule", row)
    return item


def summary(row: Row) -> dict[str, Any]:
    """Return a row of `summary_columns` as a response."""
    return capsule_response(dict(zip(SUMMARY_COLUMNS, row, strict=True)), include_text=False)
