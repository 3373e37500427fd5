"""Search hits of records for `moss_search`."""

from __future__ import annotations

from moss_memory.registry.next_calls import fetch_call

from .record_times import times_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction


def documents(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return the documents of records by row number: address, title and text."""
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
            "fetch": fetch_call("retrieve_records", {"workspace": workspace, "ids": [payload_id]}),
            "at": times[row_id],
            "title": (title or payload_id)[:200],
            "kind": kind,
            "text": text or "",
        }
        for row_id, payload_id, workspace, kind, title, text in rows
    }
