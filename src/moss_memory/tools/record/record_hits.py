"""Search hits of records for `moss_search`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction


def documents(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return the documents of records by row number: address, title and text."""
    if not row_ids:
        return {}
    rows = tx.rows(
        "select row_id, payload_id, workspace_raw, type, title, search_text, updated_at_ms / 1000 from records"
        f" where {tx.sql_in('row_id', 'row_ids')} order by row_id",
        {"row_ids": row_ids},
    )
    return {
        row_id: {
            "id": payload_id,
            "workspace": workspace,
            "address": {"workspace": workspace, "ids": [payload_id]},
            "title": (title or payload_id)[:200],
            "kind": kind,
            "text": text or "",
            "updated_at": updated_at,
        }
        for row_id, payload_id, workspace, kind, title, text, updated_at in rows
    }
