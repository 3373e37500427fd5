"""Bulk changes and purges of rows, shared by the families."""

from __future__ import annotations

from moss_memory.errors import MossError, backticked, invalid_request
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import YES, string
from moss_memory.registry.responses import flag, integer, text, texts

from .list_filters import ListFilters, filters_from
from .names import normalize_label, pluralize, tags_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .versions import Versioned

DryRun = Annotated[bool, "only count"]
NewPhase = Annotated[str, '"" clears']
NewRole = Annotated[str, '"" clears']

_BATCH_ROWS = 50
"""The rows that a purge deletes before it yields the lock."""
IDS_SHOWN = 20
"""The maximum number of ids in the answer of a dry run."""


def required_filters(tx: ReadTransaction, *, code: str = "INVALID_REQUEST", **given: str | None) -> ListFilters:
    """Return the filters of a bulk change; refuse a blank one, and a call without any."""
    filters = filters_from(tx, strict=True, **given)
    if not filters.named:
        raise MossError(code, f"at least one filter is needed: {backticked(given)}")
    return filters


def new_labels(set_phase: str | None, set_role: str | None, set_tags: list[str] | None) -> dict[str, Any]:
    """Return the columns that a bulk update sets; an empty string or list clears one, None leaves it."""
    changes: dict[str, Any] = {}
    for name, value in (("phase", set_phase), ("role", set_role)):
        if value is not None:
            changes[name] = normalize_label(value, what=f"set_{name}")
    if set_tags is not None:
        changes["tags_json"] = tags_json(set_tags, what="set_tags")
    return changes


def change_all(
    tx: Transaction,
    versioned: Versioned,
    filters: ListFilters,
    changes: dict[str, Any],
    *,
    dry_run: bool,
    as_versions: bool = False,
) -> tuple[int, dict[str, Any]]:
    """Set columns of every matching row that is not deleted, in one statement, and keep their order.

    Return the number of rows and the further fields of a dry run's answer; a dry run only counts. With `as_versions`
    every row gets its next version, and the previous one is stored.
    """
    table = versioned.rows.table
    alive = filters.where("deleted_at is null", *([versioned.visible_condition] if versioned.visible_condition else []))
    tx.begin()
    values = {**filters.parameters, "now": tx.now}
    if dry_run:
        return _count_and_list(tx, table, alive, values)
    assignments = [f"{column} = :new_{column}" for column in changes]
    if as_versions:
        versioned.archive_and_trim(tx, alive, values)
        assignments += ["version = version + 1", "version_at = greatest(version_at, :now)", "version_tool = :tool"]
        assignments += ["version_origin = :origin", "confirmed_origin = coalesce(confirmed_origin, version_origin)"]
        values["origin"] = tx.origin_key()
    values |= {"tool": tx.tool, "change": tx.next_change()}
    # Numbered by their previous order, which they keep.
    numbered = f"select row_id, row_number() over (order by updated_at, change_seq) as place from {table} {alive}"
    count = tx.run(
        f"update {table} set {', '.join(assignments)}, updated_at = greatest(updated_at, :now), "
        f"change_seq = :change + chosen.place from ({numbered}) as chosen where {table}.row_id = chosen.row_id",
        values | {f"new_{column}": value for column, value in changes.items()},
    )
    tx.next_change(count)
    if count:  # otherwise the filter is any text of the caller
        tx.set_event_subject(workspace=filters.parameters.get("f_workspace"))
    return count, {}


DRY_RUN = {
    "dry_run": flag("true: nothing was changed", optional=True),
    "ids": texts("of a dry run: the first 20 that it would change", optional=True),
}
"""The further fields of a dry run's answer."""

SCOPE = text(
    "`database` if a server has the store: its log, its standbys and its backups may hold the bytes for longer",
    optional=True,
)
"""The field with the reach of an erasure."""

PURGE_OPTIONS = {
    **YES,
    "type": string("the family: artifact, reasoning, task or record; capsule if left out"),
}
"""The options of the command `moss purge`, which calls the purge of the family."""

PURGED = {
    "purged": integer("how many were removed"),
    "message": text("the same in a sentence"),
    "erased": flag("false while a reader still holds their bytes; the next write removes them"),
    "complete": flag("false if it was interrupted: the others are there as before", optional=True),
    "scope": SCOPE,
    **DRY_RUN,
}
"""The answer of a purge."""


def _count_and_list(tx: ReadTransaction, table: str, where: str, values: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the number of matching rows, and the fields of a dry run with the ids of the rows changed last."""
    count: int = tx.value(f"select count(*) from {table} {where}", values)
    order = "order by updated_at desc, change_seq desc"
    ids = tx.rows(f"select id from {table} {where} {order} limit :most", {**values, "most": IDS_SHOWN})
    return count, {"dry_run": True, "ids": [found_id for (found_id,) in ids]}


def is_not_dry_run(values: dict[str, Any]) -> bool:
    return not values.get("dry_run")


def deleted_before(tx: ReadTransaction, older_than_days: int | None) -> int | None:
    """Return the deletion time up to which rows are purged; None if all deleted rows are."""
    if older_than_days is not None and older_than_days < 0:
        raise invalid_request("`older_than_days` is negative; 0 means all", path="older_than_days")
    if not older_than_days:
        return None
    tx.begin()
    return tx.now - min(older_than_days * 86_400, 2**52)


def purge_deleted(
    tx: Transaction, versioned: Versioned, filters: ListFilters, older_than_days: int | None, *, dry_run: bool
) -> dict[str, Any]:
    """Delete soft-deleted rows and their versions from the table, the search index and the disk.

    Rows are deleted in batches with the lock yielded in between; a cancelled call leaves the others.
    """
    before = deleted_before(tx, older_than_days)
    if before is not None:
        filters.add("older_than_days", str(older_than_days), "deleted_at <= :f_before", f_before=before)
    table, where = versioned.rows.table, filters.where("deleted_at is not null")
    if dry_run:
        count, remarks = _count_and_list(tx, table, where, filters.parameters)
        message = f"Would permanently delete {pluralize(count, versioned.family)}"
        return {"purged": count, "message": message, "erased": False, **tx.erasure_scope, **remarks}
    answer: dict[str, Any] = {"purged": 0, "message": "", "erased": True}
    batch = f"select row_id from {table} {where} order by row_id limit {_BATCH_ROWS}"
    complete = False
    while not complete:
        deleted = tx.run(f"delete from {table} where row_id in ({batch})", filters.parameters)
        answer["purged"] += deleted
        if answer["purged"]:
            tx.set_event_subject(workspace=filters.parameters.get("f_workspace"))
        tx.erase_after_commit(answer, field="erased", anything=deleted > 0)
        tx.progress(answer["purged"])
        complete = deleted < _BATCH_ROWS
        if not complete and not tx.yield_lock():
            answer["complete"] = False
            break
    answer["message"] = f"Permanently deleted {pluralize(answer['purged'], versioned.family)}"
    if not complete:
        answer["message"] += "; there are more, purge again"
    return answer
