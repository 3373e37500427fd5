"""A whole store into another place, table by table: every row with its number, its versions and its vectors.

Source and target are read side by side in the order of their keys, and the target is given what it lacks. So a
migration that was ended goes on where it stopped, and one whose source has changed meanwhile brings the target up to
date. In the end both are read once more and compared row by row. Until then the target is marked as unfinished, and
nobody but a migration opens it.
"""

from __future__ import annotations

import hashlib

from moss_memory.errors import MossError
from moss_memory.storage.engine import open_engine
from moss_memory.storage.store_url import target_of

from .export_schema import MOST_VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.storage.engine import CallContext, Engine, ReadTransaction, Row, Transaction

    Answer = dict[str, Any]

_AFTER = ("task_claims", "versions")
"""What goes when the rows go that it belongs to: it is looked at after those."""
_ONLY_HERE = ("erasures", "upkeep")
"""What an engine keeps for itself."""
_VECTORS = "vectors", ("doc", "model", "vector"), ("doc",)
_WAITING = "unembedded", ("doc",)
_COUNTED = "select workspace, day, tool, changes from activity order by workspace, day, tool"
"""What the events add up to, which each engine counts itself."""
_ROWS_AT_ONCE = 2000
"""How many rows a transaction of the target has at the most, and roughly how many characters."""
_CHARS_AT_ONCE = 4_000_000
_TIMEOUT_S = 60.0


def migrate(source: Engine, to: str, call: CallContext, *, dry_run: bool) -> Answer:
    """Fills a new store with everything that the source holds, and says what that was."""
    config, place = target_of(call.config, to)
    if not source.exists():
        raise MossError("NOT_FOUND", "there is no store yet, so there is nothing to migrate")
    taken, target = open_engine(config), open_engine(config, bulk_load=True)
    try:
        if taken.is_taken():
            raise _is_taken(place)
        migration = Migration(source, target, call)
        resumed = target.exists()
        done = migration.count() if dry_run else migration.run()
    except MossError:
        raise
    except Exception as error:
        raise target.translate(error) or error from error
    finally:
        taken.close()
        target.close()
    return {"to": place, "dry_run": dry_run, "resumed": resumed, **done}


