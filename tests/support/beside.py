"""What a test sees and does of a store beside its door, asked of the engine that keeps it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from moss_memory.config import load_config
from moss_memory.storage.call_context import CallContext
from moss_memory.storage.engine import open_engine
from moss_memory.storage.health import DAMAGED, FAILED
from moss_memory.storage.sqlite import schema_check
from support.patience import TIMEOUT_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from moss_memory.storage.engine import Engine, ReadTransaction, Transaction

Found = TypeVar("Found")
_TRAPS: set[str] = set()
_differences = schema_check.differences


def _differences_but_traps(connection: Any, version: int) -> list[dict[str, str]]:
    return [one for one in _differences(connection, version) if one["name"] not in _TRAPS]


schema_check.differences = _differences_but_traps
"""A store refuses foreign triggers; those that a test sets are part of the test."""


class Beside:
    """The engine of a home, opened by the test for itself; closed when it goes out of use."""

    def __init__(self, home: object) -> None:
        self._home = str(home)
        config = load_config(home=self._home, cwd="/")
        self.engine: Engine = open_engine(config)
        self._call = CallContext(
            operation="test", config=config, clock_ms=lambda: 0, new_id=lambda now_ms: "", cancelled=None, progress=None
        )

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of one statement."""
        return self.read(lambda tx: list(tx.rows(sql, parameters)))

    def read(self, body: Callable[[ReadTransaction], Found]) -> Found:
        """What a reading transaction gives."""
        tx = self.engine.begin_read(snapshot=False, call=self._call)
        try:
            return body(tx)
        finally:
            tx.release()

    def run(self, *statements: str) -> None:
        """Changes the store by statements, as one writer among the others."""

        def change(tx: Transaction) -> None:
            for sql in statements:
                tx.run(sql)

        self.write(change)

    def write(self, body: Callable[[Transaction], None]) -> None:
        """Changes the store in a transaction, as one writer among the others."""
        tx = self.engine.begin_write(timeout_s=TIMEOUT_S, call=self._call)
        try:
            body(tx)
            tx.commit()
        finally:
            tx.rollback()
            tx.release()

    def trap(self, name: str, what: str, *, when: str = "true", how: str = "abort") -> None:
        """Makes the store refuse what is said here, `insert on tasks`, until `free` takes the trap away.

        `how` is one of SQLite's ways to fail, of which a server has one.
        """
        if self._is_on_a_server:
            self.run(
                f"create function {name}() returns trigger language plpgsql as $$ begin raise 'no'; end $$",
                f"create trigger {name} before {what} for each row when ({when}) execute function {name}()",
            )
        else:
            _TRAPS.add(name)  # first: from then on a writer that checks the schema accepts it
            self.run(f"create trigger {name} before {what} when {when} begin select raise({how}, 'no'); end")

    def free(self, *names: str) -> None:
        """Takes traps away."""
        for name in names:
            self.run(f"drop function {name} cascade" if self._is_on_a_server else f"drop trigger {name}")

    def places_of(self, word: str) -> list[str]:
        """The files, and on a server the tables, in which a word stands."""
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(self._home) for name in names]
        files = [path for path in sorted(paths) if word.encode() in _bytes_of(path)]
        return [*files, *self._tables_with(word)] if self._is_on_a_server else files

    def _tables_with(self, word: str) -> list[str]:
        tables = self.rows(
            "select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace"
        )
        held = "select 1 from {0} as held where held::text like '%' || :word || '%' limit 1"
        return [name for (name,) in tables if self.rows(held.format(name), {"word": word})]

    @property
    def has_gaps(self) -> bool:
        """Whether a call that failed beside others may leave its number to nobody."""
        return self._is_on_a_server

    @property
    def _is_on_a_server(self) -> bool:
        return not self.engine.files()

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, events included; counters that nothing moved yet are none."""
        found: dict[str, list[tuple[Any, ...]]] = {}
        for table, row in self.engine.dump(call=self._call):
            if table != "numbers" or row[1]:
                found.setdefault(table, []).append(row)
        return found

    def forget(self, *but: str) -> None:
        """Empties the store, every table but those, so that the next test begins with nothing."""
        if self.engine.exists():
            self.engine.truncate_all(call=self._call, but=but)
            self._write_log_back()

    def _write_log_back(self) -> None:
        """Brings the database up to its log: one with fewer events than the database counts as an older log."""
        path = os.path.join(self._home, "moss.db")
        if os.path.exists(path):
            connection = apsw.Connection(path)
            connection.set_busy_timeout(int(TIMEOUT_S * 1000))
            connection.execute("pragma wal_checkpoint(passive)")
            connection.close()

    def problems(self) -> list[str]:
        """Whatever the engine finds to be wrong when it looks the store over; servers of tests are not durable."""
        found = self.engine.check_health(call=self._call, fix=False)
        wrong = [finding for finding in found if finding.state in (DAMAGED, FAILED)]
        return [f"{finding.subject}: {finding.facts}" for finding in wrong if finding.subject != "durability"]

    def __enter__(self) -> Beside:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.close()


def rows(home: object, sql: str) -> list[tuple[Any, ...]]:
    """The rows of one statement on a store; none while nothing was written."""
    with Beside(home) as beside:
        return beside.rows(sql)


def exists(home: object) -> bool:
    """Whether there is a store."""
    with Beside(home) as beside:
        return beside.engine.exists()


def dump(home: object) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of a store; nothing while nothing was written."""
    with Beside(home) as beside:
        return beside.dump()


def run(home: object, *statements: str) -> None:
    """Changes a store by statements beside whoever has it open."""
    with Beside(home) as beside:
        beside.run(*statements)


def forget(home: object, *but: str) -> None:
    """Empties a store beside whoever has it open."""
    with Beside(home) as beside:
        beside.forget(*but)


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class Watch:
    """Tells whether anybody has committed anything to a store since it was last asked."""

    def __init__(self, home: object) -> None:
        self.beside = Beside(home)
        self._mark = self.beside.engine.change_token()

    def saw_a_commit(self) -> bool:
        """Whether anything was committed since the last time."""
        before, self._mark = self._mark, self.beside.engine.change_token()
        return self._mark != before

    def close(self) -> None:
        """Stops watching."""
        self.beside.engine.close()


class ContentWatch(Watch):
    """Tells whether anybody changed what is stored: the vectors that an idle server makes, in its own time, are not."""

    def __init__(self, home: object) -> None:
        super().__init__(home)
        self._content = self.beside.dump()

    def saw_a_change(self) -> bool:
        """Whether any row is another since the last time."""
        if not self.saw_a_commit():
            return False
        before, self._content = self._content, self.beside.dump()
        return self._content != before


def newest_change(call: Callable[..., dict[str, Any]], home: object) -> int:
    """The number of the newest change, once it is told: what others do on the same server may hold it back."""
    [(newest,)] = rows(home, "select max(seq) from events")
    wait_until(lambda: call("moss_changes")["seq"] == newest, "a change is not told")
    return int(newest)
