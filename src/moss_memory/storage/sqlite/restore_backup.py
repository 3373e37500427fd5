"""Replace the store by a backup: check it, swap it in one transaction, and keep the old store."""

from __future__ import annotations

import os
import stat

import apsw

from moss_memory.errors import MossError, invalid_request
from moss_memory.storage.consistency import inconsistent
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .backup import (
    RESTORED,
    UNFINISHED,
    backup_file,
    copy_pages,
    create_private_file,
    free_name,
    remove,
    remove_leftovers,
    sync_folder,
    timestamp,
    under_way,
)
from .connections import open_readonly, restrict_schema
from .error_mapping import BUSY_TIMEOUT_MS, storage_error
from .file_kind import EMPTY, ORIGINAL, RESTORED_LOG, forget_restored_log, refuse_special, schema_of
from .functions import add_functions
from .rows_check import faults
from .schema_check import differences, foreign_schema
from .schema_migrations import migrate, run_migrations

KEPT = "before"
_COMPANIONS = ("-wal", "-shm")
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW


def copy_backup(path: str, backup: str) -> str:
    """Return a copy of the backup beside the store, migrated to the newest schema; refuse a damaged backup.

    It needs no lock: no other process has the copy's name.
    """
    _refuse_unfit(path, backup)
    prepared = free_name(f"{path}.{RESTORED}-{os.getpid()}{UNFINISHED}")
    under_way.add(prepared)
    create_private_file(prepared)
    try:
        source = open_readonly(backup)
        try:
            _check_integrity(source, backup)
            copy_pages(source, prepared)
        finally:
            source.close()
        _migrate_copy(prepared, backup)
    except BaseException as error:
        discard(prepared)
        problem = storage_error(error, os.path.dirname(backup)) if isinstance(error, apsw.Error) else None
        if problem is not None and problem.code == "STORAGE_CORRUPT":
            raise _damaged(backup, str(error)) from error
        raise
    return prepared


def swap(path: str, prepared: str) -> str | None:
    """Replace the store's content by the prepared copy; return the name of the old store's copy, None if none.

    The caller holds the write lock. After a kill the store is the old one or the new one, complete; other processes
    that have it open see one or the other, too.
    """
    remove_leftovers(path)
    if not os.path.lexists(path):
        _rename_files(path, prepared, None)
        return None
    refuse_special(path)
    try:
        return _swap_content(path, prepared)
    except (apsw.NotADBError, apsw.CorruptError):
        # SQLite cannot even open it, so nobody else can use it: the files are renamed.
        old_copy = free_name(f"{path}.{KEPT}-{timestamp()}")
        _rename_files(path, prepared, old_copy)
        return old_copy


def discard(prepared: str) -> None:
    """Remove a prepared copy with its log."""
    for part in ("", "-journal", *_COMPANIONS):
        remove(prepared + part)
    under_way.discard(prepared)


def _refuse_unfit(path: str, backup: str) -> None:
    try:
        status = os.stat(backup)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise MossError("NOT_FOUND", f"{backup} cannot be read: {reason}") from None
    if not stat.S_ISREG(status.st_mode):
        raise invalid_request(f"{backup} is not a plain file; give one that `moss backup` made")
    if os.path.exists(path) and os.path.samefile(path, backup):
        raise invalid_request(f"{backup} is the store itself; give a backup of it")


def _check_integrity(source: apsw.Connection, backup: str) -> None:
    source.set_busy_timeout(BUSY_TIMEOUT_MS)
    add_functions(source)
    source.execute("pragma trusted_schema = off")
    try:
        version = schema_of(source, backup)
    except MossError as error:
        raise (_no_backup(backup) if error.code == "NOT_A_STORE" else error) from error
    if version == EMPTY:
        raise _no_backup(backup)
    if version != ORIGINAL:
        _refuse_foreign(source, version, backup)
    lines = [str(row[0]) for row in source.execute("pragma integrity_check(3)")]
    if lines != ["ok"]:
        raise _damaged(backup, "; ".join(lines)[:300])


def _refuse_foreign(connection: apsw.Connection, version: int, backup: str) -> None:
    """Refuse a schema that is not the one of its version, before anything is done with the database."""
    differing = differences(connection, version)
    if differing:
        raise foreign_schema(backup, differing, todo="Nothing was changed. Restore another backup")


