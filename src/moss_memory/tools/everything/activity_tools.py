"""`moss_activity` and `moss_changes`: counts of rows, changes of each day, changes after a given one."""

from __future__ import annotations

from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.arguments import Limit, Workspace
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    ResponseSchema,
    TableColumn,
    flag,
    integer,
    list_of,
    map_of,
    moment_ms,
    object_of,
    text,
)
from moss_memory.registry.tool_groups import TOOL_GROUPS
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.paging import Page
from moss_memory.storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

Period = Annotated[int, {"minimum": 1}, "days up to today"]
After = Annotated[int, {"minimum": 0}, "seq of the last change that is known"]

sql = load_queries(__file__)

_DAY_MS = 86_400_000
_DAYS_MAX = 366
_FAMILIES = tuple(name for name in TOOL_GROUPS if name)
_COUNTS = {
    "capsule": ("capsules", "deleted_at is null", "deleted_at is not null", ""),
    "artifact": ("artifacts", "deleted_at is null", "deleted_at is not null", "expires_at <= :now"),
    "task": ("tasks", "", "", "kind = 'plan'"),
    "record": ("records", "", "", ""),
}
"""The table of a family, and the conditions of active rows, deleted rows, and active rows that do not count; each has
an index."""

_DAY = ResponseSchema(
    "Day",
    {
        "day": text("the day in UTC, as 2026-01-31"),
        **{name: integer(f"changes of {name}s", optional=True) for name in _FAMILIES},
    },
    table=(TableColumn("day"), *(TableColumn(name) for name in _FAMILIES)),
)
_LAST = ResponseSchema("LastChange", {"workspace": text("where, in its normal form"), "ts_ms": moment_ms("when")})
_CHANGE = ResponseSchema(
    "Change",
    {
        "seq": integer("its number, which only rises"),
        "workspace": text("where, in its normal form", optional=True),
        "tool": text("which tool made it"),
        "address": text("the id of the changed object", optional=True),
        "ts_ms": moment_ms("when"),
        "by": text("who made it, if known", optional=True),
    },
    table=(
        TableColumn("seq"),
        TableColumn("ts_ms", "when"),
        TableColumn("tool"),
        TableColumn("workspace"),
        TableColumn("by", min_width=8, unless=None),
        TableColumn("address", min_width=12),
    ),
)


@operation(
    idempotent=True,
    visible=False,
    single_statement=True,  # the number of the last change must be older than the snapshot of the rest
    answers={
        "counts": map_of(integer(""), "how much there is of each family; entries of documents for reasoning"),
        "days": list_of(_DAY, "the changes of each day on which there was one, oldest first", shown="answer"),
        "last": object_of(_LAST, "the last change, if no `workspace` is given", optional=True, shown="apart"),
        "seq": integer("the number of the last change, 0 if there was none"),
    },
    example="moss activity --days 7",
)
def moss_activity(tx: ReadTransaction, *, workspace: Workspace | None = None, days: Period = 63) -> dict[str, Any]:
    """Count the rows of each family, and the changes on each of the last days, at most 366."""
    where = None if workspace is None else normalize_workspace(workspace)
    enabled = [name for name in _FAMILIES if name not in tx.config.disabled_types]
    first_day = tx.now_ms // _DAY_MS - min(days, _DAYS_MAX) + 1
    seq = tx.value(sql["last_change"])  # before the counts, which may include later changes
    counts = {name: _count(tx, name, where) for name in enabled}
    answer: dict[str, Any] = {"counts": counts, "days": _days(tx, first_day, where, enabled), "seq": seq}
    if where is None:
        last = tx.row("select workspace, ts_ms from events where workspace is not null order by seq desc limit 1")
        if last is not None:
            answer["last"] = dict(zip(_LAST.fields, last, strict=True))
    return answer


@operation(
    idempotent=True,
    visible=False,
    single_statement=True,  # the number of the last change must be older than the snapshot of the rest
    answers={
        "seq": integer("the number of the last change, 0 if there was none"),
        "changes": list_of(_CHANGE, "the changes, oldest first; none without `after`", shown="answer"),
        "has_more": flag("whether more follow"),
    },
    example="moss changes --after 100",
)
def moss_changes(tx: ReadTransaction, *, after: After | None = None, limit: Limit = 100) -> dict[str, Any]:
    """List the changes after a known one, oldest first; without `after` return only the number of the last one."""
    page = Page(limit, 0, maximum=1000)
    last = tx.value(sql["last_change"])
    if after is None:
        return {"seq": last, "changes": [], "has_more": False}
    changes: list[dict[str, Any]] = []
    for row in tx.stream(sql["changes"], {"after": after, "last": last}):
        change = dict(zip(_CHANGE.fields, row, strict=True))
        if family_of(change["tool"]) not in tx.config.disabled_types:
            changes.append({name: value for name, value in change.items() if value is not None})
        if len(changes) > page.limit:
            break
    return {"seq": last, "changes": changes[: page.limit], "has_more": len(changes) > page.limit}


def _count(tx: ReadTransaction, family: str, workspace: str | None) -> int:
    parameters = {"now": tx.now, "workspace": workspace}
    if family == "reasoning":
        own = " where branch_id in (select branch_id from branches where workspace_norm = :workspace)"
        return int(tx.value("select count(*) from doc_entries" + (own if workspace is not None else ""), parameters))
    table, active, deleted, uncounted = _COUNTS[family]

    def rows(*where: str) -> int:
        condition = " and ".join(filter(None, where))
        return int(tx.value(f"select count(*) from {table}{condition and ' where '}{condition}", parameters))

    if workspace is not None:
        own = "workspace_norm = :workspace"
        return rows(active, own) - (rows(active, uncounted, own) if uncounted else 0)
    # An unfiltered count reads no rows, so the time does not grow with the store.
    return rows() - (rows(deleted) if deleted else 0) - (rows(active, uncounted) if uncounted else 0)


def _days(tx: ReadTransaction, first_day: int, workspace: str | None, enabled: list[str]) -> list[dict[str, Any]]:
    import time

    rows = tx.stream(
        "select day, tool, changes from activity where workspace = :workspace and day >= :first order by day, tool",
        {"workspace": workspace or "", "first": first_day},
    )
    days: dict[int, dict[str, int]] = {}
    families: dict[str, str] = {}
    for day, tool, changes in rows:
        family = families.get(tool) or families.setdefault(tool, family_of(tool))
        if family in enabled:
            days.setdefault(day, dict.fromkeys(enabled, 0))[family] += changes
    return [{"day": time.strftime("%Y-%m-%d", time.gmtime(day * 86_400)), **counts} for day, counts in days.items()]


def family_of(tool: str) -> str:
    """Return the family that a tool changes; tools over several families count as capsule."""
    return next((family.name for family in TOOL_GROUPS.values() if family.has(tool)), "") or "capsule"
