"""Search hits of capsules: the page of `capsule_search`, and the documents for `moss_search`."""

from __future__ import annotations

from moss_memory.rows.lookup import row_address
from moss_memory.search.query import parse_query
from moss_memory.search.request import SearchRequest, search
from moss_memory.search.snippet import snippet

from .capsule_rows import FULL_COLUMNS, capsule_response, full_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.rows.list_filters import ListFilters
    from moss_memory.rows.paging import Page
    from moss_memory.storage.engine import ReadTransaction


def search_capsules(
    tx: ReadTransaction,
    query: str,
    filters: ListFilters,
    page: Page,
    *,
    mode: str,
    workspace_norm: str | None,
    include_deleted: bool,
) -> dict[str, Any]:
    """Return one page of summaries with snippets, best match first."""
    request = SearchRequest(
        parse_query(query),
        mode=mode,
        sources=("capsule",),
        workspace_norm=workspace_norm,
        include_deleted=include_deleted,
        conditions=filters.conditions,
        parameters=filters.parameters,
        limit=page.limit,
        offset=page.offset,
    )
    hits = search(tx, request)
    rows = _rows_by_number(tx, hits.rows("capsule"))
    items = []
    for hit in hits.items:
        row = rows[hit.document.row]
        item = {
            **capsule_response(row, include_text=False),
            "snippet": snippet(row["capsule_text"], hits.matcher, offset=hit.offset),
            "score": hit.score,
            "at": row["updated_at"],
            "fetch": {"tool": "capsule_fetch", "arguments": row_address(row)},
        }
        items.append(item)
    pagination = page.answer(returned=len(items), total=hits.total)
    return {"items": items, "pagination": pagination, "sort": "relevance", **hits.remarks()}


def capsule_documents(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return capsules as documents for `moss_search` by row number: address, title and text."""
    return {
        row_id: {
            "id": row["id"],
            "workspace": row["workspace_raw"],
            "fetch": {"tool": "capsule_fetch", "arguments": row_address(row)},
            "at": row["updated_at"],
            "title": row["title"] or row["name_raw"] or row["id"],
            "version": row["version"],
            "text": row["capsule_text"],
        }
        for row_id, row in _rows_by_number(tx, row_ids).items()
    }


def _rows_by_number(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return capsules by row number, every column by name."""
    if not row_ids:
        return {}
    chosen = tx.sql_in("row_id", "row_ids")
    rows = tx.rows(f"select row_id, {full_columns} from capsules where {chosen} order by row_id", {"row_ids": row_ids})
    return {row_id: dict(zip(FULL_COLUMNS, columns, strict=True)) for row_id, *columns in rows}
