"""Open the database for writing, for reading, on read-only file systems, and as an empty store if there is none."""

from __future__ import annotations

import os

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .backup import create_private_file, remove_leftovers
from .error_mapping import BUSY_TIMEOUT_MS, is_disk_full
from .file_kind import (
    EMPTY,
    ORIGINAL,
    forget_restored_log,
    open_without_changes,
    refuse_older_log,
    refuse_special,
    schema_of,
)
from .functions import add_functions, only_value
from .open_files import is_changed, log_changed
from .schema_check import check_schema
from .schema_migrations import migrate

UNFINISHED = ".unfinished"
"""The suffix of a database during a bulk load."""
_WRITE_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW


def open_writer(path: str) -> apsw.Connection:
    """Return a connection for writing; the caller holds the lock, so creation and migration are exclusive."""
    if not os.path.lexists(path):
        refuse_unfinished(path)
        create_private_file(path)
    refuse_special(path)
    remove_leftovers(path)
    forget_restored_log(path)
    connection = apsw.Connection(path, flags=_WRITE_FLAGS)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    add_functions(connection)
    restrict_schema(connection)
    set_pragma(connection, "secure_delete = on", 1)
    version = _schema_through_log(connection, path)
    if version == ORIGINAL:
        from moss_memory.storage.sqlite.repair.legacy_v1 import upgrade_v1  # once in a store's life

        upgrade_v1(connection, path)
        version = only_value(connection, "pragma user_version")
    if version != EMPTY:
        check_schema(connection, version, path)
    set_pragma(connection, "journal_mode = wal", "wal")
    set_pragma(connection, "synchronous = full", 2)
    migrate(connection)
    return connection


def open_reader(path: str) -> tuple[apsw.Connection, int, bool]:
    """Return a connection for reading, its schema version, and whether it sees later writes."""
    refuse_special(path)
    try:
        connection = apsw.Connection(path, flags=_WRITE_FLAGS)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        version = _schema_through_log(connection, path)
        follows = True
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError) as error:
        if isinstance(error, apsw.IOError) and not is_disk_full(os.path.dirname(path)):
            raise
        connection = open_readonly(path)
        version = schema_of(connection, path)
        follows = False
    add_functions(connection)
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma query_only = on")
    if version == SCHEMA_VERSION:
        check_schema(connection, version, path)
    return connection, version, follows


def _schema_through_log(connection: apsw.Connection, path: str) -> int:
    """Return the schema version; refuse a changed log, through which a sound database looks like another file."""
    try:
        version = schema_of(connection, path)
    except (MossError, apsw.NotADBError, apsw.CorruptError, apsw.IOError):
        if is_changed(path, connection):
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()  # an open one would keep the index of the changed log
            raise log_changed(path) from None
        raise
    if version > EMPTY:
        refuse_older_log(connection, path)
    return version


def restrict_schema(connection: apsw.Connection) -> None:
    """Forbid the schema to call unsafe functions, and statements to change the schema or the index directly."""
    connection.execute("pragma trusted_schema = off")
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def open_readonly(path: str) -> apsw.Connection:
    """Return a connection that reads from a read-only folder or file system."""
    log = path + "-wal"
    immutable = not os.path.exists(log) or os.path.getsize(log) == 0
    return open_without_changes(path, immutable=immutable)


def open_empty() -> apsw.Connection:
    """Return an empty store in memory with the newest schema, for reads if there is no store."""
    connection = apsw.Connection(":memory:")
    add_functions(connection)
    migrate(connection)
    connection.execute("pragma query_only = on")
    return connection


def refuse_unfinished(path: str) -> None:
    """Refuse a store that is still being filled."""
    if os.path.lexists(path + UNFINISHED):
        raise MossError(
            "NOT_A_STORE",
            f"{path}{UNFINISHED} is a store that `moss migrate` has not filled to its end. Run it again, with the same "
            "source and `--to`, and it goes on; or remove the file",
            details={"file": path + UNFINISHED},
        )


def set_pragma(connection: apsw.Connection, pragma: str, expected: str | int) -> None:
    """Set a pragma and check the result; SQLite ignores an unsupported one without an error."""
    connection.execute(f"pragma {pragma}")
    name = pragma.partition(" ")[0]
    actual = only_value(connection, f"pragma {name}")
    if actual != expected:
        raise MossError("STORAGE_READONLY", f"the database refuses {pragma!r} (it says {actual!r})")


def close_all(connections: list[apsw.Connection]) -> None:
    for connection in connections:
        try:
            connection.close()
        except apsw.Error:
            continue  # the last connection could not checkpoint the log; it stays for the next one


class shadow_tables_writable:  # noqa: N801 - a context manager; contextlib would cost start-up
    """Allow Moss itself to write to the tables of the full-text index within this context."""

    __slots__ = ("_connection",)

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)

    def __exit__(self, *_: object) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
