"""Classify the file at the database's path: a store of Moss, of the original Moss, an empty file, or foreign.

Its log may be foreign, too: when the first process opens a database, SQLite replays every valid log over it, and an
older log overwrites new pages with old ones. Every write of Moss appends an event, so through its own log a database
never lacks an event that it has without it.
"""

from __future__ import annotations

import os
import stat

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

APPLICATION_ID = 0x4D6F7373
_ID_AT = 68
"""The offset of the application id in the header of a database."""

_SMALLEST_PAGE = 512
"""SQLite accepts a file of a single byte as an empty database; one with a header has at least a page."""

REPLACED = "-wal.replaced-"
"""The name of a log that was set aside contains this, and the time."""
RESTORED_LOG = "-restored"
"""Suffix of a file that is there while a restored backup, with fewer events, may still be in the log."""
_LAST_EVENT = "select seq, event_id, tool, ts_ms from events order by seq desc limit 1"
_LAST_NUMBER = "select max(seq) from events"
_ULID_CHARS = 26

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
        objects = _objects(connection)
        if not objects and os.lstat(path).st_size not in range(1, _SMALLEST_PAGE):
            return EMPTY
        if application == 0 and version in _ORIGINAL_VERSIONS and _is_original(connection, objects):
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
            f"{path} is marked as a store of Moss with schema version {version}, which does not exist. "
            "`moss restore-backup` brings back a copy, and `moss export --salvage FOLDER` writes what can be read",
            details={"file": path},
        )
    if version > SCHEMA_VERSION:
        raise MossError(
            "STORAGE_READONLY",
            f"the database has schema version {version}, this Moss supports {SCHEMA_VERSION}; upgrade moss-memory",
            details={"database_version": version, "known_version": SCHEMA_VERSION},
        )
    return version


def _objects(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """Return type and name of every object of the schema except SQLite's own tables."""
    schema = "select type, name from sqlite_schema where name not like 'sqlite\\_%' escape '\\'"
    return list(connection.execute(schema))


def _is_original(connection: apsw.Connection, objects: list[tuple[Any, ...]]) -> bool:
    """Return True if there is only the original's table of capsules, with or without its search index."""
    tables = {name for kind, name in objects if kind == "table"}
    other_tables = {name for name in tables if name != _INDEX and not name.startswith(f"{_INDEX}_")}
    if other_tables != {"capsules"} or any(kind == "view" for kind, _ in objects):
        return False
    columns = {name for (name,) in connection.execute("select name from pragma_table_info('capsules')")}
    return columns >= _DOCUMENTED and columns <= _DOCUMENTED | _DOCUMENTED_LATER


def is_marked(path: str) -> bool:
    """Return True if the header of a file has Moss's application id, also if SQLite cannot read the rest."""
    try:
        # Through SQLite's file layer: closing a descriptor of `open` would drop the locks of this process.
        file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            return bool(file.xRead(4, _ID_AT) == APPLICATION_ID.to_bytes(4, "big"))
        finally:
            file.xClose()
    except apsw.Error:
        return False  # shorter than a header, or unreadable


def refuse_special(path: str) -> None:
    """Refuse a folder, a device or a pipe in the database's place before it is opened."""
    status = os.lstat(path)
    mode = status.st_mode
    if status.st_size == 0 and _has_content(path + "-wal"):
        raise MossError(
            "STORAGE_CORRUPT",
            f"{path} is empty although its log is not: it was truncated. Keep both files; `moss restore-backup` brings "
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


def refuse_older_log(connection: apsw.Connection, path: str) -> None:
    """Refuse a log that lacks events of the database; set it aside if no other process has the store open."""
    if not _has_content(f"{path}-wal") or not _is_older(connection, path) or os.path.lexists(path + RESTORED_LOG):
        return
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.close()
    old_log = _set_aside(path)
    log = f"{path}-wal"
    advice = f"It is now {os.path.basename(old_log)}: the next call works with the database as it is"
    if not old_log:
        advice = "Stop every program that uses this store, then run `moss doctor`"
    raise MossError(
        "STORAGE_CORRUPT",
        f"{log} is older than the database: another program has put it there, as programs that sync or restore files "
        f"do. Nothing of it was used, and nothing was written. {advice}. Keep the home outside of synced folders",
        details={"file": log, **({"kept": old_log} if old_log else {})},
    )


def open_without_changes(path: str, *, immutable: bool) -> apsw.Connection:
    """Return a connection that only reads; an immutable one reads the database alone, without its log."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    uri = f"file:{name}?mode=ro" + ("&immutable=1" if immutable else "")
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def replaced_logs(path: str) -> list[str]:
    """List the logs that were set aside, beside a database."""
    folder, name = os.path.split(path)
    return sorted([os.path.join(folder, entry) for entry in os.listdir(folder) if entry.startswith(name + REPLACED)])


def forget_restored_log(path: str) -> None:
    """Remove the mark of a restored backup once it is in the database; the caller holds the write lock."""
    if os.path.lexists(path + RESTORED_LOG) and not _has_content(f"{path}-wal"):
        os.unlink(path + RESTORED_LOG)


def _is_older(connection: apsw.Connection, path: str) -> bool:
    last_without_log = _last_event_without_log(path)  # first, because others may write meanwhile
    try:
        last_with_log = next(connection.execute(_LAST_NUMBER))[0]
    except apsw.Error:
        return False  # damage of another kind, which a later check names
    return (last_with_log or 0) < last_without_log


def _last_event_without_log(path: str) -> int:
    """Return the number of the last event in the database file alone; 0 if that is unknown.

    A checkpoint that was killed leaves pages of two times, so a row counts only if it is an event in every column.
    """
    try:
        alone = open_without_changes(path, immutable=True)
        try:
            alone.execute("pragma trusted_schema = off")
            row = next(alone.execute(_LAST_EVENT), None)
        finally:
            alone.close()
    except (apsw.Error, UnicodeDecodeError):
        return 0
    is_event = row is not None and [type(value) for value in row] == [int, str, str, int] and _is_event_id(row[1])
    return int(row[0]) if row is not None and is_event else 0


def _is_event_id(text: str) -> bool:
    """Return True if a text is a ULID; rows of another table may have a workspace there, which has no capitals."""
    return len(text) == _ULID_CHARS and text.isalnum() and text.isupper()


def _set_aside(path: str) -> str:
    """Rename the log; return its new path, empty if another connection has the store open."""
    from .backup import free_name, sync_folder, timestamp

    try:
        alone = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        alone.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        try:
            # Exclusive from the first statement on: it fails while anybody else has the database open.
            alone.execute("pragma locking_mode = exclusive")
            if not _is_older(alone, path):
                return ""  # another process was faster
            new_path = free_name(f"{path}{REPLACED}{timestamp()}")
            os.rename(f"{path}-wal", new_path)
            os.chmod(new_path, 0o600)
            sync_folder(os.path.dirname(path))
            return new_path
        finally:
            alone.close()
    except (apsw.Error, OSError):
        return ""


def not_a_store(path: str, what: str) -> MossError:
    """Return the refusal of a file that Moss did not make."""
    return MossError(
        "NOT_A_STORE",
        f"{path} is not a database of Moss but {what}; it was left as it is. Move it away, or set MOSS_HOME to another "
        "folder",
        details={"file": path},
    )
