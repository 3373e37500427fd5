"""Read and change a store from a test without its tools, through the engine that stores it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from moss_memory.config import load_config
from moss_memory.storage.call import CallContext
from moss_memory.storage.engine import open_engine
from moss_memory.storage.health import DAMAGED, FAILED
from moss_memory.storage.sqlite import schema_check
from support.timeouts import TIMEOUT_S, wait_until

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
"""A store refuses foreign triggers; triggers that a test sets are ignored."""


class DirectStore:
    """The engine of a home, opened by the test itself and closed at garbage collection."""

    def __init__(self, home: object) -> None:
        self._home = str(home)
        config = load_config(home=self._home, cwd="/")
        self.engine: Engine = open_engine(config)
        self._call = CallContext(
            operation="test", config=config, clock_ms=lambda: 0, new_id=lambda now_ms: "", cancelled=None, progress=None
        )

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of one statement."""
        return self.read(lambda tx: list(tx.rows(sql, parameters)))

    def read(self, body: Callable[[ReadTransaction], Found]) -> Found:
        """Return the result of a reading transaction."""
        tx = self.engine.read_transaction(snapshot=False, call=self._call)
        try:
            return body(tx)
        finally:
            tx.release()

    def run(self, *statements: str) -> None:
        """Run statements as an additional writer of the store."""

        def change(tx: Transaction) -> None:
            for sql in statements:
                tx.run(sql)

        self.write(change)

    def write(self, body: Callable[[Transaction], None]) -> None:
        """Run a writing transaction as an additional writer of the store."""
        tx = self.engine.write_transaction(timeout_s=TIMEOUT_S, call=self._call)
        try:
            body(tx)
            tx.commit()
        finally:
            tx.rollback()
            tx.release()

    def trap(self, name: str, what: str, *, when: str = "true", how: str = "abort") -> None:
        """Make the store fail at an operation such as `insert on tasks`, until `free` removes the trap.

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
        """Remove traps."""
        for name in names:
            self.run(f"drop function {name} cascade" if self._is_on_a_server else f"drop trigger {name}")

    def places_of(self, word: str) -> list[str]:
        """Return the files, and on a server the tables, that contain a word."""
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
        """Return whether a failed call may leave a gap in the numbers."""
        return self._is_on_a_server

    @property
    def _is_on_a_server(self) -> bool:
        return not self.engine.files()

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of every table, including events, without counters that never changed."""
        found: dict[str, list[tuple[Any, ...]]] = {}
        for table, row in self.engine.dump(call=self._call):
            if table != "numbers" or row[1]:
                found.setdefault(table, []).append(row)
        return found

    def forget(self, *but: str) -> None:
        """Delete all rows except those of some tables, so that the next test begins with an empty store."""
        if self.engine.exists():
            self.engine.truncate_all(call=self._call, but=but)
            self._write_log_back()

    def _write_log_back(self) -> None:
        """Checkpoint the log, because one with fewer events than the database counts as an older log."""
        path = os.path.join(self._home, "moss.db")
        if os.path.exists(path):
            connection = apsw.Connection(path)
            connection.set_busy_timeout(int(TIMEOUT_S * 1000))
            connection.execute("pragma wal_checkpoint(passive)")
            connection.close()

    def problems(self) -> list[str]:
        """Return the faults that the engine finds, except that test servers are not durable."""
        found = self.engine.check_health(call=self._call, fix=False)
        wrong = [finding for finding in found if finding.state in (DAMAGED, FAILED)]
        return [f"{finding.subject}: {finding.facts}" for finding in wrong if finding.subject != "durability"]

    def __enter__(self) -> DirectStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.close()


def rows(home: object, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of one statement on a store; none before its first write."""
    with DirectStore(home) as direct:
        return direct.rows(sql)


def exists(home: object) -> bool:
    """Return whether there is a store."""
    with DirectStore(home) as direct:
        return direct.engine.exists()


def dump(home: object) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table of a store; nothing before its first write."""
    with DirectStore(home) as direct:
        return direct.dump()


def run(home: object, *statements: str) -> None:
    """Run statements on a store that may be open elsewhere."""
    with DirectStore(home) as direct:
        direct.run(*statements)


def forget(home: object, *but: str) -> None:
    """Empty a store that may be open elsewhere."""
    with DirectStore(home) as direct:
        direct.forget(*but)


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class Watch:
    """Detect commits to a store since the previous look."""

    def __init__(self, home: object) -> None:
        self.direct = DirectStore(home)
        self._mark = self.direct.engine.change_token()

    def saw_a_commit(self) -> bool:
        """Return whether a transaction was committed since the previous call."""
        before, self._mark = self._mark, self.direct.engine.change_token()
        return self._mark != before

    def close(self) -> None:
        """Stop watching."""
        self.direct.engine.close()


class ContentWatch(Watch):
    """Detect changes of stored rows, except for vectors, which an idle server may write at any time."""

    def __init__(self, home: object) -> None:
        super().__init__(home)
        self._content = self.direct.dump()

    def saw_a_change(self) -> bool:
        """Return whether any row changed since the previous call."""
        if not self.saw_a_commit():
            return False
        before, self._content = self._content, self.direct.dump()
        return self._content != before


def newest_change(call: Callable[..., dict[str, Any]], home: object) -> int:
    """Return the number of the newest change once it is visible; other transactions on the server may delay it."""
    [(newest,)] = rows(home, "select max(seq) from events")
    wait_until(lambda: call("moss_changes")["seq"] == newest, "a change is not told")
    return int(newest)
