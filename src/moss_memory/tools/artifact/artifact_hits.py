"""Search hits of artifacts for `moss_search`."""

from __future__ import annotations

from moss_memory.rows.lookup import row_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_COLUMNS = ("row_id", "id", "workspace_raw", "name_raw", "kind", "text", "run_id", "version", "updated_at")


def artifact_documents(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return artifacts as documents for `moss_search` by row number: address, title and text."""
    if not row_ids:
        return {}
    chosen = tx.sql_in("row_id", "row_ids")
    rows = tx.rows(f"select {', '.join(_COLUMNS)} from artifacts where {chosen} order by row_id", {"row_ids": row_ids})
    artifacts = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    return {
        row["row_id"]: {
            "id": row["id"],
            "workspace": row["workspace_raw"],
            "fetch": {"tool": "artifact_fetch", "arguments": row_address(row)},
            "at": row["updated_at"],
            "title": row["name_raw"] or f"{row['kind']} {row['id']}",
            "kind": row["kind"],
            "version": row["version"],
            "text": row["text"] or "",
        }
        for row in artifacts
    }
