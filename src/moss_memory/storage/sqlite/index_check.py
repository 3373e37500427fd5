"""Whether the search index agrees with the stored texts, asked beside the writers and not between them."""

from __future__ import annotations

import apsw

from .connections import only_value, shadow_tables_writable

_REBUILD = "insert into search_index (search_index) values ('rebuild')"
_PARTS = ("data", "idx", "docsize", "config")


def check_index(connection: apsw.Connection) -> None:
    """Raises where the index does not agree with the texts, as this reading transaction sees both.

    FTS5 checks with an insert, which would keep every writer waiting for as long as it takes to read all texts. So it
    checks a copy of the index among the temporary tables, which costs a tenth of the check and goes with the rollback.
    """
    connection.execute("pragma query_only = off")  # it forbids temporary tables, too
    try:
        for name in ("search_source", "search_index"):
            made = only_value(connection, f"select sql from main.sqlite_schema where name = '{name}'")
            connection.execute(str(made).replace(f" {name} ", f" temp.{name} ", 1))
        for part in _PARTS:
            connection.execute(f"delete from temp.search_index_{part}")
            connection.execute(f"insert into temp.search_index_{part} select * from main.search_index_{part}")
        # The rank makes FTS5 compare the index with the rows; without it the check does not see a difference.
        connection.execute("insert into temp.search_index (search_index, rank) values ('integrity-check', 1)")
    finally:
        connection.execute("pragma query_only = on")


def rebuild(connection: apsw.Connection) -> None:
    """Build the index again from the stored texts, in the transaction of the caller.

    FTS5 does that itself unless the version of its format is lost, which is written again then.
    """
    try:
        connection.execute(_REBUILD)
    except apsw.SQLError:
        with shadow_tables_writable(connection):
            connection.execute("insert or replace into search_index_config (k, v) values ('version', 4)")
        connection.execute(_REBUILD)
