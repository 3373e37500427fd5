"""Suggestions for a name that was not found: the same name in other workspaces, and similar names."""

from __future__ import annotations

from .names import normalize_name, normalize_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

    from .list_filters import ListFilters
    from .lookup import Address, AddressedRows

MOST_ELSEWHERE = 5
MOST_NEAREST = 3
NAMES_READ = 2_000
"""The number of newest names that are compared: bounds the time to some milliseconds."""
WORKSPACES_READ = 10_000

WORKSPACES = (
    "with recursive workspaces (workspace_norm, place) as ("
    "select min(workspace_norm), 1 from {table} where {alive} union all "
    "select (select min({table}.workspace_norm) from {table} where {alive}"
    " and {table}.workspace_norm > workspaces.workspace_norm), place + 1 from workspaces"
    " where workspaces.workspace_norm is not null and place < :workspaces_read) "
)
"""Every workspace of a table, each by one lookup in an index that begins with it."""

_NEWEST = "order by {table}.updated_at desc, {table}.change_seq desc"


def same_name(tx: ReadTransaction, table: str, address: Address, *, also: str = "") -> list[dict[str, str]]:
    """Return the rows with the same name in other workspaces, newest first."""
    alive = f"{table}.name_norm is not null and {table}.deleted_at is null"
    statement = (
        f"{WORKSPACES.format(table=table, alive=alive)}select {table}.workspace_raw, {table}.name_raw "
        f"from workspaces join {table} on {table}.workspace_norm = workspaces.workspace_norm "
        f"and {table}.name_norm = :name_norm where {alive}{_and(also)} "
        f"and workspaces.workspace_norm <> :workspace_norm {_NEWEST.format(table=table)} limit :most"
    )
    names = {"workspace_norm": address.workspace_norm, "name_norm": address.name_norm}
    parameters = _parameters(tx, also, **names, workspaces_read=WORKSPACES_READ, most=MOST_ELSEWHERE)
    return [{"workspace": workspace, "name": name} for workspace, name in tx.rows(statement, parameters)]


def renamed_to(tx: ReadTransaction, rows: AddressedRows, address: Address, *, also: str = "") -> dict[str, str] | None:
    """Return the present address of the row that had this address last, by the newest versions, or None."""
    table = rows.table
    statement = (
        f"select old.workspace_raw, old.name_raw, {table}.workspace_raw, {table}.name_raw from (select subject, "
        "row_id, workspace_raw, name_raw from versions where family = :family and name_raw is not null "
        f"order by row_id desc limit :most) as old join {table} on {table}.row_id = old.subject "
        f"where {table}.deleted_at is null and {table}.name_raw is not null{_and(also)} "
        f"and (old.name_raw <> {table}.name_raw or old.workspace_raw <> {table}.workspace_raw) order by old.row_id desc"
    )
    old_address = (address.workspace_norm, address.name_norm)
    for old_workspace, old_name, workspace, name in tx.rows(
        statement, _parameters(tx, also, family=rows.noun, most=NAMES_READ)
    ):
        if (normalize_workspace(old_workspace), normalize_name(old_name)) == old_address:
            return {"workspace": workspace, "name": name}
    return None


def newest_elsewhere(tx: ReadTransaction, filters: ListFilters, workspace_norm: str) -> list[dict[str, Any]]:
    """Return the newest capsule that matches the filters in each other workspace, newest first."""
    newest = filters.where("capsules.workspace_norm = workspaces.workspace_norm", "deleted_at is null")
    order = _NEWEST.format(table="capsules")
    statement = (
        f"{WORKSPACES.format(table='capsules', alive='capsules.deleted_at is null')}"
        "select capsules.workspace_raw, capsules.id, capsules.name_raw, capsules.updated_at from workspaces "
        f"join capsules on capsules.id = (select capsules.id from capsules {newest} {order} limit 1) "
        f"where workspaces.workspace_norm <> :workspace_norm {order} limit :most"
    )
    limits = {"workspaces_read": WORKSPACES_READ, "most": MOST_ELSEWHERE}
    parameters = {**filters.parameters, "workspace_norm": workspace_norm, **limits}
    capsules = []
    for workspace, known_as, name, updated_at in tx.rows(statement, parameters):
        name_field = {} if name is None else {"name": name}
        capsules.append({"workspace": workspace, "id": known_as, **name_field, "updated_at": updated_at})
    return capsules


def nearest_names(tx: ReadTransaction, table: str, address: Address, *, also: str = "") -> list[dict[str, str]]:
    """Return the most similar names in all workspaces, closest first, the own workspace before others."""
    statement = (
        f"select workspace_raw, name_raw, name_norm, workspace_norm from {table} where name_norm is not null "
        f"and deleted_at is null{_and(also)} {_NEWEST.format(table=table)} limit :most"
    )
    distance = distance_to(address.name_norm)
    ranked = []
    rows = tx.rows(statement, _parameters(tx, also, most=NAMES_READ))
    for age, (workspace, name, name_norm, workspace_norm) in enumerate(rows):
        bound = max_distance(len(address.name_norm), len(name_norm))
        if abs(len(name_norm) - len(address.name_norm)) <= bound and 0 < (apart := distance(name_norm)) <= bound:
            ranked.append((apart, workspace_norm != address.workspace_norm, age, workspace, name))
    return [{"workspace": workspace, "name": name} for *_, workspace, name in sorted(ranked)[:MOST_NEAREST]]


def _parameters(tx: ReadTransaction, also: str, **parameters: Any) -> dict[str, Any]:
    return {**parameters, "now": tx.now} if also else parameters


def _and(also: str) -> str:
    return f" and {also}" if also else ""


def max_distance(one: int, other: int) -> int:
    """Return the maximum edit distance of similar names: a third of the longer, less than the shorter."""
    return min((max(one, other) + 2) // 3, min(one, other) - 1)


def distance_to(name: str) -> Callable[[str], int]:
    """Return a function that computes the edit distance of another name to this one.

    All cells of a column of the matrix are bits of one number (Myers 1999): 10 µs instead of 100 with a loop.
    """
    bits_by_letter: dict[str, int] = {}
    for bit, letter in enumerate(name):
        bits_by_letter[letter] = bits_by_letter.get(letter, 0) | 1 << bit
    size, last, whole = len(name), 1 << (len(name) - 1), (1 << len(name)) - 1

    def distance(other: str) -> int:
        rises, falls, apart = whole, 0, size
        for letter in other:
            same = bits_by_letter.get(letter, 0)
            level = same | falls
            carried = (((same & rises) + rises) ^ rises) | same
            up, down = falls | ~(carried | rises), rises & carried
            apart += 1 if up & last else -1 if down & last else 0
            up, down = up << 1 | 1, down << 1
            rises, falls = (down | ~(level | up)) & whole, up & level & whole
        return apart

    return distance
