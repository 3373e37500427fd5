"""Copy of a whole store to another engine or place, table by table: every row with its number, versions and vectors.

Source and target are read in parallel in key order, and the target gets its missing rows. So an interrupted copy
continues, and one whose source has changed meanwhile brings the target up to date. At the end both are read again and
compared row by row. Until then the target is marked as incomplete, and only a copy opens it.

The command `moss migrate` and the method `Store.migrate` keep their name, because it is public.
"""

from __future__ import annotations

import hashlib

from moss_memory.errors import MossError
from moss_memory.storage.engine import ErrorTranslation, open_engine
from moss_memory.storage.store_url import target_of
from moss_memory.storage.transaction_context import committing

from .export_schema import MAX_VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Engine, ReadTransaction, Row, Transaction

    Answer = dict[str, Any]

_COPIED_LAST = ("task_claims", "versions")
"""Tables whose rows are deleted by cascade; they are copied last."""
_ENGINE_TABLES = ("erasures", "upkeep")
"""Tables that an engine uses for itself."""
_VECTORS = "vectors", ("doc", "model", "vector"), ("doc",)
_QUEUE = "unembedded", ("doc",)
_SELECT_ACTIVITY = "select workspace, day, tool, changes from activity order by workspace, day, tool"
"""The counts that each engine derives from the events; they are compared, not copied."""
_BATCH_ROWS = 2000
"""Maximum number of rows of a transaction of the target, and approximate number of characters."""
_BATCH_CHARS = 4_000_000
_TIMEOUT_S = 60.0


def copy_store(source: Engine, to: str, call: CallContext, *, dry_run: bool) -> Answer:
    """Copy everything from the source to a new store and return the counts."""
    config, address = target_of(call.config, to)
    if not source.exists():
        raise MossError("NOT_FOUND", "there is no store yet, so there is nothing to copy")
    existing, target = open_engine(config), open_engine(config, bulk_load=True)
    try:
        with ErrorTranslation(target):
            if existing.has_data():
                raise _exists_error(address)
            copy = StoreCopy(source, target, call)
            resumed = target.exists()
            counts = copy.count() if dry_run else copy.run()
    finally:
        existing.close()
        target.close()
    return {"to": address, "dry_run": dry_run, "resumed": resumed, **counts}


