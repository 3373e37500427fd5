"""Search hits of records, and the time of a record: the latest one in its body, or that of its last observation."""

from __future__ import annotations

import json

from moss_memory.errors import MossError
from moss_memory.rows.times import SECOND_US, instant_us

from .capabilities import registry_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row

_TIME_COLUMNS = (
    "r.capability_id, r.body_json, coalesce((select max(o.observed_us) from observations o"
    " where o.entity_row = r.entity_row and o.record_row = r.row_id), r.updated_at_ms * 1000)"
)
"""The columns of `records r` that `_record_time` reads."""


def _record_time(tx: ReadTransaction, columns: Iterable[Any]) -> int:
    """Return the time of a record in seconds, given its `_TIME_COLUMNS`."""
    capability_id, body_json, observed_us = columns
    capability = registry_of(tx.config.home).capabilities.get(capability_id)
    body = {} if capability is None else json.loads(body_json)
    time_fields = [name for name in body if capability and capability.fields.get(name, {}).get("type") == "time"]
    times = [at_us for name in time_fields if (at_us := _instant(body[name])) is not None]
    return int(max(times, default=observed_us) // SECOND_US)


def times_of(tx: ReadTransaction, row_ids: list[int]) -> dict[int, int]:
    """Return the times of records in seconds, by row number."""
    rows = tx.rows(
        f"select r.row_id, {_TIME_COLUMNS} from records r where {tx.sql_in('r.row_id', 'row_ids')}",
        {"row_ids": row_ids},
    )
    return {row_id: _record_time(tx, columns) for row_id, *columns in rows}


def rows_between(tx: ReadTransaction, workspace_norm: str | None, first: int, last: int) -> list[int]:
    """Return the row numbers of the records whose time is in this range, ends included.

    A body is JSON and its times may have any offset, so every record of the workspace is read.
    """
    condition = "" if workspace_norm is None else " where r.workspace_norm = :workspace"
    rows: Iterable[Row] = tx.stream(
        f"select r.row_id, {_TIME_COLUMNS} from records r{condition}", {"workspace": workspace_norm}
    )
    return [row_id for row_id, *columns in rows if first <= _record_time(tx, columns) <= last]


def _instant(value: Any) -> int | None:
    """Return the instant of a field; None if it has none, as in a body that is older than its capability."""
    try:
        return instant_us(value, what="time") if isinstance(value, str) else None
    except MossError:
        return None


def record_documents(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return records as documents for `moss_search` by row number: address, title and text."""
    if not row_ids:
        return {}
    times = times_of(tx, row_ids)
    rows = tx.rows(
        "select row_id, payload_id, workspace_raw, type, title, search_text from records"
        f" where {tx.sql_in('row_id', 'row_ids')} order by row_id",
        {"row_ids": row_ids},
    )
    return {
        row_id: {
            "id": payload_id,
            "workspace": workspace,
            "fetch": {"tool": "retrieve_records", "arguments": {"workspace": workspace, "ids": [payload_id]}},
            "at": times[row_id],
            "title": (title or payload_id)[:200],
            "kind": kind,
            "text": text or "",
        }
        for row_id, payload_id, workspace, kind, title, text in rows
    }
