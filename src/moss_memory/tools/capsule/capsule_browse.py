"""Capsules for a person who looks through them: other orders, filters by agent and age, and counts of both."""

from __future__ import annotations

import json

from moss_memory.rows.list_filters import filters_from
from moss_memory.rows.paging import Page
from moss_memory.storage.origin import actors_of

from .capsule_lists import from_living
from .capsule_rows import summary, summary_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.rows.list_filters import ListFilters
    from moss_memory.storage.engine import ReadTransaction

LAST_CHANGED = 10_000
"""Orders and agents have no index: they are applied to this number of last changed capsules."""

ORDERS = {
    "changed": "updated_at desc, change_seq desc",
    "size": "capsule_chars desc, change_seq desc",
    "name": "coalesce(name_norm, lower(title), ''), change_seq desc",
}
_COLUMNS = "row_id, source, capsule_chars, name_norm, title, updated_at, change_seq"
_DAY_S = 86_400
_OPTIONS = 12


def browse_capsules(
    tx: ReadTransaction,
    *,
    filters: dict[str, str],
    agent: str | None,
    newer_days: int | None,
    older_days: int | None,
    order: str,
    limit: int,
    offset: int,
) -> dict[str, Any]:
    """Return a page of capsules in an order; `total` counts at most the last changed ones that are looked at."""
    page = Page(limit, offset, maximum=100)
    chosen = filters_from(tx, **filters)  # type: ignore[arg-type]
    if newer_days is not None:
        chosen.add("age", "", "updated_at >= :f_newer", f_newer=tx.now - newer_days * _DAY_S)
    if older_days is not None:
        chosen.add("age", "", "updated_at < :f_older", f_older=tx.now - older_days * _DAY_S)
    among = _last_changed(chosen) + (" where source = :agent" if agent else "")
    values = {**chosen.parameters, "agent": agent, "limit": page.limit, "offset": page.offset}
    total: int = tx.value(f"select count(*) from {among}", values)
    found = f"select row_id from {among} order by {ORDERS[order]} limit :limit offset :offset"
    rows = tx.rows(
        f"select {summary_columns} from capsules where row_id in ({found}) order by {ORDERS[order]} limit :limit",
        values,
    )
    items = [summary(row) for row in rows]
    return {"items": items, "pagination": page.answer(returned=len(items), total=total)}


def capsule_authors(tx: ReadTransaction, *, ids: list[str]) -> dict[str, str]:
    """Return who made the present version of capsules, as far as that is known."""
    origins: dict[str, str] = dict(
        tx.rows(
            f"select id, version_origin from capsules where version_origin is not null and {tx.sql_in('id', 'ids')}",
            {"ids": ids},
        )
    )
    actors = actors_of(tx, set(origins.values()))
    return {key: actors[origin] for key, origin in origins.items() if actors.get(origin)}


def capsule_options(tx: ReadTransaction, *, workspace: str | None) -> dict[str, list[tuple[str, int]]]:
    """Return the most used tags and agents with their counts, of all capsules or of a workspace."""
    filters = filters_from(tx, workspace=workspace)
    among = _last_changed(filters)
    agents = tx.rows(
        f"select source, count(*) from {among} where source is not null group by source order by 2 desc, 1"
        " limit :options",
        {**filters.parameters, "options": _OPTIONS},
    )
    return {"agents": [(name, count) for name, count in agents], "tags": _tags(tx, filters)}


def _tags(tx: ReadTransaction, filters: ListFilters) -> list[tuple[str, int]]:
    if not filters.conditions:
        rows = tx.rows(
            "select tag, count(*) from capsule_tags group by tag order by 2 desc, 1 limit :options",
            {"options": _OPTIONS},
        )
        return [(tag, count) for tag, count in rows]
    counts: dict[str, int] = {}
    listed = f"select tags_json from {from_living(filters)} limit {LAST_CHANGED}"
    for (tags,) in tx.stream(listed, filters.parameters):
        for tag in set(json.loads(tags)) if tags else ():
            counts[tag] = counts.get(tag, 0) + 1
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_OPTIONS]


def _last_changed(filters: ListFilters) -> str:
    return f"(select {_COLUMNS} from {from_living(filters)} limit {LAST_CHANGED}) last_changed"
