"""The schema on PostgreSQL: made by whoever comes first, refused where it is newer than what this Moss knows."""

from __future__ import annotations

import os

from psycopg import errors

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .connections import Connection

FOLDER = os.path.join(os.path.dirname(__file__), "schema")
CHANGES = os.path.join(FOLDER, "changes")
"""What brings an older schema up to date, by number; a new one gets all of it after the files of the folder."""
_MAKING = 0x6D6F7373_00000000
"""The advisory lock of who makes or changes the schema."""
_OLDEST = 14
"""The first PostgreSQL that understands the schema."""
_TAKEN = (errors.DuplicateTable, errors.DuplicateFunction, errors.DuplicateObject)


def prepare(connection: Connection, wanted: int = SCHEMA_VERSION) -> None:
    """Makes the schema where there is none and brings an older one up to date, one process at a time.

    A negative version is the mark of a store that is being filled: who fills it wants that one, everybody else is
    refused.
    """
    version = version_of(connection)
    if version == wanted:
        return
    refuse_other(version, wanted)
    if version == 0:
        _refuse_unfit(connection)
    connection.execute("begin")
    try:
        connection.execute(f"select pg_advisory_xact_lock({_MAKING})")
        version = version_of(connection)  # another process may have been quicker
        refuse_other(version, wanted)
        if version != wanted:
            for text in _files(abs(version)):
                connection.execute(text)
            connection.execute("delete from moss_schema")
            connection.execute(f"insert into moss_schema (version) values ({wanted})")
        connection.execute("commit")
    except BaseException as error:
        if not connection.closed:
            connection.execute("rollback")
        if isinstance(error, _TAKEN):
            raise _foreign(error.diag.message_primary) from None
        raise


def _refuse_unfit(connection: Connection) -> None:
    """Refuses a server or a database in which no store can be made."""
    oldest, there = _OLDEST * 10_000, connection.info.server_version
    if there < oldest:
        told = f"the server is PostgreSQL {there // 10_000}; a store needs {_OLDEST} or newer"
        raise MossError("NOT_A_STORE", told)
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        told = (
            f"the encoding of the database is {encoding}, which cannot keep every text; make one with encoding 'UTF8'"
        )
        raise MossError("NOT_A_STORE", told)


def _foreign(said: str | None) -> MossError:
    return MossError("NOT_A_STORE", f"the database is used for something else ({said}); give Moss one of its own")


def refuse_other(version: int, wanted: int = SCHEMA_VERSION) -> None:
    """Refuses a schema that a newer Moss has made, and a store that is not filled to its end."""
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
    """The version of the schema that is there, 0 where there is none."""
    # The table of tables is read, not to_regclass asked: that one may still believe what was so before the lock.
    there = "select 1 from pg_class where relname = 'moss_schema' and pg_table_is_visible(oid)"
    if connection.execute(there).fetchone() is None:
        return 0
    try:
        row = connection.execute("select version from moss_schema").fetchone()
        return 0 if row is None else int(row[0])
    except (errors.UndefinedColumn, TypeError, ValueError):
        raise _foreign("its table moss_schema is another's") from None


def _files(version: int) -> list[str]:
    """The files that make the schema where there is none, then those that change one of this version."""
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".sql")) if version == 0 else []
    newer = sorted(name for name in os.listdir(CHANGES) if int(name.partition("_")[0]) > version)
    return [_read(os.path.join(FOLDER, name)) for name in names] + [
        _read(os.path.join(CHANGES, name)) for name in newer
    ]


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
