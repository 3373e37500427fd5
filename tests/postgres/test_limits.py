"""Servers without a free connection; `make failover` also tries a full disk and a pooler."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg

from contract.doors import FULL, outcome
from moss_memory.config import default_config
from moss_memory.store import Store
from support.postgres import PostgresServer
from support.store_truth import refusal
from support.timeouts import wait_until

if TYPE_CHECKING:
    pass

CONNECTIONS = 6


def at(url: str, **settings: int) -> Store:
    """Return the store in a database."""
    return Store(default_config("/nowhere").replace(url=url, **settings))


def test_a_server_without_a_free_connection_refuses_calls_until_there_is_one() -> None:
    server = PostgresServer(f"max_connections={CONNECTIONS}", "superuser_reserved_connections=0", "max_wal_senders=0")
    try:
        with at(server.url) as store, contextlib.ExitStack() as held:
            store.call("capsule_store", {"name": "before", "capsule_text": FULL})
            store.close()
            for _ in range(CONNECTIONS):
                held.enter_context(psycopg.connect(server.url))
            for tool, arguments in (("capsule_list", {}), ("capsule_store", {"capsule_text": FULL})):
                error = refusal(store.call, tool, arguments, wait=False)
                assert (error.code, error.retryable) == ("STORAGE_BUSY", True)
                assert "no connection left" in error.message
            held.close()
            wait_until(lambda: isinstance(outcome(store, "capsule_list", {}), dict), "no connection was given back")
            assert store.call("capsule_list", {})["pagination"]["total"] == 1
    finally:
        server.close()


def test_more_callers_than_connections_wait_for_their_turn(url: str) -> None:
    others = connected(url)
    with at(url, db_max_open_conns=2) as store, ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: store.call("capsule_store", {"name": str(n), "capsule_text": FULL}), range(48)))
        assert store.call("capsule_list", {})["pagination"]["total"] == 48
        assert connected(url) <= others + 2


def connected(url: str) -> int:
    """Return the number of connections to a database, without that of the query."""
    with psycopg.connect(url) as connection:
        counted = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        row = connection.execute(counted).fetchone()
    assert row is not None
    found: int = row[0]
    return found
