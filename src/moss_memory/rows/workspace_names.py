"""The names of the workspaces of a store: existing ones, similar ones, and the one that a call creates."""

from __future__ import annotations

from .suggestions import MOST_NEAREST, distance_to, max_distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

MAX_WORKSPACES = 500
"""The maximum number of workspaces that are read from each family."""

WORKSPACE_TABLES = {
    "capsule": "capsules where deleted_at is null",
    "artifact": "artifacts where deleted_at is null",
    "reasoning": "branches where true",
    "task": "tasks where true",
    "record": "records where true",
}
"""The tables of each family with an index that begins with the workspace."""

_NAMES = (
    "with recursive found(workspace_norm) as (select min(workspace_norm) from {table} union all "
    "select (select min(workspace_norm) from {table} and workspace_norm > found.workspace_norm) "
    "from found where found.workspace_norm is not null) "
    "select workspace_norm{more} from found where workspace_norm is not null limit :limit"
)
"""The workspaces of a table: each step looks up the next name in the index, so other rows are not read."""

_DELETED = ("capsules where deleted_at is not null", "artifacts where deleted_at is not null")
_ANYTHING = "select 1 where " + " or ".join(
    [
        f"exists (select 1 from {table} and workspace_norm = :workspace)"
        for table in (*WORKSPACE_TABLES.values(), "workspaces where true", *_DELETED)
    ]
)

_SPELLED = {
    table: f"select workspace_raw from {table} where workspace_norm = :workspace{order}"
    for table, order in {
        "capsules": " and deleted_at is null order by updated_at desc, change_seq desc limit 1",
        "artifacts": " and deleted_at is null order by updated_at desc, change_seq desc limit 1",
        "records": " order by row_id desc limit 1",
        "workspaces": "",
    }.items()
}
"""The original spelling of a workspace by the tables that have it, in the order of lookup."""

_SPELLED_BY = {"capsule": "capsules", "artifact": "artifacts", "record": "records"}
"""The table with the spellings of a family's workspaces, if it is not the one of all workspaces."""


def workspaces_of(tx: ReadTransaction, family: str) -> list[str]:
    """Return the normal forms of the workspaces of a family, at most `MAX_WORKSPACES`."""
    names = _NAMES.format(table=WORKSPACE_TABLES[family], more="")
    return [row[0] for row in tx.stream(names, {"limit": MAX_WORKSPACES})]


def spelled_workspaces(tx: ReadTransaction) -> dict[str, tuple[str, list[str]]]:
    """Return the last spelling of each workspace and its enabled families, by one statement for each family."""
    workspaces: dict[str, tuple[str, list[str]]] = {}
    for family in (*_SPELLED_BY, *(WORKSPACE_TABLES.keys() - _SPELLED_BY.keys())):
        if family in tx.config.disabled_types:
            continue
        spelled = _SPELLED[_SPELLED_BY.get(family, "workspaces")].replace(":workspace", "found.workspace_norm")
        statement = _NAMES.format(table=WORKSPACE_TABLES[family], more=f", ({spelled})")
        for workspace, spelling in tx.stream(statement, {"limit": MAX_WORKSPACES}):
            workspaces.setdefault(workspace, (spelling or workspace, []))[1].append(family)
    return workspaces


def workspace_exists(tx: ReadTransaction, workspace_norm: str) -> bool:
    """Return True if a workspace has a row, a soft-deleted one included."""
    return tx.value(_ANYTHING, {"workspace": workspace_norm}) is not None


def latest_spelling(tx: ReadTransaction, workspace_norm: str) -> str:
    """Return the spelling of a workspace that was written last."""
    for statement in _SPELLED.values():
        spelling = tx.value(statement, {"workspace": workspace_norm})
        if spelling is not None:
            return str(spelling)
    return workspace_norm


def all_workspaces(tx: ReadTransaction) -> set[str]:
    """Return the normal forms of the workspaces of all enabled families."""
    families = WORKSPACE_TABLES.keys() - set(tx.config.disabled_types)
    return {workspace for family in families for workspace in workspaces_of(tx, family)}


def similar_workspaces(workspace_norm: str, known: set[str]) -> list[str]:
    """Return the known workspaces most similar to this one, closest first; at most a third of the letters differs."""
    distance = distance_to(workspace_norm)
    ranked = []
    for candidate in known - {workspace_norm}:
        bound = max_distance(len(workspace_norm), len(candidate))
        if abs(len(candidate) - len(workspace_norm)) <= bound and (apart := distance(candidate)) <= bound:
            ranked.append((apart, candidate))
    return [candidate for _, candidate in sorted(ranked)[:MOST_NEAREST]]


def note_new_workspace(tx: Transaction, workspace_norm: str) -> None:
    """Note for the answer that this call creates a workspace, before its first row is written."""
    if workspace_exists(tx, workspace_norm):
        return
    similar = similar_workspaces(workspace_norm, all_workspaces(tx))
    tx.call.created = {"created_workspace": True}
    if similar:
        tx.call.created["similar_workspace"] = latest_spelling(tx, similar[0])
