"""Create or update the schema on PostgreSQL, or refuse one that a newer Moss has made."""

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
_SCHEMA_LOCK = 0x6D6F7373_00000000
"""The advisory lock for creating or migrating the schema."""
_OLDEST = 14
"""The oldest supported version of PostgreSQL."""
_DUPLICATE_ERRORS = (errors.DuplicateTable, errors.DuplicateFunction, errors.DuplicateObject)


def prepare(connection: Connection, index: Callable[[Connection], None], wanted: int = SCHEMA_VERSION) -> None:
    """Create the schema if there is none, or migrate an older one, one process at a time.

    `index` indexes all documents that a migration has queued, in the transaction of the migration.
    A negative version marks an unfinished bulk load: only the process that loads wants it, all others are refused.
    """
    version = version_of(connection)
    if version == wanted:
        return
    refuse_other(version, wanted)
    if version == 0:
        _refuse_unfit(connection)
    connection.execute("begin")
    try:
        connection.execute(f"select pg_advisory_xact_lock({_SCHEMA_LOCK})")
        version = version_of(connection)  # another process may have been faster
        refuse_other(version, wanted)
        if version != wanted:
            for text in _read_files(abs(version)):
                connection.execute(text)
            if version:
                index(connection)
            connection.execute("delete from moss_schema")
            connection.execute(f"insert into moss_schema (version) values ({wanted})")
        connection.execute("commit")
    except BaseException as error:
        if not connection.closed:
            connection.execute("rollback")
        if isinstance(error, _DUPLICATE_ERRORS):
            raise _foreign_error(error.diag.message_primary) from None
        raise


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
    return MossError("NOT_A_STORE", f"the database is used for something else ({reason}); give Moss one of its own")


def refuse_other(version: int, wanted: int = SCHEMA_VERSION) -> None:
    """Refuse a schema that a newer Moss has made, and a store whose bulk load is not finished."""
    if abs(version) > SCHEMA_VERSION:
        raise MossError(
            "NOT_A_STORE",
            f"the store was made by a newer Moss (schema {abs(version)}, this one knows {SCHEMA_VERSION}); update Moss",
        )
    if version < 0 < wanted:
        raise MossError(
            "NOT_A_STORE",
            "`moss migrate` has not filled this store to its end. Run it again, with the same source and `--to`, and "
            "it goes on; or empty the database",
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


def _read_files(version: int) -> list[str]:
    """Return the SQL that creates the schema if the version is 0, and the migrations that are newer than it."""
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".sql")) if version == 0 else []
    newer = sorted(name for name in os.listdir(CHANGES) if int(name.partition("_")[0]) > version)
    return [_read(os.path.join(FOLDER, name)) for name in names] + [
        _read(os.path.join(CHANGES, name)) for name in newer
    ]


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
