"""Undelete: restores soft-deleted rows by id, by name or by filters; shared by the families."""

from __future__ import annotations

from moss_memory.errors import MossError, next_call
from moss_memory.registry.responses import FINDINGS, ResponseSchema, TableColumn, flag, integer, list_of, text

from .list_filters import filters_from
from .lookup import Address
from .names import reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.registry.responses import Field
    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .versions import Versioned

_SKIPPED = ResponseSchema(
    "SkippedRow",
    {"id": text("ULID"), "code": text("why it stays deleted: NAME_ALREADY_EXISTS")},
    table=(TableColumn("id"), TableColumn("code")),
)
_COLUMNS = ("id", "workspace_raw", "workspace_norm", "name_raw", "name_norm")


def restore_filters(*fields: str) -> dict[str, Any]:
    """Return the schema of a restore's `filters`: the fields of the family's bulk tools and `deleted_after`."""
    properties: dict[str, Any] = {name: {"type": "string"} for name in fields}
    properties["deleted_after"] = {"type": "integer", "description": "seconds"}
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "description": "all deleted ones that match",
    }


def restore_sentence(answer: dict[str, Any], _: dict[str, Any]) -> str | None:
    """Return the sentence that confirms the restore of one row."""
    return "Restored {it}." if answer.get("restored") else None


def answers_of_restore(key: Field) -> dict[str, Field]:
    return {
        "restored": flag("of one: true", optional=True),
        "id": text("ULID", optional=True),
        "fetch_key": key.or_absent(),
        "restored_count": integer("of many: how many were brought back", optional=True),
        "skipped": list_of(_SKIPPED, "of many: rows with a name that another one has", optional=True),
        **FINDINGS,
    }


def restore_deleted(
    tx: Transaction,
    versioned: Versioned,
    *,
    id: str | None,
    workspace: str | None,
    name: str | None,
    filters: dict[str, Any] | None,
) -> dict[str, Any]:
    """Restore one deleted row, or all that match the filters; a row whose name is taken stays deleted."""
    if filters is None:
        return _restore_one(tx, versioned, Address(id, workspace, name))
    if id is not None or name is not None or workspace is not None:
        raise MossError(
            "AMBIGUOUS_ADDRESSING",
            "`filters` are given together with `id`, `name` or `workspace`; give either an address or filters",
        )
    return _restore_all(tx, versioned, filters)


def _restore_one(tx: Transaction, versioned: Versioned, address: Address) -> dict[str, Any]:
    if address.id is None:
        where = "where workspace_norm = :workspace_norm and name_norm = :name_norm"
        values = {"workspace_norm": address.workspace_norm, "name_norm": address.name_norm}
    else:
        where, values = "where id = :id", {"id": address.id}
    row = next(_stream_deleted(tx, versioned, where, values), None)
    if row is None:
        # The caller may look for an earlier version.
        family, present = versioned.family, versioned.rows.find(tx, address, also=versioned.visible_condition)
        raise MossError(
            "CONFLICT",
            f"this {family} is not deleted; `moss_history` lists its versions, `moss_revert` goes back to one",
            recovery=next_call("moss_history", {"type": family, "id": present["id"]}, "lists its earlier versions"),
        )
    refuse_taken_name(tx, versioned, row, "rename or delete that one first")
    _clear_deletion(tx, versioned, row["id"])
    tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    answer = {"restored": True, "id": row["id"], **reference(versioned.rows.noun, row)}
    return answer | _findings(tx, versioned, [row])


def _stream_deleted(
    tx: ReadTransaction, versioned: Versioned, where: str, values: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Return the deleted rows, last deleted first, without expired ones, which would stay hidden."""
    alive = f" and {versioned.visible_condition}" if versioned.visible_condition else ""
    tx.begin()
    rows = tx.stream(
        f"select {', '.join(_COLUMNS)} from {versioned.rows.table} {where} and deleted_at is not null{alive}"
        " order by deleted_at desc, change_seq desc",
        {**values, "now": tx.now},
    )
    return (dict(zip(_COLUMNS, row, strict=True)) for row in rows)


def _restore_all(tx: Transaction, versioned: Versioned, filter_values: dict[str, Any]) -> dict[str, Any]:
    """Restore every deleted row that matches, in their order; of several with one name the last deleted one."""
    deleted_after = filter_values.get("deleted_after")
    filters = filters_from(
        tx, strict=True, **{name: filter_values[name] for name in filter_values if name != "deleted_after"}
    )
    if deleted_after is not None:
        filters.add("deleted_after", str(deleted_after), "deleted_at >= :f_after", f_after=deleted_after)
    if not filters.named:
        raise MossError("FILTER_REQUIRED", "`filters` is empty; give at least one, or the address of one row")
    chosen: list[dict[str, Any]] = []
    skipped: list[dict[str, str]] = []
    names: set[tuple[str, str]] = set()
    for row in list(_stream_deleted(tx, versioned, filters.where(), filters.parameters)):
        tx.check_cancelled()
        full_name = (row["workspace_norm"], row["name_norm"])
        if full_name in names or not is_name_available(tx, versioned, row):
            skipped.append({"id": row["id"], "code": "NAME_ALREADY_EXISTS"})
            continue
        chosen.append(row)
        if row["name_norm"] is not None:
            names.add(full_name)
    for row in reversed(chosen):
        _clear_deletion(tx, versioned, row["id"])
    if chosen:  # otherwise the filter is any text of the caller
        tx.set_event_subject(workspace=filters.parameters.get("f_workspace"))
    workspace = {"workspace": filter_values["workspace"]} if filter_values.get("workspace") else {}
    return {"restored_count": len(chosen), "skipped": skipped, **workspace, **_findings(tx, versioned, chosen)}


def _findings(tx: ReadTransaction, versioned: Versioned, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the suspected credentials in restored rows."""
    from moss_memory.secrets.scanner import findings_fields

    whole = (versioned.rows.find(tx, Address(row["id"], None, None)) for row in rows)
    return findings_fields([finding for row in whole for finding in versioned.findings(row)])


def _clear_deletion(tx: Transaction, versioned: Versioned, id: str) -> None:
    tx.run(versioned.sql["restore"], {"id": id, "now": tx.now, "change_seq": tx.next_change()})


def refuse_taken_name(tx: Transaction, versioned: Versioned, row: dict[str, Any], what_to_do: str) -> None:
    if not is_name_available(tx, versioned, row):
        raise versioned.rows.name_taken_error(row["workspace_raw"], row["name_raw"], what_to_do)


def is_name_available(tx: Transaction, versioned: Versioned, row: dict[str, Any]) -> bool:
    """Return True if no other active row has this row's name; soft-delete an expired row that has it."""
    if row["name_raw"] is None:
        return True
    owner = versioned.rows.find_or_none(tx, Address(None, row["workspace_raw"], row["name_raw"]))
    if owner is None or owner["id"] == row["id"]:
        return True
    if not versioned.rows.has_expired(owner, tx.now):
        return False
    versioned.soft_delete(tx, owner["id"])
    return True
