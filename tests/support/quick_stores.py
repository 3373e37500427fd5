"""Stores that are made quickly and never sync, for the thousands of tests that begin with an empty one.

The schema is made once and copied, in 1 ms instead of the 15 of all migrations, and what is written is not synced: a
write then takes a sixth of the time. Tests of how a store comes to be and of what it keeps when processes and disks
fail have stores as everybody has them, and so has every process that a test starts but the one server of a session.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import apsw

from moss_memory.storage.sqlite import connections, schema_migrations
from moss_memory.storage.sqlite.functions import add_functions

AS_EVERYWHERE = {"concurrency", "crash", "history", "storage"}
"""The folders of tests whose stores are made and written as in production."""
SERVER = """
import sys
from support.quick_stores import make_stores
from moss_memory.cli.main import main
make_stores(quickly=True)
sys.exit(main())
"""
"""Code of a process that runs `moss` with such stores for a whole session of tests."""
_migrate, _settle = schema_migrations.migrate, connections.set_pragma


def make_stores_for(test: Path) -> None:
    """Make the following stores of this process in the form that the tests of a file need, given below the root."""
    make_stores(quickly=not AS_EVERYWHERE & set(test.parts))


def make_stores(*, quickly: bool) -> None:
    """Make the following stores of this process quickly, or as in production."""
    connections.migrate = _copy_or_migrate if quickly else _migrate  # type: ignore[attr-defined]
    connections.set_pragma = _settle_without_syncing if quickly else _settle


def _copy_or_migrate(connection: apsw.Connection) -> None:
    """Fill an empty database with the schema; migrate any other one."""
    if connection.pragma("user_version") or connection.execute("select 1 from sqlite_schema limit 1").fetchone():
        _migrate(connection)
    else:
        with connection.backup("main", _schema(), "main") as copying:
            copying.step()


@cache
def _schema() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    add_functions(connection)
    _migrate(connection)
    return connection


def _settle_without_syncing(connection: apsw.Connection, pragma: str, expected: str | int) -> None:
    if pragma.startswith("synchronous"):
        pragma, expected = "synchronous = off", 0
    _settle(connection, pragma, expected)
