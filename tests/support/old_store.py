"""Stores with the schemas of earlier versions of Moss."""

from __future__ import annotations

import os

import apsw

from moss_memory.storage.sqlite.file_kind import APPLICATION_ID
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.storage.sqlite.schema_migrations import migrations_after


def make_old(home: str, version: int) -> None:
    """Copy a closed store's rows into the schema of an earlier version, without tables and columns that it lacked."""
    path = os.path.join(home, "moss.db")
    old = apsw.Connection(path + ".old")
    add_functions(old)
    for number, sql in migrations_after(0):
        if number <= version:
            for _ in old.execute(sql):
                pass
    old.execute("attach ? as new", (path,))
    for table in _tables(old):
        columns = ", ".join(name for _, name, *_ in old.execute(f"pragma table_info({table})"))
        old.execute(f"insert or replace into {table} ({columns}) select {columns} from new.{table}")
    old.execute("detach new")
    old.execute(f"pragma user_version = {version}")
    old.execute(f"pragma application_id = {APPLICATION_ID}")
    old.close()
    for end in ("-wal", "-shm"):
        if os.path.exists(path + end):
            os.unlink(path + end)
    os.replace(path + ".old", path)
    os.chmod(path, 0o600)


def _tables(connection: apsw.Connection) -> list[str]:
    """Return the tables with rows of their own; those of the search index are derived."""
    named = (
        "select name from sqlite_schema where type = 'table' and name not like 'search%' and name not like 'sqlite%'"
    )
    return [name for (name,) in connection.execute(named)]
