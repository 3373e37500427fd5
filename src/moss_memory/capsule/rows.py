"""How capsules are addressed, filtered, read from their rows and shown."""

from __future__ import annotations

import json

from ..errors import MossError, invalid, next_call
from ..storage.queries import load_queries
from ..values import DEFAULT_WORKSPACE, label, normalize, prefix_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction, Row

SUMMARY_COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_chars", "tokens_estimate",
    "tags_json", "source", "run_id", "phase", "role", "created_at", "updated_at", "deleted_at",
)  # fmt: skip
FULL_COLUMNS = (*SUMMARY_COLUMNS, "capsule_text")
NEWEST_FIRST = "order by updated_at desc, change_seq desc"

summary_columns = ", ".join(SUMMARY_COLUMNS)
full_columns = ", ".join(FULL_COLUMNS)
sql = load_queries(__file__)
_full_sql = {name: query.replace("{columns}", full_columns) for name, query in sql.items()}


class Address:
    """What one capsule is asked for by: its id, or its workspace and name."""

    __slots__ = ("id", "name", "name_norm", "workspace", "workspace_norm")

    def __init__(self, id: str | None, workspace: str | None, name: str | None, *, at: str = "") -> None:
        if id is not None:
            if name is not None or workspace is not None:
                raise _ambiguous(at)
            if not id.strip():
                raise invalid(f"{at}id is blank; give the capsule's id, or its workspace and name", path=f"{at}id")
        elif name is None:
            raise invalid(f"{at}id or {at}name is needed to find a capsule", path=f"{at}name")
        self.id = id
        self.name = name
        self.workspace = workspace
        if name is not None:
            asked = DEFAULT_WORKSPACE if workspace is None else workspace
            self.workspace_norm = normalize(asked, what=f"{at}workspace")
            self.name_norm = normalize(name, what=f"{at}name")

    def shown(self) -> str:
        """The address as an error message shows it; a huge id is not repeated."""
        return self.id[:64] if self.id else f"{self.workspace or DEFAULT_WORKSPACE}/{self.name}"

    def arguments(self) -> dict[str, str]:
        """The address as a further call takes it."""
        if self.id is not None:
            return {"id": self.id}
        return {"workspace": self.workspace or DEFAULT_WORKSPACE, "name": self.name or ""}


def find(tx: ReadTransaction, address: Address, *, include_deleted: bool = False) -> dict[str, Any]:
    """The capsule at an address, every column by name; raises `NOT_FOUND` with the call that lists what there is."""
    row = find_or_none(tx, address, include_deleted=include_deleted)
    if row is None:
        raise not_found(address, include_deleted=include_deleted)
    return row


def find_or_none(tx: ReadTransaction, address: Address, *, include_deleted: bool = False) -> dict[str, Any] | None:
    if address.id is not None:
        row = tx.row(_full_sql["any_by_id" if include_deleted else "active_by_id"], {"id": address.id})
    else:
        key = {"workspace_norm": address.workspace_norm, "name_norm": address.name_norm}
        row = tx.row(_full_sql["any_by_name" if include_deleted else "active_by_name"], key)
    return None if row is None else dict(zip(FULL_COLUMNS, row, strict=True))


def not_found(address: Address, *, include_deleted: bool) -> MossError:
    if address.id is not None:
        recovery = next_call("capsule_inventory", {}, "lists every capsule with its id, name and workspace")
    else:
        workspace = address.workspace or DEFAULT_WORKSPACE
        recovery = next_call("capsule_list", {"workspace": workspace}, "lists the capsules of this workspace")
    hint = "" if include_deleted else "; a deleted one is shown with include_deleted"
    return MossError("NOT_FOUND", f"capsule not found: {address.shown()}{hint}", recovery=recovery)


def _ambiguous(at: str) -> MossError:
    return MossError(
        "AMBIGUOUS_ADDRESSING",
        f"{at}id stands beside {at}name or {at}workspace; give the id alone, or workspace and name",
    )