class Table:
    """One table: the columns that are moved, and those that tell a row apart."""

    __slots__ = ("_key", "columns", "key", "name")

    def __init__(self, name: str, columns: tuple[str, ...], key: tuple[str, ...]) -> None:
        self.name = name
        self.columns = columns
        self.key = key
        self._key = [columns.index(column) for column in key]

    def rows(self, tx: ReadTransaction) -> Iterator[Row]:
        """Every row, in the order of the key."""
        order = ", ".join(self.key)
        for row in tx.stream(f"select {', '.join(self.columns)} from {self.name} order by {order}"):
            yield tuple([bytes(value) if isinstance(value, memoryview) else value for value in row])

    def key_of(self, row: Row) -> Row:
        """What tells a row apart and says where it stands."""
        return tuple([row[at] for at in self._key])

    def insert(self, tx: Transaction, rows: list[Row]) -> None:
        """Adds rows, as many a statement as it may have values."""
        marks = ", ".join([f":{column}" for column in self.columns])
        sql = f"insert into {self.name} ({', '.join(self.columns)}) values ({marks})"
        most = max(1, MOST_VALUES // len(self.columns))
        for first in range(0, len(rows), most):
            some = [dict(zip(self.columns, row, strict=True)) for row in rows[first : first + most]]
            if not tx.insert_all(sql, some):
                raise MossError("CONFLICT", "somebody else fills the target; let one migration run at a time")

    def delete(self, tx: Transaction, key: Row) -> None:
        """Removes the row with this key."""
        met = " and ".join([f"{column} = :{column}" for column in self.key])
        tx.run(f"delete from {self.name} where {met}", dict(zip(self.key, key, strict=True)))


class Migration:
    """One run from a source to a target that is being filled."""

    def __init__(self, source: Engine, target: Engine, call: CallContext) -> None:
        self._source = source
        self._target = target
        self._call = call
        self._done = self._total = self._changed = 0

    def run(self) -> Answer:
        """Fills the target, compares it and gives it free."""
        with _Reading(self._source, self._call) as source:
            tables = self._tables_of_both(source)
            self._total = 2 * sum([_count(source, table.name) for table in tables])
            for table in tables:
                self._fill(source, table)
            if tables[-1].name == _VECTORS[0]:
                self._fill_waiting(source)
            answer = self._compare(source, tables)
        self._target.finish_load(call=self._call)
        return {**answer, "changed": self._changed}

    def count(self) -> Answer:
        """What would be moved."""
        with _Reading(self._source, self._call) as source:
            found: list[dict[str, Any]] = [
                {"table": table.name, "rows": _count(source, table.name)} for table in self._tables(source)
            ]
        return {"tables": found, "rows": _sum(found)}

    def _tables(self, source: ReadTransaction) -> list[Table]:
        names = [name for name in self._source.tables(source) if name not in _ONLY_HERE]
        names.sort(key=lambda name: (name in _AFTER, name))
        found = [Table(name, *self._source.columns(source, name)) for name in names]
        return [*found, Table(*_VECTORS)] if self._source.columns(source, _VECTORS[0])[0] else found

    def _tables_of_both(self, source: ReadTransaction) -> list[Table]:
        """The tables to be moved, with the same columns on both sides; only vectors may be made anew."""
        tables = self._tables(source)
        with _Reading(self._target, self._call) as target:
            there = {table.name: set(self._target.columns(target, table.name)[0]) for table in tables}
        if not there.get(_VECTORS[0], True):
            del tables[-1]
        for table in tables:
            if not set(table.columns) <= there[table.name]:
                raise _differs(table.name)
        return tables

    def _fill(self, source: ReadTransaction, table: Table) -> None:
        """Gives the target the rows that it lacks; what it should not have goes first, for it may be in their way."""
        with _Reading(self._target, self._call) as target:
            batch = _Batch(self._target, table, self._call)
            begun = target.value(f"select 1 from {table.name} limit 1") is not None
            for wanted, found in _side_by_side(table, table.rows(source), table.rows(target)) if begun else ():
                if found is not None and wanted != found:
                    batch.remove(found)
            batch.write()
        with _Reading(self._target, self._call) as target:
            for wanted, found in _side_by_side(table, table.rows(source), table.rows(target)):
                self._step()
                if wanted is not None and wanted != found:  # a counter cannot be removed, it is set
                    batch.add(wanted)
            batch.write()
        self._changed += batch.changed

    def _fill_waiting(self, source: ReadTransaction) -> None:
        """What still waits to be prepared for search by meaning; by now the target believes that everything does."""
        name, columns = _WAITING
        table = Table(name, columns, columns)
        _write(self._target, self._call, lambda tx: tx.run(f"delete from {name}"))
        batch = _Batch(self._target, table, self._call)
        for row in source.stream(f"select doc from {name} order by seq"):
            batch.add(row)
        batch.write()

    def _compare(self, source: ReadTransaction, tables: list[Table]) -> Answer:
        """Reads both sides once more; every row of the one must be in the other."""
        told: list[dict[str, Any]] = []
        with _Reading(self._target, self._call) as target:
            for table in tables:
                count, sum_ = 0, hashlib.sha256()
                for wanted, found in _side_by_side(table, table.rows(source), table.rows(target)):
                    self._step()
                    if wanted != found:
                        raise _differs(table.name)
                    count += 1
                    sum_.update(repr(wanted).encode("utf-8", "surrogatepass"))
                told.append({"table": table.name, "rows": count, "sha256": sum_.hexdigest()})
            if list(source.stream(_COUNTED)) != list(target.stream(_COUNTED)):
                raise _differs("activity")
        return {"tables": told, "rows": _sum(told)}

    def _step(self) -> None:
        self._done += 1
        if self._done % 100 == 0:
            self._call.check_cancelled()
            if self._call.progress is not None:
                self._call.progress(min(self._done, self._total), self._total)


class _Batch:
    """Changes to one table of the target, written some at a time; what is written stays when the rest is not."""

    def __init__(self, target: Engine, table: Table, call: CallContext) -> None:
        self._target = target
        self._table = table
        self._call = call
        self._gone: list[Row] = []
        self._new: list[Row] = []
        self._chars = 0
        self.changed = 0

    def remove(self, row: Row) -> None:
        """Takes a row away."""
        self._gone.append(self._table.key_of(row))
        self._changes(0)

    def add(self, row: Row) -> None:
        """Adds a row."""
        self._new.append(row)
        self._changes(sum([len(value) for value in row if isinstance(value, (str, bytes))]))

    def _changes(self, chars: int) -> None:
        self.changed += 1
        self._chars += chars
        if len(self._gone) + len(self._new) >= _ROWS_AT_ONCE or self._chars >= _CHARS_AT_ONCE:
            self.write()

    def write(self) -> None:
        """Writes what has come together."""
        if self._gone or self._new:
            _write(self._target, self._call, self._put)
            self._gone, self._new, self._chars = [], [], 0

    def _put(self, tx: Transaction) -> None:
        for key in self._gone:
            self._table.delete(tx, key)
        self._table.insert(tx, self._new)


class _Reading:
    """One state of a store, for as long as it is looked at."""

    def __init__(self, engine: Engine, call: CallContext) -> None:
        self._tx = engine.begin_read(snapshot=True, call=call)

    def __enter__(self) -> ReadTransaction:
        return self._tx

    def __exit__(self, *_: object) -> None:
        self._tx.rollback()
        self._tx.release()


def _write(engine: Engine, call: CallContext, body: Callable[[Transaction], object]) -> None:
    tx = engine.begin_write(timeout_s=_TIMEOUT_S, call=call)
    try:
        body(tx)
        tx.commit()
    except BaseException:
        tx.rollback()
        raise
    finally:
        tx.release()


def _side_by_side(table: Table, left: Iterator[Row], right: Iterator[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """The rows of two sides that have the same key together; none where only the other side has it."""
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        before = other is None or (one is not None and table.key_of(one) < table.key_of(other))
        after = one is None or (other is not None and table.key_of(other) < table.key_of(one))
        yield None if after else one, None if before else other
        one = one if after else next(left, None)
        other = other if before else next(right, None)


def _count(tx: ReadTransaction, table: str) -> int:
    found: int = tx.value(f"select count(*) from {table}")
    return found


def _sum(tables: list[dict[str, Any]]) -> int:
    return sum([table["rows"] for table in tables])


def _is_taken(place: str) -> MossError:
    return MossError(
        "CONFLICT",
        f"there is a store in {place} already; a migration fills only a new one. Choose another place; "
        "`moss export --all` and `moss import` bring one store into another",
    )


def _differs(table: str) -> MossError:
    return MossError(
        "STORAGE_CORRUPT",
        f"the target holds something else in {table} than was written there; it stays marked as unfinished. Remove it "
        "and begin anew; the source is as it was",
        details={"table": table},
    )
