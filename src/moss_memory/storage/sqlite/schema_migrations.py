"""Run the numbered SQL files that make and change the schema."""

from __future__ import annotations

import os

from moss_memory.log import INFO, log
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .file_kind import APPLICATION_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def migrate(connection: apsw.Connection) -> None:
    """Migrate the schema to the newest version, atomically."""
    if connection.pragma("user_version") == SCHEMA_VERSION:
        return
    connection.execute("begin immediate")
    try:
        run_migrations(connection, connection.pragma("user_version"))
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def run_migrations(connection: apsw.Connection, version: int) -> None:
    """Run every migration after the version, in the caller's transaction."""
    for number, sql in migrations_after(version):
        for _ in connection.execute(sql):
            pass
        connection.execute(f"pragma user_version = {number}")
        log(INFO, "schema migrated to %d", number)
    connection.execute(f"pragma application_id = {APPLICATION_ID}")


def migrations_after(version: int) -> list[tuple[int, str]]:
    """Return the migrations after the version as (number, SQL), oldest first."""
    migrations = []
    for name in sorted(os.listdir(_FOLDER)):
        number = int(name.partition("_")[0])
        if number > version:
            with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
                migrations.append((number, file.read()))
    return migrations
