"""Tasks and plans of all workspaces, newest first, for one board."""

from __future__ import annotations

from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.paging import Page
from moss_memory.tools.task.model.task_rows import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_LAST = 10_000
"""Tags have no index: they are looked for among this number of newest tasks of a status."""


def tasks_everywhere(tx: ReadTransaction, *, status: str, tag: str | None, limit: int, offset: int) -> dict[str, Any]:
    """Return a page of the tasks with a status, last added first, each with its workspace."""
    page = Page(limit, offset, maximum=100)
    values: dict[str, Any] = {"status": status, "limit": page.limit, "offset": page.offset, "most": _LAST}
    newest = "select row_id from tasks where status = :status and kind = 'task'"
    if tag:
        values["tag"] = tag.strip()
        newest = (
            f"select row_id from tasks where row_id in ({newest} order by row_id desc limit :most)"
            f" and {tx.sql_json_contains('tags_json', 'tag')}"
        )
    total: int = tx.value(f"select count(*) from ({newest}) found", values)
    items = _list_tasks(tx, f"row_id in ({newest} order by row_id desc limit :limit offset :offset)", values)
    return {"items": items, "pagination": page.answer(returned=len(items), total=total)}


def plans_everywhere(tx: ReadTransaction, *, limit: int) -> list[dict[str, Any]]:
    newest = "row_id in (select row_id from tasks where kind = 'plan' order by row_id desc limit :limit)"
    return _list_tasks(tx, newest, {"limit": limit})


def task_times(tx: ReadTransaction, *, tasks: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, int]]:
    """Return when tasks were added and last changed, in milliseconds, by workspace and id."""
    times = {}
    for workspace, target in tasks:
        row = tx.row(
            "select created_at_ms, updated_at_ms from tasks where workspace_norm = :workspace and id = :id",
            {"workspace": normalize_workspace(workspace), "id": target},
        )
        if row is not None:
            times[workspace, target] = {"added_ms": row[0], "changed_ms": row[1]}
    return times


def _list_tasks(tx: ReadTransaction, condition: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    columns = ", ".join(f"t.{name}" for name in Task.columns)
    rows = tx.rows(
        f"select {columns}, coalesce(w.workspace_raw, t.workspace_norm) from tasks t"
        f" left join workspaces w on w.workspace_norm = t.workspace_norm where t.{condition} order by t.row_id desc"
        " limit :limit",
        values,
    )
    return [{**Task(row[:-1]).list_item(), "workspace": row[-1]} for row in rows]
