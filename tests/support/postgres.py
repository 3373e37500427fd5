"""A PostgreSQL server for the tests: one per session, with a database for each store that a test opens.

`python -m support.postgres` starts one that runs until its standard input is closed, and prints what to put into
`MOSS_TEST_POSTGRES`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
import pytest

from moss_memory.config import Config, default_config
from moss_memory.storage.call import CallContext
from moss_memory.storage.postgres.engine import PostgresEngine
from support.postgres_programs import Programs
from support.timeouts import TIMEOUT_S

VARIABLE = "MOSS_TEST_POSTGRES"
"""The environment variable with the URL of the running server, read by workers and processes of tests."""
_SETTINGS = (
    "fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=", "max_connections=300",
    "shared_buffers=64MB", "max_wal_size=256MB", "jit=off",
)  # fmt: skip


class PostgresServer:
    """A server in a temporary folder, reached only by a socket in it."""

    def __init__(self, *settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="moss-pg-"))
        self.programs = Programs(self.folder)
        self.data = self.folder / "data"
        self.programs.initdb(self.data)
        self._settings = (*_SETTINGS, *settings)
        self.url = f"postgresql://moss@/postgres?host={self.folder}"
        self.start()

    def start(self) -> None:
        """Start the server, also after a stop."""
        with (self.folder / "log").open("ab") as log:
            self.process = self.programs.start(log, self.data, self.folder, *self._settings)
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + TIMEOUT_S
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise AssertionError((self.folder / "log").read_text()) from None

    def restart(self) -> None:
        """Stop the server with all its connections, and start it again."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """Stop the server with all its connections."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=TIMEOUT_S)

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self.process.send_signal(3)  # at once, without asking those who are connected
        self.process.wait(timeout=TIMEOUT_S)
        shutil.rmtree(self.folder, ignore_errors=True)


class Databases:
    """The databases of one test process: each home that a test opens gets one, which is empty at first."""

    def __init__(self, server: str, worker: str) -> None:
        self._server = server
        self._worker = worker
        self._given: dict[str, Engine] = {}
        self._made: list[Engine] = []
        self._kept: set[str] = set()
        self._opened: list[tuple[str, Opened]] = []
        self._folders: set[str] = set()
        """The homes that existed when they got a database."""
        self.in_folder: Any
        """The function that opens a store in its folder."""

    def url_of(self, home: str) -> str:
        """Return the database of a home; it is empty at the first call in a test."""
        home = os.path.realpath(home)
        if home not in self._given:
            self._forget_removed()
            if os.path.isdir(home):
                self._folders.add(home)
            free = next((engine for engine in self._made if engine not in self._given.values()), None)
            if free is not None:
                free.truncate_all(call=_call(free.config))
            self._given[home] = free or self._make()
        url: str = self._given[home].config.url
        return url

    def _forget_removed(self) -> None:
        """Release the databases of homes that a test has removed, because one test may need hundreds."""
        for home in [home for home in self._folders if not os.path.isdir(home)]:
            self._folders.discard(home)
            self._given.pop(home, None)

    def settle(self, home: Path) -> None:
        """Make a home whose settings name its database, so that every process uses it."""
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "config.json").write_text(json.dumps({"url": self.url_of(str(home))}))

    def keep(self, home: str) -> str:
        """Return the database of a home that outlasts the test."""
        self._kept.add(os.path.realpath(home))
        return self.url_of(home)

    def engine_of(self, home: str) -> PostgresEngine:
        """Open a database in place of a store in a folder."""
        opened = Opened(default_config(home).replace(url=self.url_of(home)))
        self._opened.append((os.path.realpath(home), opened))
        return opened

    def _make(self) -> Engine:
        name = f"moss_{self._worker}_{len(self._made)}"
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"drop database if exists {name} with (force)")
            connection.execute(f"create database {name}")
        made = Engine(default_config("/").replace(url=self._server.replace("/postgres?", f"/{name}?")))
        self._made.append(made)
        return made

    def take_back(self) -> None:
        """Release the databases of all homes except kept and open ones."""
        self._opened = [(home, engine) for home, engine in self._opened if engine.is_open]
        kept = self._kept | {home for home, _ in self._opened}
        self._given = {home: engine for home, engine in self._given.items() if home in kept}

    def close(self) -> None:
        """Close the connections to the server."""
        for engine in self._made:
            engine.close()


_databases: list[Databases] = []


def databases() -> Databases:
    """Return the databases of this test process."""
    return _databases[0]


def start_for_tests(config: pytest.Config) -> None:
    """Store everything of this test process on a server, which the first process starts and stops at its end."""
    if VARIABLE not in os.environ:
        server = PostgresServer()
        os.environ[VARIABLE] = server.url
        config.add_cleanup(server.close)
    worker = getattr(config, "workerinput", {}).get("workerid", f"p{os.getpid()}")
    own = Databases(os.environ[VARIABLE], worker)
    _databases.append(own)
    config.add_cleanup(own.close)
    # The engine is imported when the first store is opened: whoever means a folder gets that folder's database.
    engine: Any = import_module("moss_memory.storage.sqlite.engine")
    own.in_folder = engine.SqliteEngine
    engine.SqliteEngine = own.engine_of


class Opened(PostgresEngine):
    """The engine of a store, which may be open for all tests of a module."""

    is_open = True

    def close(self) -> None:
        super().close()
        self.is_open = False


class Engine(PostgresEngine):
    """An engine that empties a database."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.config = config


def _call(config: Config) -> CallContext:
    return CallContext(
        operation="test", config=config, clock_ms=lambda: 0, new_id=lambda now_ms: "", cancelled=None, progress=None
    )


if __name__ == "__main__":
    server = PostgresServer()
    print(f"export {VARIABLE}='{server.url}'", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        sys.stdin.read()
    server.close()
