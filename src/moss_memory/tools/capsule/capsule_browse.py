"""Capsules for the web pages: further orders and filters, counts of tags and agents, loads, near-duplicates."""

from __future__ import annotations

import json

from moss_memory.rows.list_filters import ALIVE, filters_from
from moss_memory.rows.load_counts import loads_of
from moss_memory.rows.near_duplicates import MAX_CHARS, near_duplicates, sketch
from moss_memory.rows.paging import Page
from moss_memory.rows.token_estimate import tokens_about
from moss_memory.storage.origin import actors_of

from .capsule_lists import from_living
from .capsule_rows import NEWEST_FIRST, summary, summary_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.rows.list_filters import ListFilters
    from moss_memory.storage.engine import ReadTransaction

    Sketches = dict[tuple[str, int], tuple[int, ...]]
    """The sketches of capsules by id and version, so that each text is read once."""

LAST_CHANGED = 10_000
"""The number of last changed capsules that are sorted, or filtered by agent: neither has an index."""

ORDERS = {
    "changed": "updated_at desc, change_seq desc",
    "size": "capsule_chars desc, change_seq desc",
    "name": "coalesce(name_norm, lower(title), ''), change_seq desc",
}
_COLUMNS = "row_id, source, capsule_chars, name_norm, title, updated_at, change_seq"
_DAY_S = 86_400
_OPTIONS = 12
MOST_SHOWN = 2_000
"""The number of last changed capsules that are compared, or listed by load."""
_LOAD_COLUMNS = ("id", "workspace_raw", "name_raw", "title", "capsule_chars", "updated_at", "version")


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
    """Return a page of capsules in an order; only the last changed ones count for it and for `total`."""
    page = Page(limit, offset, maximum=100)
    chosen = filters_from(tx, **filters)  # type: ignore[arg-type]
    if newer_days is not None:
        chosen.add("age", "", "updated_at >= :f_newer", f_newer=tx.now - newer_days * _DAY_S)
    if older_days is not None:
        chosen.add("age", "", "updated_at < :f_older", f_older=tx.now - older_days * _DAY_S)
    among = _last_changed(chosen) + (" where source = :agent" if agent else "")
    values = {**chosen.parameters, "agent": agent, "limit": page.limit, "offset": page.offset}
    total: int = tx.value(f"select count(*) from {among}", values)
    page_ids = f"select row_id from {among} order by {ORDERS[order]} limit :limit offset :offset"
    rows = tx.rows(
        f"select {summary_columns} from capsules where row_id in ({page_ids}) order by {ORDERS[order]} limit :limit",
        values,
    )
    items = [summary(row) for row in rows]
    return {"items": items, "pagination": page.answer(returned=len(items), total=total)}


def capsule_authors(tx: ReadTransaction, *, ids: list[str]) -> dict[str, str]:
    """Return the author of the current version of each capsule that has a known one."""
    sql = f"select id, version_origin from capsules where version_origin is not null and {tx.sql_in('id', 'ids')}"
    origins: dict[str, str] = dict(tx.rows(sql, {"ids": ids}))
    actors = actors_of(tx, set(origins.values()))
    return {key: actors[origin] for key, origin in origins.items() if actors.get(origin)}


def capsule_options(tx: ReadTransaction, *, workspace: str | None) -> dict[str, list[tuple[str, int]]]:
    """Return the most used tags and agents with their counts, of all capsules or of a workspace."""
    filters = filters_from(tx, workspace=workspace)
    agents = (
        f"select source, count(*) from {_last_changed(filters)} where source is not null"
        f" group by source order by 2 desc, 1 limit {_OPTIONS}"
    )
    answer: dict[str, list[tuple[str, int]]] = {"agents": list(tx.rows(agents, filters.parameters))}
    if not filters.conditions:
        tags = f"select tag, count(*) from capsule_tags group by tag order by 2 desc, 1 limit {_OPTIONS}"
        return {**answer, "tags": list(tx.rows(tags))}
    counts: dict[str, int] = {}
    listed = f"select tags_json from {from_living(filters)} limit {LAST_CHANGED}"
    for (tags_json,) in tx.stream(listed, filters.parameters):
        for tag in set(json.loads(tags_json)) if tags_json else ():
            counts[tag] = counts.get(tag, 0) + 1
    return {**answer, "tags": sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_OPTIONS]}


def _last_changed(filters: ListFilters) -> str:
    return f"(select {_COLUMNS} from {from_living(filters)} limit {LAST_CHANGED}) last_changed"


def capsules_by_load(tx: ReadTransaction, *, workspace: str | None) -> list[dict[str, Any]]:
    """Return the last changed capsules, last loaded first, then those without a load, last changed first."""
    filters = filters_from(tx, workspace=workspace)
    rows = tx.stream(
        f"select {', '.join(_LOAD_COLUMNS)} from capsules {filters.where(ALIVE)} {NEWEST_FIRST} limit {MOST_SHOWN}",
        filters.parameters,
    )
    items = [dict(zip(_LOAD_COLUMNS, row, strict=True)) for row in rows]
    loads = loads_of(tx, [item["id"] for item in items])
    for item in items:
        item["loads"], item["loaded_at"] = loads.get(item["id"], (0, 0))
    return sorted(items, key=lambda item: -item["loaded_at"])


def token_counts(tx: ReadTransaction, *, capsules: list[str]) -> dict[str, int]:
    """Return the estimated tokens of capsules; those of a long one are extrapolated from its beginning."""
    counts = {}
    for capsule, chars, text in _beginnings(tx, capsules):
        counts[capsule] = round(tokens_about(text) * max(1.0, chars / max(1, len(text))))
    return counts


def find_near_duplicates(tx: ReadTransaction, *, workspace: str | None, known: Sketches) -> dict[str, str]:
    """Return, for each of the last changed capsules that is nearly the same as an older one, the older one's id."""
    filters = filters_from(tx, workspace=workspace)
    listed = tx.stream(
        f"select id, version from capsules {filters.where(ALIVE)} {NEWEST_FIRST} limit {MOST_SHOWN}",
        filters.parameters,
    )
    present = [(capsule, version) for capsule, version in listed]
    versions = dict(present)
    missing = [capsule for capsule, version in present if (capsule, version) not in known]
    for start in range(0, len(missing), 100):
        for capsule, _, text in _beginnings(tx, missing[start : start + 100]):
            known[capsule, versions[capsule]] = sketch(text)
    for key in set(known).difference(present):
        if workspace is None:
            del known[key]
    return near_duplicates((key[0], known[key]) for key in reversed(present) if key in known)


def _beginnings(tx: ReadTransaction, capsules: list[str]) -> list[tuple[str, int, str]]:
    rows = tx.stream(
        f"select id, capsule_chars, substr(capsule_text, 1, {MAX_CHARS}) from capsules"
        f" where {tx.sql_in('id', 'capsules')}",
        {"capsules": capsules},
    )
    return [(capsule, chars, text) for capsule, chars, text in rows]
