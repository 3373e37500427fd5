"""Conditions that callers set on lists and bulk changes, and the changes themselves, shared by the families."""

from __future__ import annotations

import json

from .errors import MossError, invalid
from .values import label, normalize, prefix_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .storage.engine import ReadTransaction, Transaction


class Filters:
    """Conditions as a where-list; never `(:x is null or …)`, which would forgo the indexes."""

    __slots__ = ("conditions", "named", "parameters")

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.parameters: dict[str, Any] = {}
        self.named: list[tuple[str, str]] = []

    def add(self, name: str, value: str, condition: str, **parameters: Any) -> None:
        """One more condition, with the name and value that messages show."""
        self.named.append((name, value))
        self.conditions.append(condition)
        self.parameters.update(parameters)

    def where(self, *more: str) -> str:
        """The where clause of all conditions and some more."""
        conditions = [*self.conditions, *more]
        return "where " + " and ".join(conditions) if conditions else ""

    def shown(self) -> str:
        """The filters as a message shows them."""
        return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.named)


def filters_from(
    tx: ReadTransaction,
    *,
    strict: bool = False,
    workspace: str | None = None,
    tag: str | None = None,
    name_prefix: str | None = None,
    **labels: str | None,
) -> Filters:
    """The filters a caller gave; `labels` are columns compared as they are. `strict` refuses a blank one."""
    filters = Filters()
    if workspace is not None:
        norm = normalize(workspace, what="workspace")
        filters.add("workspace", workspace, "workspace_norm = :f_workspace", f_workspace=norm)
    if tag is not None and (trimmed := _present("tag", tag, strict)):
        filters.add("tag", trimmed, tx.contains_tag("tags_json", "f_tag"), f_tag=trimmed)
    if name_prefix is not None and (strict or name_prefix.strip()):
        # A space at the end is part of the prefix: without it "my " would also mean "myth".
        space = " " if name_prefix[-1:].isspace() and name_prefix.strip() else ""
        low, high = prefix_range(normalize(name_prefix, what="name_prefix") + space)
        condition = "name_norm >= :f_prefix and name_norm < :f_prefix_end"
        filters.add("name_prefix", name_prefix, condition, f_prefix=low, f_prefix_end=high)
    for name, value in labels.items():
        if value is not None and (trimmed := _present(name, value, strict)):
            filters.add(name, trimmed, f"{name} = :f_{name}", **{f"f_{name}": trimmed})
    return filters


def required_filters(tx: ReadTransaction, *, code: str = "INVALID_REQUEST", **given: str | None) -> Filters:
    """The filters of a bulk change: at least one, and no blank one, so that nothing is ever changed by mistake."""
    filters = filters_from(tx, strict=True, **given)
    if not filters.named:
        raise MossError(code, f"at least one filter is needed: {', '.join(given)}")
    return filters


def _present(name: str, value: str, strict: bool) -> str | None:
    trimmed = label(value, what=name)
    if trimmed is None and strict:
        raise invalid(f"{name} is blank; give it a value or leave it out", path=name)
    return trimmed


def change_all(tx: Transaction, table: str, filters: Filters, changes: dict[str, Any], *alive: str) -> int:
    """Sets columns of every matching row that is not deleted, in one statement, keeping their order."""
    assignments = ", ".join(f"{column} = :new_{column}" for column in changes)
    # A row's number among the matching ones keeps the order that the rows had before.
    numbered = (
        "select row_id, row_number() over (order by updated_at, change_seq) as place "
        f"from {table} {filters.where('deleted_at is null', *alive)}"
    )
    count = tx.run(
        f"update {table} set {assignments}, updated_at = max(updated_at, :now), "
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


def purge(tx: Transaction, table: str, noun: str, filters: Filters, older_than_days: int | None) -> dict[str, Any]:
    """Removes soft-deleted rows for good: from the table, the search index and the disk."""
    if older_than_days is not None and older_than_days < 0:
        raise invalid("older_than_days is negative; 0 means all", path="older_than_days")
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


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 capsule`, `3 capsules`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
