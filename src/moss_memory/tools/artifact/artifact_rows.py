"""The columns of an artifact, and its row as a response."""

from __future__ import annotations

import json

from moss_memory.rows.lookup import AddressedRows
from moss_memory.rows.names import normalize_name, normalize_workspace
from moss_memory.rows.versions import Versioned
from moss_memory.storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row

COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "kind", "data_json", "text", "run_id", "phase",
    "role", "tags_json", "data_chars", "text_chars", "version", "ttl_seconds", "expires_at", "created_at", "updated_at",
    "deleted_at", "version_at", "version_tool", "version_origin",
)  # fmt: skip
"""In the order of the response; columns that are not in it come last."""
_SHOWN = tuple(column.removesuffix("_raw").removesuffix("_json") for column in COLUMNS[:-3])
_UNLISTED = ("text", "workspace_norm", "name_norm", "version_at", "version_tool", "version_origin")
LIST_COLUMNS = tuple(column for column in COLUMNS if column not in _UNLISTED)
UNEXPIRED = "(expires_at is null or expires_at > :now)"
EXPECTED = (
    "where workspace_norm = :workspace_norm and name_norm = :name_norm and deleted_at is null"
    f" and {UNEXPIRED} and version = :expected_version"
)
"""The condition of a versioned update."""

decode = json.JSONDecoder().raw_decode
"""Parses stored JSON, which has no whitespace around it."""

list_columns = ", ".join(LIST_COLUMNS)
sql = load_queries(__file__)
artifacts = AddressedRows("artifacts", COLUMNS, noun="artifact", lists="artifact_list", lists_all="artifact_list")


def content_columns(data_json: str, text: str | None) -> dict[str, Any]:
    """Return the content columns of an artifact with their sizes."""
    text_chars = None if text is None else len(text)
    return {"data_json": data_json, "text": text, "data_chars": len(data_json), "text_chars": text_chars}


versioned = Versioned(
    artifacts,
    columns={
        "data_json": "data_json", "text": "text", "kind": "kind", "tags_json": "tags_json", "run_id": "run_id",
        "phase": "phase", "role": "role",
    },
    chars="data_chars + coalesce(text_chars, 0)",
    measured=lambda content: content_columns(content["data_json"], content["text"]),
    sql=sql,
    unversioned=("workspace_raw", "name_raw", "tags_json", "phase", "role"),
    alive=UNEXPIRED,
)  # fmt: skip


def to_response(row: dict[str, Any]) -> dict[str, Any]:
    """Return an artifact as a response, with null for absent fields, so that it can be stored again as it is."""
    return values_to_response([row[column] for column in COLUMNS])


def values_to_response(values: Sequence[Any]) -> dict[str, Any]:
    """Return the same from the values of all columns, which saves a dict in the most frequent call."""
    item = dict(zip(_SHOWN, values, strict=False))
    item["data"] = decode(item["data"])[0]
    item["tags"] = json.loads(item["tags"]) if item["tags"] else []
    return item


def kept(tx: ReadTransaction, *, workspace: str, name: str) -> dict[str, Any] | None:
    """Return data, time to live and times of a named artifact by one statement, or None."""
    address = {"workspace": normalize_workspace(workspace), "name": normalize_name(name), "now": tx.now}
    row = tx.row(sql["kept"], address)
    if row is None:
        return None
    data_json, ttl_seconds, created_at, updated_at = row
    data = decode(data_json)[0]
    return {"data": data, "ttl_seconds": ttl_seconds, "created_at": created_at, "updated_at": updated_at}


def to_list_item(values: Row) -> dict[str, Any]:
    """Return a row of `list_columns` as an item of a list, with its data and without its text."""
    row = dict(zip(LIST_COLUMNS, values, strict=True))
    item = {
        "id": row["id"],
        "workspace": row["workspace_raw"],
        "name": row["name_raw"],
        "kind": row["kind"],
        "data": decode(row["data_json"])[0],
        "version": row["version"],
        "run_id": row["run_id"],
        "phase": row["phase"],
        "role": row["role"],
        "tags": json.loads(row["tags_json"]) if row["tags_json"] else [],
        "data_chars": row["data_chars"],
        "text_chars": row["text_chars"],
        "ttl_seconds": row["ttl_seconds"],
        "expires_at": row["expires_at"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
    if row["deleted_at"] is not None:
        item["deleted_at"] = row["deleted_at"]
    return item
