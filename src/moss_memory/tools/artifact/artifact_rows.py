"""The columns of an artifact, and its row as a response."""

from __future__ import annotations

import json

from moss_memory.rows.list_filters import filters_from
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
"""In the order of the response, which lacks the last three."""
_FIELDS = tuple(column.removesuffix("_raw").removesuffix("_json") for column in COLUMNS[:-3])
LIST_COLUMNS = (
    "id", "workspace_raw", "name_raw", "kind", "data_json", "version", "run_id", "phase", "role", "tags_json",
    "data_chars", "text_chars", "ttl_seconds", "expires_at", "created_at", "updated_at", "deleted_at",
)  # fmt: skip
"""In the order of an item of a list."""
_LIST_FIELDS = tuple(column.removesuffix("_raw").removesuffix("_json") for column in LIST_COLUMNS)
_OPTIONS = 12
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


def artifact_content_columns(data_json: str, text: str | None) -> dict[str, Any]:
    text_chars = None if text is None else len(text)
    return {"data_json": data_json, "text": text, "data_chars": len(data_json), "text_chars": text_chars}


versioned = Versioned(
    artifacts,
    columns={
        "data_json": "data_json", "text": "text", "kind": "kind", "tags_json": "tags_json", "run_id": "run_id",
        "phase": "phase", "role": "role",
    },
    chars="data_chars + coalesce(text_chars, 0)",
    measured=lambda content: artifact_content_columns(content["data_json"], content["text"]),
    sql=sql,
    unversioned=("workspace_raw", "name_raw", "tags_json", "phase", "role"),
    visible_condition=UNEXPIRED,
)  # fmt: skip


def artifact_response(row: dict[str, Any]) -> dict[str, Any]:
    """Return an artifact as a response, with null for absent fields, so that it can be stored again as it is."""
    return values_to_response([row[column] for column in COLUMNS])


def values_to_response(values: Sequence[Any]) -> dict[str, Any]:
    """Return the same given a tuple of all columns, which saves a dict in the most frequent call."""
    item = dict(zip(_FIELDS, values, strict=False))
    item["data"] = decode(item["data"])[0]
    item["tags"] = json.loads(item["tags"]) if item["tags"] else []
    return item


def read_named(tx: ReadTransaction, *, workspace: str, name: str) -> dict[str, Any] | None:
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
    item = dict(zip(_LIST_FIELDS, values, strict=True))
    item["data"] = decode(item["data"])[0]
    item["tags"] = json.loads(item["tags"]) if item["tags"] else []
    if item["deleted_at"] is None:
        del item["deleted_at"]
    return item


def kind_counts(tx: ReadTransaction, *, workspace: str | None) -> list[tuple[str, int]]:
    """Return the most used kinds of unexpired artifacts with their counts, in the store or in a workspace."""
    filters = filters_from(tx, workspace=workspace)
    return _counts(tx, "kind", filters.where("deleted_at is null"), filters.parameters)[:_OPTIONS]


def run_counts(tx: ReadTransaction, *, runs: list[str], workspace: str | None) -> list[tuple[str, int]]:
    """Return runs with the number of their unexpired artifacts, the largest first."""
    filters = filters_from(tx, workspace=workspace)
    chosen = filters.where("deleted_at is null", "run_id is not null", tx.sql_in("run_id", "runs"))
    return _counts(tx, "run_id", chosen, {**filters.parameters, "runs": runs}) if runs else []


def _counts(tx: ReadTransaction, column: str, where: str, values: dict[str, object]) -> list[tuple[str, int]]:
    """Return the values of a column with their counts; expired rows are subtracted, since no index has both."""
    counted = f"select {column}, count(*) from artifacts {where}"
    counts: dict[str, int] = dict(tx.stream(f"{counted} group by {column}", values))
    expired = f"{counted} and expires_at is not null and expires_at <= :now group by {column}"
    for value, count in tx.stream(expired, {**values, "now": tx.now}):
        counts[value] -= count
    return sorted(((value, count) for value, count in counts.items() if count), key=lambda pair: (-pair[1], pair[0]))
