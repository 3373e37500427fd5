"""Copy the readable rows of a damaged database into a new one, and list the unreadable ones.

It works on a copy: the damaged files stay unchanged, and the copy's schema may be repaired.
"""

from __future__ import annotations

import os

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.server_tables import SERVER_TABLES
from moss_memory.storage.sqlite.dump import SELECT_TABLES
from moss_memory.storage.sqlite.file_kind import ORIGINAL, schema_of
from moss_memory.storage.sqlite.functions import add_functions, only_value
from moss_memory.storage.sqlite.schema_check import differences
from moss_memory.storage.sqlite.schema_migrations import migrate, run_migrations

from .legacy_v1 import LegacyUpgrade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    Lost = dict[str, Any]

_DERIVED = ("vectors", "unembedded", "upkeep", "erasures", "remembered", *SERVER_TABLES)
_CHUNK = 1 << 20
_HEAD_BYTES = 100
_MOST_BYTES = 1 << 40
_TOLERANT = "pragma writable_schema = on"
"""Makes SQLite ignore invalid definitions."""
_FAULTS = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.SQLError, UnicodeDecodeError)


def salvage_rows(path: str, target: str) -> list[Lost]:
    """Copy every readable row of a damaged database into a new one; list the unreadable ones with the reason."""
    broken = target + ".broken"
    _copy(path, broken)
    source, fresh = _open(broken), _open(target)
    try:
        source.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        source.execute(_TOLERANT)
        if _is_original(source, broken):
            return _salvage_original(source, fresh)
        migrate(fresh)
        triggers = _all(fresh, "select name, sql from sqlite_schema where type = 'trigger'")
        for name, _ in triggers:
            fresh.execute(f"drop trigger {name}")
        _repair_schema(source, fresh)
        lost: list[Lost] = []
        fresh.execute("begin immediate")
        for (table,) in _all(fresh, SELECT_TABLES):
            if table not in _DERIVED:
                lost += Salvage(source, fresh, table).run()
        for _, sql in triggers:
            fresh.execute(sql)
        fresh.execute("commit")
        return lost
    finally:
        source.close()
        fresh.close()
        for part in ("", "-wal", "-shm", "-journal"):
            if os.path.lexists(broken + part):
                os.unlink(broken + part)


def _is_original(source: apsw.Connection, path: str) -> bool:
    try:
        return schema_of(source, path) == ORIGINAL
    except (MossError, *_FAULTS):
        return False


def _salvage_original(source: apsw.Connection, fresh: apsw.Connection) -> list[Lost]:
    """Copy the readable rows of a store of the original Moss, then upgrade it."""
    [(table,)] = _all(source, "select sql from sqlite_schema where type = 'table' and name = 'capsules'")
    fresh.execute("begin immediate")
    fresh.execute(table)
    lost = Salvage(source, fresh, "capsules", key=("rowid",)).run()
    moved = LegacyUpgrade(fresh)
    moved.run()
    run_migrations(fresh, 1)
    fresh.execute("commit")
    return [*lost, *({"table": "capsules", "message": line} for line in moved.notes)]


def _copy(path: str, target: str) -> None:
    """Copy a database and its log; the database through SQLite's file layer, to keep the locks of this process."""
    file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        size = file.xFileSize()
        with _new(target) as copy:
            for offset in range(0, size, _CHUNK):
                copy.write(file.xRead(min(_CHUNK, size - offset), offset))
            # SQLite reads nothing of a truncated file; with the end filled up, only those pages are damaged.
            copy.truncate(max(size, _header_bytes(file.xRead(_HEAD_BYTES, 0)) if size >= _HEAD_BYTES else 0))
    finally:
        file.xClose()
    if os.path.exists(path + "-wal"):
        with open(path + "-wal", "rb") as log, _new(target + "-wal") as copy:  # no process locks it
            while part := log.read(_CHUNK):
                copy.write(part)


def _header_bytes(head: bytes) -> int:
    """Return the size of a database according to its header."""
    page = int.from_bytes(head[16:18], "big")
    return min(int.from_bytes(head[28:32], "big") * (65_536 if page == 1 else page), _MOST_BYTES)