class TableCopy:
    """A table: the copied columns and the key columns."""

    __slots__ = ("_key", "columns", "key", "name")

    def __init__(self, name: str, columns: tuple[str, ...], key: tuple[str, ...]) -> None:
        self.name = name
        self.columns = columns
        self.key = key
        self._key = [columns.index(column) for column in key]

    def rows(self, tx: ReadTransaction) -> Iterator[Row]:
        order = ", ".join(self.key)
        for row in tx.stream(f"select {', '.join(self.columns)} from {self.name} order by {order}"):
            yield tuple([bytes(value) if isinstance(value, memoryview) else value for value in row])

    def key_of(self, row: Row) -> Row:
        return tuple([row[index] for index in self._key])

    def insert(self, tx: Transaction, rows: list[Row]) -> None:
        """Insert rows, as many per statement as its parameters allow."""
        marks = ", ".join([f":{column}" for column in self.columns])
        sql = f"insert into {self.name} ({', '.join(self.columns)}) values ({marks})"
        batch = max(1, MAX_VALUES // len(self.columns))
        for start in range(0, len(rows), batch):
            parameters = [dict(zip(self.columns, row, strict=True)) for row in rows[start : start + batch]]
            if not tx.insert_all(sql, parameters):
                raise MossError("CONFLICT", "somebody else fills the target; run one `moss migrate` at a time")

    def delete(self, tx: Transaction, key: Row) -> None:
        condition = " and ".join([f"{column} = :{column}" for column in self.key])
        tx.run(f"delete from {self.name} where {condition}", dict(zip(self.key, key, strict=True)))


class StoreCopy:
    """One run from a source to a target that is marked as incomplete."""

    def __init__(self, source: Engine, target: Engine, call: CallContext) -> None:
        self._source = source
        self._target = target
        self._call = call
        self._done = self._total = self._changed = 0

    def run(self) -> Answer:
        """Fill the target, compare it and mark it as complete."""
        with _snapshot(self._source, self._call) as source:
            tables = self._common_tables(source)
            self._total = 2 * sum([_count(source, table.name) for table in tables])
            for table in tables:
                self._fill(source, table)
            if tables[-1].name == _VECTORS[0]:
                self._fill_queue(source)
            report = self._compare(source, tables)
        self._target.finish_load(call=self._call)
        return {**report, "changed": self._changed}

    def count(self) -> Answer:
        with _snapshot(self._source, self._call) as source:
            tables: list[dict[str, Any]] = [
                {"table": table.name, "rows": _count(source, table.name)} for table in self._tables(source)
            ]
        return {"tables": tables, "rows": sum([table["rows"] for table in tables])}

    def _tables(self, source: ReadTransaction) -> list[TableCopy]:
        names = [name for name in self._source.tables(source) if name not in _ENGINE_TABLES]
        names.sort(key=lambda name: (name in _COPIED_LAST, name))
        tables = [TableCopy(name, *self._source.columns(source, name)) for name in names]
        return [*tables, TableCopy(*_VECTORS)] if self._source.columns(source, _VECTORS[0])[0] else tables

    def _common_tables(self, source: ReadTransaction) -> list[TableCopy]:
        """Return the tables to copy, with the same columns on both sides; only vectors may be computed again."""
        tables = self._tables(source)
        with _snapshot(self._target, self._call) as target:
            target_columns = {table.name: set(self._target.columns(target, table.name)[0]) for table in tables}
        if not target_columns.get(_VECTORS[0], True):
            del tables[-1]
        for table in tables:
            if not set(table.columns) <= target_columns[table.name]:
                raise _difference_error(table.name)
        return tables

    def _fill(self, source: ReadTransaction, table: TableCopy) -> None:
        """Insert missing rows into the target, after deleting surplus rows that may conflict with them."""
        with _snapshot(self._target, self._call) as target:
            batch = _Batch(self._target, table, self._call)
            has_rows = target.value(f"select 1 from {table.name} limit 1") is not None
            for expected, actual in _merge_join(table, table.rows(source), table.rows(target)) if has_rows else ():
                if actual is not None and expected != actual:
                    batch.remove(actual)
            batch.write()
        with _snapshot(self._target, self._call) as target:
            for expected, actual in _merge_join(table, table.rows(source), table.rows(target)):
                self._step()
                if expected is not None and expected != actual:  # a counter cannot be removed, it is set
                    batch.add(expected)
            batch.write()
        self._changed += batch.changed

    def _fill_queue(self, source: ReadTransaction) -> None:
        """Restore the queue of texts without vectors; the target has queued every text by now."""
        name, columns = _QUEUE
        table = TableCopy(name, columns, columns)
        _write(self._target, self._call, lambda tx: tx.run(f"delete from {name}"))
        batch = _Batch(self._target, table, self._call)
        for row in source.stream(f"select doc from {name} order by seq"):
            batch.add(row)
        batch.write()

    def _compare(self, source: ReadTransaction, tables: list[TableCopy]) -> Answer:
        """Read both sides again and refuse any difference."""
        reports: list[dict[str, Any]] = []
        with _snapshot(self._target, self._call) as target:
            for table in tables:
                count, checksum = 0, hashlib.sha256()
                for expected, actual in _merge_join(table, table.rows(source), table.rows(target)):
                    self._step()
                    if expected != actual:
                        raise _difference_error(table.name)
                    count += 1
                    checksum.update(repr(expected).encode("utf-8", "surrogatepass"))
                reports.append({"table": table.name, "rows": count, "sha256": checksum.hexdigest()})
            if list(source.stream(_SELECT_ACTIVITY)) != list(target.stream(_SELECT_ACTIVITY)):
                raise _difference_error("activity")
        return {"tables": reports, "rows": sum([table["rows"] for table in reports])}

    def _step(self) -> None:
        self._done += 1
        if self._done % 100 == 0:
            self._call.check_cancelled()
            if self._call.progress is not None:
                self._call.progress(min(self._done, self._total), self._total)


class _Batch:
    """Changes of one table of the target, committed in batches."""

    def __init__(self, target: Engine, table: TableCopy, call: CallContext) -> None:
        self._target = target
        self._table = table
        self._call = call
        self._deleted: list[Row] = []
        self._inserted: list[Row] = []
        self._chars = 0
        self.changed = 0

    def remove(self, row: Row) -> None:
        self._deleted.append(self._table.key_of(row))
        self._count_change(0)

    def add(self, row: Row) -> None:
        self._inserted.append(row)
        self._count_change(sum([len(value) for value in row if isinstance(value, (str, bytes))]))

    def _count_change(self, chars: int) -> None:
        self.changed += 1
        self._chars += chars
        if len(self._deleted) + len(self._inserted) >= _BATCH_ROWS or self._chars >= _BATCH_CHARS:
            self.write()

    def write(self) -> None:
        if self._deleted or self._inserted:
            _write(self._target, self._call, self._write_batch)
            self._deleted, self._inserted, self._chars = [], [], 0

    def _write_batch(self, tx: Transaction) -> None:
        for key in self._deleted:
            self._table.delete(tx, key)
        self._table.insert(tx, self._inserted)


def _snapshot(engine: Engine, call: CallContext) -> AbstractContextManager[ReadTransaction]:
    return committing(engine.read_transaction(snapshot=True, call=call))


def _write(engine: Engine, call: CallContext, body: Callable[[Transaction], object]) -> None:
    with committing(engine.write_transaction(timeout_s=_TIMEOUT_S, call=call)) as tx:
        body(tx)


def _merge_join(table: TableCopy, left: Iterator[Row], right: Iterator[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Yield pairs of rows with the same key; None for a side without that key."""
    left_row, right_row = next(left, None), next(right, None)
    while left_row is not None or right_row is not None:
        only_left = right_row is None or (left_row is not None and table.key_of(left_row) < table.key_of(right_row))
        only_right = left_row is None or (right_row is not None and table.key_of(right_row) < table.key_of(left_row))
        yield None if only_right else left_row, None if only_left else right_row
        left_row = left_row if only_right else next(left, None)
        right_row = right_row if only_left else next(right, None)


def _count(tx: ReadTransaction, table: str) -> int:
    count: int = tx.value(f"select count(*) from {table}")
    return count


def _exists_error(address: str) -> MossError:
    return MossError(
        "CONFLICT",
        f"there is a store in {address} already; `moss migrate` fills only a new one. Choose another place; "
        "`moss export --all` and `moss import` add one store to another",
    )


def _difference_error(table: str) -> MossError:
    return MossError(
        "STORAGE_CORRUPT",
        f"{table} of the target differs from the source; the target stays marked as incomplete. Remove it and begin "
        "again; the source is unchanged",
        details={"table": table},
    )
