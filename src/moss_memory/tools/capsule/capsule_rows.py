"""The columns of a capsule, and its row as a response."""

from __future__ import annotations

import json

from moss_memory.rows.lookup import AddressedRows
from moss_memory.rows.versions import Versioned
from moss_memory.storage.queries import load_queries

from .sections import content_columns

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
_OF_STORE = ("version_at", "version_tool", "version_origin", "confirmed_origin")
EXPORTED_COLUMNS = tuple(column for column in FULL_COLUMNS if column not in _OF_STORE)
"""The columns of an exported line; time, tool and actor of a version belong to the store that it is in."""

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
    measured=lambda content: content_columns(content["capsule_text"]),
    sql=sql,
)  # fmt: skip


fetch_key = capsules.fetch_key
reference = capsules.reference


def to_response(row: dict[str, Any], *, include_text: bool) -> dict[str, Any]:
    """Return a capsule as a response, without absent fields."""
    item: dict[str, Any] = {
        "id": row["id"],
        "workspace": row["workspace_raw"],
        "workspace_norm": row["workspace_norm"],
    }
    if row["name_raw"] is not None:
        item["name"] = row["name_raw"]
        item["name_norm"] = row["name_norm"]
    if row["title"] is not None:
        item["title"] = row["title"]
    if include_text:
        item["capsule_text"] = row["capsule_text"]
    item["capsule_chars"] = row["capsule_chars"]
    item["tokens_estimate"] = row["tokens_estimate"]
    item["tags"] = json.loads(row["tags_json"]) if row["tags_json"] else []
    for key in ("source", "run_id", "phase", "role"):
        if row[key] is not None:
            item[key] = row[key]
    item["created_at"] = row["created_at"]
    item["updated_at"] = row["updated_at"]
    if row["deleted_at"] is not None:
        item["deleted_at"] = row["deleted_at"]
    item["version"] = row["version"]
    item["fetch_key"] = fetch_key(row)
    return item


def summary(row: Row) -> dict[str, Any]:
    """Return a row of `summary_columns` as a response."""
    return to_response(dict(zip(SUMMARY_COLUMNS, row, strict=True)), include_text=False)
