"""How the database is opened: for writing, for reading, where nothing can be written, and where there is none."""

from __future__ import annotations

import os

import apsw

from moss_memory.errors import MossError

from .backup import create_private_file, remove_leftovers
from .error_mapping import BUSY_TIMEOUT_MS, has_no_room
from .file_kind import APPLICATION_ID, EMPTY, ORIGINAL, refuse_special, schema_of
from .functions import prepare
from .schema_check import check_schema
from .schema_migrations import SCHEMA_VERSION, migrations_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNFINISHED = ".unfinished"
"""What follows the name of a database that is still being filled."""
_WRITE_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
_READONLY_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def open_writer(path: str) -> apsw.Connection:
    """A connection for writing; the caller holds the lock, so creation and migration race with nobody."""
    if not os.path.lexists(path):
        refuse_unfinished(path)
        create_private_file(path)
    refuse_special(path)
    remove_leftovers(path)
    connection = apsw.Connection(path, flags=_WRITE_FLAGS)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    prepare(connection)
    distrust(connection)
    set_pragma(connection, "secure_delete = on", 1)
    version = schema_of(connection, path)
    if version == ORIGINAL:
        from moss_memory.storage.sqlite.repair.legacy_v1 import upgrade_v1  # once in a store's life

        upgrade_v1(connection, path, run_migrations)
        version = only_value(connection, "pragma user_version")
    if version != EMPTY:
        check_schema(connection, version, path)
    set_pragma(connection, "journal_mode = wal", "wal")
    set_pragma(connection, "synchronous = full", 2)
    migrate(connection)
    return connection


def open_reader(path: str) -> tuple[apsw.Connection, int, bool]:
    """A connection for reading, the version of the schema that it found, and whether it sees what others write."""
    refuse_special(path)
    try:
        connection = apsw.Connection(path, flags=_WRITE_FLAGS)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        version = schema_of(connection, path)
        follows = True
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError) as error:
        if isinstance(error, apsw.IOError) and not has_no_room(os.path.dirname(path)):
            raise
        connection = open_readonly(path)
        version = schema_of(connection, path)
        follows = False
    prepare(connection)
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma query_only = on")
    if version == SCHEMA_VERSION:
        check_schema(connection, version, path)
    return connection, version, follows


def distrust(connection: apsw.Connection) -> None:
    """Keep the schema from calling what can do harm, and statements from changing the schema or the index by hand."""
    connection.execute("pragma trusted_schema = off")
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def open_readonly(path: str) -> apsw.Connection:
    """Reads go on where nothing can be written: a read-only folder or file system."""
    log = path + "-wal"
    immutable = not os.path.exists(log) or os.path.getsize(log) == 0
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    uri = f"file:{name}?mode=ro" + ("&immutable=1" if immutable else "")
    return apsw.Connection(uri, flags=_READONLY_FLAGS)


def open_empty() -> apsw.Connection:
    """A store in memory without a row, in the newest schema: what reads see where there is none."""
    connection = apsw.Connection(":memory:")
    prepare(connection)
    migrate(connection)
    connection.execute("pragma query_only = on")
    return connection


def refuse_unfinished(path: str) -> None:
    """Refuses the place of a database that is being filled: what is there is not all of it."""
    if os.path.lexists(path + UNFINISHED):
        raise MossError(
            "NOT_A_STORE",
            f"{path}{UNFINISHED} is a store that `moss migrate` has not filled to its end. Run it again, with the same "
            "source and `--to`, and it goes on; or remove the file",
            details={"file": path + UNFINISHED},
        )


def migrate(connection: apsw.Connection) -> None:
    """Brings the schema to the newest version, whole or not at all."""
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
    """Every migration after the version, in the transaction that the caller has begun."""
    for number, sql in migrations_after(version):
        for _ in connection.execute(sql):
            pass
        connection.execute(f"pragma user_version = {number}")
    connection.execute(f"pragma application_id = {APPLICATION_ID}")


def set_pragma(connection: apsw.Connection, pragma: str, expected: str | int) -> None:
    """Sets a pragma and makes sure that it took; SQLite ignores what it cannot do without a word."""
    connection.execute(f"pragma {pragma}")
    name = pragma.partition(" ")[0]
    actual = only_value(connection, f"pragma {name}")
    if actual != expected:
        raise MossError("STORAGE_READONLY", f"the database refuses {pragma!r} (it says {actual!r})")


def only_value(connection: apsw.Connection, sql: str) -> Any:
    """The first column of a statement's first row."""
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]


def schema_numbers(connection: apsw.Connection) -> tuple[int, int]:
    """Return the version of the schema, and SQLite's own number, which changes whenever the schema does."""
    return only_value(connection, "pragma user_version"), only_value(connection, "pragma schema_version")


def file_identity(path: str) -> tuple[int, int] | None:
    """What tells a file apart from every other, whatever its name; none when there is none.

    Raises where that cannot be told, as below a file or in a folder that may not be entered.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def vanished(home: str) -> MossError:
    """Return the refusal of a store that was opened and is gone: an empty one in its place would hide that."""
    return MossError(
        "STORAGE_CORRUPT",
        f"the store in {home} was moved or removed while it was in use; nothing was written. Put it back, or restart "
        "the programs that use it with MOSS_HOME set to its new place",
        details={"home": home},
    )


def close_all(connections: list[apsw.Connection]) -> None:
    """Closes connections that nobody uses any more."""
    for connection in connections:
        try:
            connection.close()
        except apsw.Error:
            continue  # the last one to leave could not empty the log; it stays for the next


class shadow_tables_writable:  # noqa: N801 - a context manager; contextlib would cost start-up
    """Let statements of Moss itself write to the tables of the full-text index while this context is open."""

    __slots__ = ("_connection",)

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)

    def __exit__(self, *_: object) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
