"""One page of capsules, newest change first, and how many there are: as quick in a large store as in a small one."""

from __future__ import annotations

from .rows import NEWEST_FIRST, summary_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..filters import Filters
    from ..storage.engine import ReadTransaction, Row
    from ..values import Page

_TAGGED = "capsule_tags join capsules on capsules.row_id = capsule"
_NEWEST_TAGGED = "order by tagged_at desc, tagged_seq desc"
_PAGE = "limit :limit offset :offset"
_MANY, _LOOKED_AT = 2_000, 10_000
"""Of more names than this that begin alike some are likely among so many that changed last."""


def listed(tx: ReadTransaction, filters: Filters, page: Page, *, alive: list[str]) -> tuple[list[Row], int]:
    """The rows of a page as `summary_columns`, and how many capsules meet the filters and `alive`."""
    parameters = {**filters.parameters, "limit": page.limit, "offset": page.offset}
    if alive and "tag" in filters:
        return _tagged(tx, filters, parameters, alive)
    where = filters.where(*alive)
    total: int = tx.value(f"select count(*) from capsules {where}", filters.parameters)
    if not (alive and "name_prefix" in filters):
        sql = f"select {summary_columns} from capsules {where} {NEWEST_FIRST} {_PAGE}"
        return list(tx.rows(sql, parameters)), total
    # The order by name is no order by change. Where many names begin so, the last changed are looked through; else, or
    # where too few are found there, all of them are put in order, by what the index holds.
    due = max(0, min(page.limit, total - page.offset))
    rows = list(tx.rows(_of_rows(_among_newest(filters, alive)), parameters)) if total > _MANY else []
    if len(rows) < due:
        ordered = f"select row_id from capsules {where} {NEWEST_FIRST} {_PAGE}"
        rows = list(tx.rows(_of_rows(ordered), parameters))
    return rows, total


def _tagged(
    tx: ReadTransaction, filters: Filters, parameters: dict[str, object], alive: list[str]
) -> tuple[list[Row], int]:
    """The same for what has a tag: those are kept in their order."""
    others = filters.without("tag")
    where = others.where("tag = :f_tag", *alive)
    sql = f"select {summary_columns} from {_TAGGED} {where} {_NEWEST_TAGGED} {_PAGE}"
    counted = f"{_TAGGED} {where}" if others.conditions else "capsule_tags where tag = :f_tag"
    return list(tx.rows(sql, parameters)), tx.value(f"select count(*) from {counted}", filters.parameters)


def _among_newest(filters: Filters, alive: list[str]) -> str:
    """The rows of a page, if there are as many among the last changed."""
    newest = (
        f"select row_id, name_norm, updated_at, change_seq from capsules {filters.without('name_prefix').where(*alive)}"
    )
    named = filters.only("name_prefix").where()
    return f"select row_id from ({newest} {NEWEST_FIRST} limit {_LOOKED_AT}) newest {named} {NEWEST_FIRST} {_PAGE}"


def _of_rows(rows: str) -> str:
    return f"select {summary_columns} from capsules where row_id in ({rows}) {NEWEST_FIRST}"
