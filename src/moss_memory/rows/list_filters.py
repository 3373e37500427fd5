"""The filters of lists and bulk changes, shared by the families."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request

from .names import normalize_label, normalize_name, normalize_workspace, prefix_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

ALIVE, DELETED = "deleted_at is null", "deleted_at is not null"


class ListFilters:
    """Conditions as a where-list; never `(:x is null or …)`, which would prevent the use of indexes."""

    __slots__ = ("conditions", "named", "parameters")

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.parameters: dict[str, Any] = {}
        self.named: list[tuple[str, str]] = []

    def add(self, name: str, value: str, condition: str, **parameters: Any) -> None:
        """Add a condition; messages show its name and value."""
        self.named.append((name, value))
        self.conditions.append(condition)
        self.parameters.update(parameters)

    def __contains__(self, name: str) -> bool:
        return any(name == filter_name for filter_name, _ in self.named)

    def only(self, *names: str) -> ListFilters:
        """Return the filters of these names, with all parameters."""
        selected = ListFilters()
        pairs = [
            (entry, condition)
            for entry, condition in zip(self.named, self.conditions, strict=True)
            if entry[0] in names
        ]
        selected.named, selected.conditions = [entry for entry, _ in pairs], [condition for _, condition in pairs]
        selected.parameters = self.parameters
        return selected

    def without(self, name: str) -> ListFilters:
        """Return all filters except those of a name, with all parameters."""
        return self.only(*[filter_name for filter_name, _ in self.named if filter_name != name])

    def where(self, *more: str) -> str:
        conditions = [*self.conditions, *more]
        return "where " + " and ".join(conditions) if conditions else ""

    def as_text(self) -> str:
        return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.named)


def select_with_deleted(table: str, columns: str, living: str, deleted: str, order: str) -> str:
    """Return the SQL of a page of active and deleted rows, given the SQL of the `row_id` of each in that order.

    The indexes are partial, on active rows: one query for both would read the whole table. `:most` is the number of
    rows up to the end of this page.
    """
    both = f"select row_id from ({living} limit :most) active union all select row_id from ({deleted} limit :most) gone"
    return f"select {columns} from {table} where row_id in ({both}) {order} limit :limit offset :offset"


def filters_from(
    tx: ReadTransaction,
    *,
    strict: bool = False,
    workspace: str | None = None,
    tag: str | None = None,
    name_prefix: str | None = None,
    **labels: str | None,
) -> ListFilters:
    """Return the filters of a call; `labels` are columns compared for equality. `strict` refuses a blank one."""
    filters = ListFilters()
    if workspace is not None:
        filters.add("workspace", workspace, "workspace_norm = :f_workspace", f_workspace=normalize_workspace(workspace))
    if tag is not None and (trimmed := _trim("tag", tag, strict)):
        filters.add("tag", trimmed, tx.sql_json_contains("tags_json", "f_tag"), f_tag=trimmed)
    if name_prefix is not None and (strict or name_prefix.strip()):
        # A trailing space is part of the prefix: without it "my " would also match "myth".
        space = " " if name_prefix[-1:].isspace() and name_prefix.strip() else ""
        low, high = prefix_range(normalize_name(name_prefix, what="name_prefix") + space)
        condition = "name_norm >= :f_prefix and name_norm < :f_prefix_end"
        filters.add("name_prefix", name_prefix, condition, f_prefix=low, f_prefix_end=high)
    for name, value in labels.items():
        if value is not None and (trimmed := _trim(name, value, strict)):
            filters.add(name, trimmed, f"{name} = :f_{name}", **{f"f_{name}": trimmed})
    return filters


def _trim(name: str, value: str, strict: bool) -> str | None:
    trimmed = normalize_label(value, what=name)
    if trimmed is None and strict:
        raise invalid_request(f"`{name}` is blank; give it a value or leave it out", path=name)
    return trimmed
