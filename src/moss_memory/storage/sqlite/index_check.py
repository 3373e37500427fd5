"""Compare the search index with the stored texts without blocking writers."""

from __future__ import annotations

import apsw

from .connections import shadow_tables_writable
from .functions import only_value

_REBUILD = "insert into search_index (search_index) values ('rebuild')"
_PARTS = ("data", "idx", "docsize", "config")


def check_index(connection: apsw.Connection) -> None:
    """Raise if the index differs from the texts in this snapshot.

    FTS5 checks by an insert, which would block every writer while all texts are read. So it checks a copy of the index
    in temporary tables, which takes a tenth of the check's time and is removed by the rollback.
    """
    connection.execute("pragma query_only = off")  # it forbids temporary tables, too
    try:
        for name in ("search_source", "search_index"):
            definition = only_value(connection, f"select sql from main.sqlite_schema where name = '{name}'")
            connection.execute(str(definition).replace(f" {name} ", f" temp.{name} ", 1))
        for part in _PARTS:
            connection.execute(f"delete from temp.search_index_{part}")
            connection.execute(f"insert into temp.search_index_{part} select * from main.search_index_{part}")
        # With the rank FTS5 compares the index with the rows; without it a difference is not found.
        connection.execute("insert into temp.search_index (search_index, rank) values ('integrity-check', 1)")
    finally:
        connection.execute("pragma query_only = on")


def rebuild(connection: apsw.Connection) -> None:
    """Rebuild the index from the stored texts, in the caller's transaction.

    FTS5 does that itself unless its format version is lost, which is then written again.
    """
    try:
        connection.execute(_REBUILD)
    except apsw.SQLError:
        with shadow_tables_writable(connection):
            connection.execute("insert or replace into search_index_config (k, v) values ('version', 4)")
        connection.execute(_REBUILD)