def _no_backup(backup: str) -> MossError:
    return MossError(
        "NOT_A_STORE",
        f"{backup} is no backup of Moss; nothing was changed. Give a file that `moss backup` made",
        details={"file": backup},
    )


def _migrate_copy(prepared: str, backup: str) -> None:
    """Migrate the copy and check that it then has exactly the schema of a store."""
    connection = _open(prepared)
    try:
        connection.execute("pragma journal_mode = delete")
        if schema_of(connection, prepared) == ORIGINAL:
            from moss_memory.storage.sqlite.repair.legacy_v1 import LegacyUpgrade

            connection.execute("begin immediate")
            LegacyUpgrade(connection).run()
            run_migrations(connection, 1)
            connection.execute("commit")
        migrate(connection)
        _refuse_foreign(connection, SCHEMA_VERSION, backup)
        row_faults = faults(connection, references=False)
        if row_faults:
            raise inconsistent(f"the backup {backup}", row_faults, "Nothing was changed. Restore another backup")
    finally:
        connection.close()


def _open(path: str) -> apsw.Connection:
    connection = apsw.Connection(path, flags=_FLAGS)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    add_functions(connection)
    restrict_schema(connection)
    return connection


def _swap_content(path: str, prepared: str) -> str:
    live = _open(path)
    try:
        _refuse_another_program(live, path)
        old_copy = backup_file(path, KEPT)
        _adapt(prepared, live)
        live.execute("pragma synchronous = full")
        if not os.path.lexists(path + RESTORED_LOG):
            create_private_file(path + RESTORED_LOG)
            sync_folder(os.path.dirname(path))
        source = _open(prepared)
        try:
            # One transaction of SQLite: it goes through the log, so readers and a crash see all or nothing.
            with live.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(-1)
        finally:
            source.close()
    finally:
        live.close()
    forget_restored_log(path)
    discard(prepared)
    return old_copy


def _refuse_another_program(live: apsw.Connection, path: str) -> None:
    try:
        schema_of(live, path)
    except MossError as error:
        if error.code == "NOT_A_STORE" and error.__cause__ is not None:
            raise error.__cause__ from None  # not a database: perhaps the rest of a store
        if error.code == "NOT_A_STORE":
            raise


def _adapt(prepared: str, live: apsw.Connection) -> None:
    """Adapt the copy: the same page size, and no number that a running process has seen."""
    connection = _open(prepared)
    try:
        size = live.pragma("page_size")
        if connection.pragma("page_size") != size:
            connection.execute(f"pragma page_size = {size}")
            connection.execute("vacuum")
        live_sequences = _sequences(live)
        connection.execute("begin immediate")
        for table, last in _sequences(connection).items():
            offset = max(last, live_sequences.get(table, 0))
            connection.execute(f"update {table} set rowid = rowid + {offset}")
            connection.execute("update sqlite_sequence set seq = seq + ? where name = ?", (offset, table))
        connection.execute("commit")
    finally:
        connection.close()


def _sequences(connection: apsw.Connection) -> dict[str, int]:
    """Return the last number of every table with an autoincrement key."""
    try:
        if connection.execute("select 1 from sqlite_schema where name = 'sqlite_sequence'").fetchone() is None:
            return {}
        return dict(connection.execute("select name, seq from sqlite_sequence"))
    except apsw.CorruptError:
        return {}


def _rename_files(path: str, prepared: str, old_copy: str | None) -> None:
    """Rename the copy to the store's path, after the old files were renamed."""
    target = old_copy or free_name(f"{path}.{KEPT}-{timestamp()}")
    _fsync(prepared)
    for part in ("", *_COMPANIONS) if old_copy else _COMPANIONS:
        if os.path.lexists(path + part):
            os.link(path + part, target + part, follow_symlinks=False)
    sync_folder(os.path.dirname(path))
    for part in _COMPANIONS:
        remove(path + part)  # it would be applied to a database that it does not belong to
    os.rename(prepared, path)
    sync_folder(os.path.dirname(path))


def _fsync(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _damaged(backup: str, what: str) -> MossError:
    return MossError(
        "STORAGE_CORRUPT",
        f"the backup {backup} is damaged ({what}); nothing was changed. Restore another one, or bring back an exported "
        "folder with `moss import`",
        details={"file": backup},
    )
