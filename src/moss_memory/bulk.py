"""Changing and purging many rows at once: what the families do in bulk, each in one statement."""

from __future__ import annotations

from .answers import flag, integer, text
from .errors import MossError, invalid, marked
from .filters import Filters, filters_from
from .values import counted, label, tags_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .storage.engine import ReadTransaction, Transaction

    NewPhase = str
    NewRole = str
else:
    NewPhase = {"type": "string", "description": '"" clears'}
    NewRole = {"type": "string", "description": '"" clears'}


def required_filters(tx: ReadTransaction, *, code: str = "INVALID_REQUEST", **given: str | None) -> Filters:
    """The filters of a bulk change: at least one, and no blank one, so that nothing is ever changed by mistake."""
    filters = filters_from(tx, strict=True, **given)
    if not filters.named:
        raise MossError(code, f"at least one filter is needed: {marked(given)}")
    return filters


def new_labels(set_phase: str | None, set_role: str | None, set_tags: list[str] | None) -> dict[str, Any]:
    """The columns that a bulk update sets; an empty string or list clears one, none leaves it."""
    changes: dict[str, Any] = {}
    for name, value in (("phase", set_phase), ("role", set_role)):
        if value is not None:
            changes[name] = label(value, what=f"set_{name}")
    if set_tags is not None:
        changes["tags_json"] = tags_json(set_tags, what="set_tags")
    return changes


def change_all(tx: Transaction, table: str, filters: Filters, changes: dict[str, Any], *alive: str) -> int:
    """Sets columns of every matching row that is not deleted, in one statement, keeping their order."""
    assignments = ", ".join(f"{column} = :new_{column}" for column in changes)
    # A row's number among the matching ones keeps the order that the rows had before.
    numbered = (
        "select row_id, row_number() over (order by updated_at, change_seq) as place "
        f"from {table} {filters.where('deleted_at is null', *alive)}"
    )
    count = tx.run(
        f"update {table} set {assignments}, updated_at = greatest(updated_at, :now), "
        f"change_seq = :change + chosen.place from ({numbered}) as chosen where {table}.row_id = chosen.row_id",
        {
            **filters.parameters,
            **{f"new_{column}": value for column, value in changes.items()},
            "now": tx.now,
            "change": tx.next_change(),
        },
    )
    tx.next_change(count)
    tx.concerns(workspace=filters.parameters.get("f_workspace"))
    return count


PURGED = {
    "purged": integer("how many were removed"),
    "message": text("the same in a sentence"),
    "erased": flag("false while a reader still holds their bytes; the next write removes them"),
}
"""What a purge answers."""


def purge(tx: Transaction, table: str, noun: str, filters: Filters, older_than_days: int | None) -> dict[str, Any]:
    """Removes soft-deleted rows for good: from the table, the search index and the disk."""
    if older_than_days is not None and older_than_days < 0:
        raise invalid("`older_than_days` is negative; 0 means all", path="older_than_days")
    if older_than_days:
        before = tx.now - min(older_than_days * 86_400, 2**62)
        filters.add("older_than_days", str(older_than_days), "deleted_at <= :f_before", f_before=before)
    purged = tx.run(f"delete from {table} {filters.where('deleted_at is not null')}", filters.parameters)
    tx.concerns(workspace=filters.parameters.get("f_workspace"))
    answer: dict[str, Any] = {
        "purged": purged,
        "message": f"Permanently deleted {counted(purged, noun)}",
        "erased": True,
    }
    tx.erase_after_commit(answer, anything=purged > 0)
    return answer
