"""The columns in an export of a table: all of them, or none if the table is derived from others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moss_memory.transfer.families import records as record
from moss_memory.transfer.families.artifacts import TABLE as ARTIFACT
from moss_memory.transfer.families.capsules import TABLE as CAPSULE
from moss_memory.transfer.families.reasoning import NUMBERS, ORIGINS
from moss_memory.transfer.history_files import TABLE as VERSION
from moss_memory.transfer.reasoning_task_import import TABLES_BY_NAME
from storage.database import connect

if TYPE_CHECKING:
    from contract.doors import StoreDoor

MADE_AGAIN = {
    "activity", "capsule_tags", "graph_tags", "upkeep", "erasures", "vectors", "unembedded", "passages", "remembered",
    "access_keys", "access_sessions", "access_tokens", "capsule_loads", "sync_files", "workspace_repositories",
}  # fmt: skip


def test_every_column_of_every_table_is_exported_or_listed_as_derived(door: StoreDoor) -> None:
    door("capsule_store", name="auth", capsule_text="x", allow_thin=True)
    moves = (CAPSULE, ARTIFACT, VERSION, NUMBERS, ORIGINS, *TABLES_BY_NAME.values(), *record.TABLES)
    moved = {table.name: set(table.columns) for table in moves}
    moved["record_properties"] = {"name", "value", "row_id"}
    connection = connect(door.home)
    tables = connection.execute(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'search_%'"
    )
    for (name,) in tables.fetchall():
        if name not in MADE_AGAIN:
            columns = {column for (column,) in connection.execute("select name from pragma_table_info(?)", (name,))}
            assert moved.get(name) == columns, f"{name} has columns that no export knows"
    connection.close()