def _new(path: str) -> BinaryIO:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _open(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    add_functions(connection)
    return connection


def _repair_schema(source: apsw.Connection, fresh: apsw.Connection) -> None:
    """Give the tables of the copy the definitions of a new store if their own differ or are unreadable."""
    try:
        if not differences(source, only_value(source, "pragma user_version")):
            return
    except _FAULTS:
        pass
    try:
        for name, sql in _all(fresh, "select name, sql from sqlite_schema where type = 'table'"):
            source.execute(
                "update sqlite_schema set sql = ?, type = 'table', tbl_name = name where name = ?", (sql, name)
            )
        source.execute("delete from sqlite_schema where type in ('view', 'trigger')")
        source.execute("pragma writable_schema = reset")
        source.execute(_TOLERANT)
    except _FAULTS:
        return  # then unreadable tables are listed


def _all(connection: apsw.Connection, sql: str, *values: Any) -> list[Any]:
    return list(connection.execute(sql, values))


def _as_text(value: Any) -> Any:
    """Return a key for comparison: decoded, unless it is invalid UTF-8."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


class Salvage:
    """The copy of one table: in one scan if that works, else row by row from both ends and through its indexes."""

    def __init__(
        self, source: apsw.Connection, fresh: apsw.Connection, table: str, *, key: tuple[str, ...] = ()
    ) -> None:
        self._source = source
        self._fresh = fresh
        self._table = table
        columns = _all(fresh, "select name, pk from pragma_table_info(?)", table)
        present = self._present()
        self._columns = [name for name, _ in columns if name in present]
        keys = sorted((position, name) for name, position in columns if position)
        self._key = list(key) or [name for _, name in keys] or ["rowid"]
        self._lost: list[Lost] = []
        marks = ", ".join("?" * len(self._columns))
        self._insert = f"insert or ignore into {table} ({', '.join(self._columns)}) values ({marks})"
        self._select = f"select {', '.join(self._columns)} from {table} not indexed"

    def run(self) -> list[Lost]:
        """Copy the readable rows; list the unreadable ones."""
        if not self._columns:
            return [self._lost_row(None, "the table is gone")]
        try:
            self._fresh.execute("savepoint stretch")
            for row in self._source.execute(self._select):
                self._fresh.execute(self._insert, row)
        except _FAULTS as error:
            self._fresh.execute("rollback to stretch")
            self._row_by_row(error)
        self._fresh.execute("release stretch")
        return self._lost

    def _present(self) -> set[str]:
        try:
            return {name for (name,) in _all(self._source, "select name from pragma_table_info(?)", self._table)}
        except _FAULTS:
            return set()

    def _row_by_row(self, error: Exception) -> None:
        for key in sorted(self._keys(), key=repr):
            self._copy_row(key)
        if not isinstance(error, UnicodeDecodeError):
            self._lost.append(
                self._lost_row(None, f"part of the table cannot be read ({error}); there may have been more rows")
            )

    def _keys(self) -> set[tuple[Any, ...]]:
        """Return the keys of all reachable rows: from the beginning, from the end, and in every index."""
        keys: set[tuple[Any, ...]] = set()
        key = ", ".join(
            [f"cast({name} as blob)" if name != "rowid" and self._is_text(name) else name for name in self._key]
        )
        order = [", ".join(self._key), ", ".join([f"{name} desc" for name in self._key])]
        walks = [f"select {key} from {self._table} not indexed order by {ordering}" for ordering in order]
        walks += [f"select {key} from {self._table} indexed by {index}" for index in self._indexes()]
        for walk in walks:
            try:
                for row in self._source.execute(walk):
                    keys.add(tuple(row))
            except _FAULTS:
                continue
        return keys

    def _is_text(self, name: str) -> bool:
        kinds = dict(_all(self._fresh, "select name, lower(type) from pragma_table_info(?)", self._table))
        return kinds.get(name) == "text"

    def _indexes(self) -> Iterator[str]:
        sql = "select name from pragma_index_list(?) where (origin <> 'pk' or ?) and not partial"
        try:
            yield from [name for (name,) in _all(self._source, sql, self._table, self._key == ["rowid"])]
        except _FAULTS:
            return

    def _copy_row(self, key: tuple[Any, ...]) -> None:
        """Copy one row; replace invalid bytes in its texts."""
        key = tuple([_as_text(value) for value in key])
        met = " and ".join(
            [
                f"cast({name} as blob) = ?" if isinstance(value, bytes) else f"{name} = ?"
                for name, value in zip(self._key, key, strict=True)
            ]
        )
        try:
            try:
                rows = _all(self._source, f"{self._select} where {met}", *key)
            except UnicodeDecodeError:
                rows = [self._repair_row(met, key)]
            for row in rows:
                self._fresh.execute(self._insert, row)
            if not rows:
                self._lost.append(self._lost_row(key, "is named by an index and is gone"))
        except (*_FAULTS, apsw.ConstraintError) as error:
            self._lost.append(self._lost_row(key, f"cannot be read ({error})"))

    def _repair_row(self, met: str, key: tuple[Any, ...]) -> list[Any]:
        values = []
        for name in self._columns:
            chosen = f"case typeof({name}) when 'text' then cast({name} as blob) else {name} end"
            [(kind, raw)] = _all(
                self._source, f"select typeof({name}), {chosen} from {self._table} not indexed where {met}", *key
            )
            value = raw
            if kind == "text":
                value = raw.decode("utf-8", "replace")
                if value.encode() != raw:
                    self._lost.append({**self._lost_row(key, "is no UTF-8; what of it is was kept"), "column": name})
            values.append(value)
        return values

    def _lost_row(self, key: tuple[Any, ...] | None, why: str) -> Lost:
        if key is None:
            return {"table": self._table, "message": why}
        shown = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in key]
        return {"table": self._table, "row": shown[0] if len(shown) == 1 else shown, "message": why}