def fetch_key(row: dict[str, Any]) -> dict[str, str]:
    """What to put into a task's metadata so that another session finds this capsule again."""
    if row["name_raw"] is None:
        return {"moss_id": row["id"]}
    return {"moss_capsule": row["name_raw"], "moss_workspace": row["workspace_raw"]}


def shown(row: dict[str, Any], *, include_text: bool) -> dict[str, Any]:
    """A capsule as callers see it; what it does not have is left out."""
    item: dict[str, Any] = {
        "id": row["id"],
        "workspace": row["workspace_raw"],
        "workspace_norm": row["workspace_norm"],
    }
    if row["name_raw"] is not None:
        item["name"] = row["name_raw"]
        item["name_norm"] = row["name_norm"]
    if row["title"] is not None:
        item["title"] = row["title"]
    if include_text:
        item["capsule_text"] = row["capsule_text"]
    item["capsule_chars"] = row["capsule_chars"]
    item["tokens_estimate"] = row["tokens_estimate"]
    item["tags"] = json.loads(row["tags_json"]) if row["tags_json"] else []
    for key in ("source", "run_id", "phase", "role"):
        if row[key] is not None:
            item[key] = row[key]
    item["created_at"] = row["created_at"]
    item["updated_at"] = row["updated_at"]
    if row["deleted_at"] is not None:
        item["deleted_at"] = row["deleted_at"]
    item["fetch_key"] = fetch_key(row)
    return item


def summary(row: Row) -> dict[str, Any]:
    """A row of `summary_columns` as callers see it."""
    return shown(dict(zip(SUMMARY_COLUMNS, row, strict=True)), include_text=False)


class Filters:
    """Conditions that a caller set, as a where-list; never `(:x is null or …)`, which would forgo the indexes."""

    __slots__ = ("conditions", "named", "parameters")

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.parameters: dict[str, Any] = {}
        self.named: list[tuple[str, str]] = []

    def add(self, name: str, value: str, condition: str, **parameters: Any) -> None:
        self.named.append((name, value))
        self.conditions.append(condition)
        self.parameters.update(parameters)

    def where(self, *more: str) -> str:
        conditions = [*self.conditions, *more]
        return "where " + " and ".join(conditions) if conditions else ""

    def shown(self) -> str:
        return ", ".join(f'{name}="{value}"' for name, value in self.named)


def capsule_filters(
    tx: ReadTransaction,
    *,
    strict: bool = False,
    workspace: str | None = None,
    tag: str | None = None,
    name_prefix: str | None = None,
    run_id: str | None = None,
    phase: str | None = None,
    role: str | None = None,
) -> Filters:
    """The filters that list, inventory, search and the bulk tools share; `strict` refuses a blank one."""
    filters = Filters()
    if workspace is not None:
        norm = normalize(workspace, what="workspace")
        filters.add("workspace", workspace, "workspace_norm = :f_workspace", f_workspace=norm)
    if tag is not None and (trimmed := _present("tag", tag, strict)):
        filters.add("tag", trimmed, tx.contains_tag("tags_json", "f_tag"), f_tag=trimmed)
    if name_prefix is not None and (strict or name_prefix.strip()):
        low, high = prefix_range(normalize(name_prefix, what="name_prefix"))
        condition = "name_norm >= :f_prefix and name_norm < :f_prefix_end"
        filters.add("name_prefix", name_prefix, condition, f_prefix=low, f_prefix_end=high)
    for name, value in (("run_id", run_id), ("phase", phase), ("role", role)):
        if value is not None and (trimmed := _present(name, value, strict)):
            filters.add(name, trimmed, f"{name} = :f_{name}", **{f"f_{name}": trimmed})
    return filters


def _present(name: str, value: str, strict: bool) -> str | None:
    trimmed = label(value, what=name)
    if trimmed is None and strict:
        raise invalid(f"{name} is blank; give it a value or leave it out", path=name)
    return trimmed
