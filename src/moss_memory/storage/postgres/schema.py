"""Create, check and upgrade the schema on PostgreSQL.

A schema changes by a command only, never because a process opens the store. A migration is additive if Moss of the
version before works with it, and Moss of its own version works without it: an index, for example. Then both versions
serve the store, before and after its upgrade.
"""

from __future__ import annotations

import os

from psycopg import errors

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .connections import Connection

FOLDER = os.path.join(os.path.dirname(__file__), "schema")
CHANGES = os.path.join(FOLDER, "changes")
"""The migrations by number; a new schema runs all of them after the files of the folder."""
ADDITIVE = {"-- additive: yes": True, "-- additive: no": False}
"""The first line of every migration."""
_SCHEMA_LOCK = 0x6D6F7373_00000000
"""The advisory lock for creating or upgrading the schema."""
_WRITERS_LOCK = "1836020595, 0"
"""The advisory lock that all writers hold, see `enter_write`."""
_OLDEST = 14
"""The oldest supported version of PostgreSQL."""
_WITHOUT_TAGS = 14
"""The schema that some stores have without the changes numbered 13."""
_DUPLICATE_ERRORS = (errors.DuplicateTable, errors.DuplicateFunction, errors.DuplicateObject)


class SchemaMigration:
    """One numbered file of SQL."""

    def __init__(self, name: str) -> None:
        self.number = int(name.partition("_")[0])
        self.sql = _read(os.path.join(CHANGES, name))
        self.is_additive = ADDITIVE[self.sql.partition("\n")[0]]


def prepare_schema(connection: Connection, wanted: int) -> int:
    """Return the version of the schema, with which this Moss can work; create it if the database is empty.

    A negative version marks an unfinished bulk load: only the loading process may open it.
    """
    version = version_of(connection)
    if version == 0 or wanted < 0:
        version = _create(connection, wanted)
    refuse_unusable(connection, version, wanted)
    return version


def refuse_unusable(connection: Connection, version: int, wanted: int) -> None:
    """Refuse a schema with which this Moss cannot work, and a store whose bulk load is not finished."""
    if version < 0 < wanted:
        raise MossError(
            "NOT_A_STORE",
            "`moss migrate` has not finished this store. Run it again with the same source and `--to` to continue, or "
            "empty the database",
        )
    version = abs(version)
    if version > SCHEMA_VERSION and not (version == SCHEMA_VERSION + 1 and _is_additive(connection)):
        raise MossError(
            "NOT_A_STORE",
            f"the store was made by a newer Moss (schema {version}, this one supports {SCHEMA_VERSION}); update Moss",
            details=_versions(version),
        )
    if version < SCHEMA_VERSION and not all(migration.is_additive for migration in migrations_after(version)):
        raise MossError(
            "STORAGE_BUSY",
            f"the store has schema {version}, and this Moss needs {SCHEMA_VERSION}; nothing was done. Run `moss "
            "upgrade` once, then try again",
            details=_versions(version) | {"retryable": True},
        )


def _versions(version: int) -> dict[str, int]:
    return {"database_version": version, "known_version": SCHEMA_VERSION}


def _create(connection: Connection, target_version: int) -> int:
    """Create the schema if there is none, one process at a time; return its version."""
    _refuse_unfit(connection)

    def create(version: int) -> int:
        if version == 0:
            for name in sorted(name for name in os.listdir(FOLDER) if name.endswith(".sql")):
                connection.execute(_read(os.path.join(FOLDER, name)))
            _migrate(connection, 0)
        if version == 0 or -version == target_version:
            _set_version(connection, target_version)
            return target_version
        return version

    return _in_transaction(connection, create)


def upgrade_schema(connection: Connection, index: Callable[[], None]) -> tuple[int, int]:
    """Bring the schema up to date in one transaction; return the versions before and after.

    No writer runs meanwhile. `index` indexes the documents that a migration has queued.
    """
    prepared = version_of(connection) or _create(connection, SCHEMA_VERSION)
    if prepared < 0 or prepared > SCHEMA_VERSION:
        refuse_unusable(connection, prepared, SCHEMA_VERSION)

    def run(version: int) -> int:
        if 0 < version < SCHEMA_VERSION:
            _migrate(connection, version)
            index()
            _set_version(connection, SCHEMA_VERSION)
        return version

    before = _in_transaction(connection, run)
    return before, max(before, SCHEMA_VERSION)


def _in_transaction(connection: Connection, change: Callable[[int], int]) -> int:
    """Change the schema in a transaction without writers; another process may have been faster."""
    connection.execute("begin")
    try:
        connection.execute(f"select pg_advisory_xact_lock({_WRITERS_LOCK})")
        connection.execute(f"select pg_advisory_xact_lock({_SCHEMA_LOCK})")
        version = change(version_of(connection))
        connection.execute("commit")
        return version
    except BaseException as error:
        if not connection.closed:
            connection.execute("rollback")
        if isinstance(error, _DUPLICATE_ERRORS):
            raise _foreign_error(error.diag.message_primary) from None
        raise


def migrations_after(version: int) -> list[SchemaMigration]:
    """Return the migrations that are newer than a version, oldest first."""
    return [SchemaMigration(name) for name in sorted(os.listdir(CHANGES)) if int(name.partition("_")[0]) > version]


def _migrate(connection: Connection, version: int) -> None:
    if version == _WITHOUT_TAGS and connection.execute("select to_regclass('capsule_tags')").fetchone() == (None,):
        version = 0  # it was made before the change with a smaller number
    for migration in migrations_after(version):
        connection.execute(migration.sql)


def _set_version(connection: Connection, version: int) -> None:
    """Store the version, and if Moss of the version before can work with it."""
    is_additive = migrations_after(0)[-1].is_additive
    connection.execute("delete from moss_schema")
    connection.execute(f"insert into moss_schema (version, additive) values ({version}, {int(is_additive)})")


def _is_additive(connection: Connection) -> bool:
    row = connection.execute("select to_jsonb(moss_schema) ->> 'additive' from moss_schema").fetchone()
    return row == ("1",)


def _refuse_unfit(connection: Connection) -> None:
    """Refuse a server that is too old, or a database that cannot store every text."""
    major = connection.info.server_version // 10_000
    if major < _OLDEST:
        raise MossError("NOT_A_STORE", f"the server is PostgreSQL {major}; a store needs {_OLDEST} or newer")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise MossError(
            "NOT_A_STORE",
            f"the encoding of the database is {encoding}, which cannot keep every text; make one with encoding 'UTF8'",
        )


def _foreign_error(reason: str | None) -> MossError:
    return MossError(
        "NOT_A_STORE", f"the database is used for something else ({reason}); give Moss a separate database"
    )


def version_of(connection: Connection) -> int:
    """Return the version of the schema, 0 if there is none."""
    # pg_class instead of to_regclass, whose cache may be older than the lock.
    exists = "select 1 from pg_class where relname = 'moss_schema' and pg_table_is_visible(oid)"
    if connection.execute(exists).fetchone() is None:
        return 0
    try:
        row = connection.execute("select version from moss_schema").fetchone()
        return 0 if row is None else int(row[0])
    except (errors.UndefinedColumn, TypeError, ValueError):
        raise _foreign_error("its table moss_schema is another's") from None


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
