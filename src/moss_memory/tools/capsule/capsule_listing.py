"""One page of capsules, newest change first, and how many there are: as quick in a large store as in a small one."""

from __future__ import annotations

from moss_memory.rows.list_filters import ALIVE, DELETED, with_deleted

from .capsule_rows import NEWEST_FIRST, summary_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.rows.list_filters import ListFilters
    from moss_memory.rows.values import Page
    from moss_memory.storage.engine import ReadTransaction, Row

_TAGGED = "capsule_tags join capsules on capsules.row_id = capsule"
_NEWEST_TAGGED = "order by tagged_at desc, tagged_seq desc"
_PAGE = "limit :limit offset :offset"
_MANY, _LOOKED_AT = 2_000, 10_000
"""Of more names than this that begin alike some are likely among so many that changed last."""


def newest(tx: ReadTransaction, filters: ListFilters, *, include_deleted: bool) -> str | None:
    """The id of the capsule that changed last of those that meet the filters."""
    sql = "select updated_at, change_seq, id from capsules {} " + NEWEST_FIRST + " limit 1"
    states = (ALIVE, DELETED) if include_deleted else (ALIVE,)
    found = [tx.row(sql.format(filters.where(state)), filters.parameters) for state in states]
    changed: Any = max(filter(None, found), default=None)
    return None if changed is None else changed[2]


def listed(tx: ReadTransaction, filters: ListFilters, page: Page, *, include_deleted: bool) -> tuple[list[Row], int]:
    """The rows of a page as `summary_columns`, and how many capsules meet the filters."""
    total: int = tx.value(f"select count(*) from {_counted(filters)}", filters.parameters)
    parameters = {**filters.parameters, "limit": page.limit, "offset": page.offset}
    if include_deleted:
        where = filters.where(DELETED)
        gone: int = tx.value(f"select count(*) from capsules {where}", filters.parameters)
        if gone:
            deleted = f"select row_id from capsules {where} {NEWEST_FIRST}"
            living = f"select row_id from {_living(filters)}"
            sql = with_deleted("capsules", summary_columns, living, deleted, NEWEST_FIRST)
            return list(tx.rows(sql, {**parameters, "most": page.most})), total + gone
    if "name_prefix" in filters and "tag" not in filters:
        return _named(tx, filters, parameters, total), total
    sql = f"select {summary_columns} from {_living(filters)} {_PAGE}"
    return list(tx.rows(sql, parameters)), total


def _living(filters: ListFilters) -> str:
    """Where those that are not deleted are found, in their order: what has a tag is kept in it."""
    if "tag" in filters:
        return f"{_TAGGED} {filters.without('tag').where('tag = :f_tag', ALIVE)} {_NEWEST_TAGGED}"
    return f"capsules {filters.where(ALIVE)} {NEWEST_FIRST}"


def _counted(filters: ListFilters) -> str:
    """Where the same are counted."""
    if "tag" not in filters:
        return f"capsules {filters.where(ALIVE)}"
    others = filters.without("tag")
    return (
        f"{_TAGGED} {others.where('tag = :f_tag', ALIVE)}" if others.conditions else "capsule_tags where tag = :f_tag"
    )


def _named(tx: ReadTransaction, filters: ListFilters, parameters: dict[str, Any], total: int) -> list[Row]:
    """The same for names that begin alike, whose order is no order by change.

    Where many names begin so, the last changed are looked through; else, or where too few are found there, all of them
    are put in order, by what the index holds.
    """
    due = max(0, min(parameters["limit"], total - parameters["offset"]))
    rows = list(tx.rows(_of_rows(_among_newest(filters)), parameters)) if total > _MANY else []
    if len(rows) < due:
        rows = list(tx.rows(_of_rows(f"select row_id from {_living(filters)} {_PAGE}"), parameters))
    return rows


def _among_newest(filters: ListFilters) -> str:
    """The rows of a page, if there are as many among the last changed."""
    last = f"select row_id, name_norm, updated_at, change_seq from {_living(filters.without('name_prefix'))}"
    named = filters.only("name_prefix").where()
    return f"select row_id from ({last} limit {_LOOKED_AT}) newest {named} {NEWEST_FIRST} {_PAGE}"


def _of_rows(rows: str) -> str:
    return f"select {summary_columns} from capsules where row_id in ({rows}) {NEWEST_FIRST}"
