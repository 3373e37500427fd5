"""Classify the file at the database's path: a store of Moss, of the original Moss, an empty file, or foreign."""

from __future__ import annotations

import os
import stat

import apsw

from moss_memory.errors import MossError

from .schema_migrations import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

APPLICATION_ID = 0x4D6F7373
_ID_AT = 68
"""The offset of the application id in the header of a database."""

_SMALLEST_PAGE = 512
"""SQLite accepts a file of a single byte as an empty database; one with a header has at least a page."""

EMPTY, ORIGINAL = 0, -1
"""Results of `schema_of` for an empty file and for a store of the original Moss."""

_DOCUMENTED = {
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_text", "capsule_chars",
    "tokens_estimate", "tags_json", "source", "created_at", "updated_at", "deleted_at",
}  # fmt: skip
_DOCUMENTED_LATER = {"run_id", "phase", "role"}
_ORIGINAL_VERSIONS = (0, 1, 2)
_INDEX = "capsules_fts"


def schema_of(connection: apsw.Connection, path: str) -> int:
    """Return the schema version of a store, `EMPTY` or `ORIGINAL`; refuse every other file unchanged."""
    try:
        connection.execute("begin")  # else another process may fill it between these statements
        version: int = connection.pragma("user_version")
        application = connection.pragma("application_id")
        if application == APPLICATION_ID:
            return _known(version, path)
        found = _objects(connection)
        if not found and os.lstat(path).st_size not in range(1, _SMALLEST_PAGE):
            return EMPTY
        if application == 0 and version in _ORIGINAL_VERSIONS and _is_original(connection, found):
            return ORIGINAL
    except (apsw.NotADBError, apsw.CorruptError) as error:
        if is_marked(path):
            raise  # it is a store, and damaged
        raise not_a_store(path, "a file that is no database, or the rest of one") from error
    finally:
        if connection.in_transaction:
            connection.execute("rollback")
    raise not_a_store(path, "a database of another program")


def _known(version: int, path: str) -> int:
    if version < 1:
        raise MossError(
            "STORAGE_CORRUPT",
            f"{path} is marked as a store of Moss and says that its schema has version {version}, which there is not. "
            "`moss restore-backup` brings back a copy, and `moss export --salvage FOLDER` writes what can be read",
            details={"file": path},
        )
    if version > SCHEMA_VERSION:
        raise MossError(
            "STORAGE_READONLY",
            f"the database has schema version {version}, this Moss knows {SCHEMA_VERSION}; upgrade moss-memory",
            details={"database_version": version, "known_version": SCHEMA_VERSION},
        )
    return version


def _objects(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """Return type and name of every object of the schema except SQLite's own tables."""
    schema = "select type, name from sqlite_schema where name not like 'sqlite\\_%' escape '\\'"
    return list(connection.execute(schema))


def _is_original(connection: apsw.Connection, objects: list[tuple[Any, ...]]) -> bool:
    """Return whether there is only the original's table of capsules, with or without its search index."""
    tables = {name for kind, name in objects if kind == "table"}
    others = {name for name in tables if name != _INDEX and not name.startswith(f"{_INDEX}_")}
    if others != {"capsules"} or any(kind == "view" for kind, _ in objects):
        return False
    columns = {name for (name,) in connection.execute("select name from pragma_table_info('capsules')")}
    return columns >= _DOCUMENTED and columns <= _DOCUMENTED | _DOCUMENTED_LATER


def is_marked(path: str) -> bool:
    """Return whether the header of a file has Moss's application id, also if SQLite cannot read the rest."""
    try:
        # Through SQLite's file layer: closing a descriptor of `open` would drop the locks of this process.
        file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            return bool(file.xRead(4, _ID_AT) == APPLICATION_ID.to_bytes(4, "big"))
        finally:
            file.xClose()
    except apsw.Error:
        return False  # shorter than a header, or rows_with_invalid_text


def refuse_special(path: str) -> None:
    """Refuse a folder, a device or a pipe in the database's place before it is opened."""
    status = os.lstat(path)
    mode = status.st_mode
    if status.st_size == 0 and _has_content(path + "-wal"):
        raise MossError(
            "STORAGE_CORRUPT",
            f"{path} is empty although its log is not: it was cut off. Keep both files; `moss restore-backup` brings "
            "back a copy",
            details={"file": path},
        )
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        raise not_a_store(path, "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket")


def _has_content(path: str) -> bool:
    try:
        return os.lstat(path).st_size > 0
    except FileNotFoundError:
        return False


def not_a_store(path: str, what: str) -> MossError:
    """Return the refusal of a file that Moss did not make."""
    return MossError(
        "NOT_A_STORE",
        f"{path} is not a database of Moss but {what}; it was left as it is. Move it away, or set MOSS_HOME to another "
        "folder",
        details={"file": path},
    )
