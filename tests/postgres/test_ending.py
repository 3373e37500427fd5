"""Servers whose writes had to wait for another one end by themselves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from support.mcp_server import McpServer
from support.postgres import databases
from support.store_truth import capsule, open_at
from support.timeouts import wait_until

SERVERS = 6
WAITING = (
    "select count(*) from pg_locks where locktype = 'advisory' and not granted and database = "
    "(select oid from pg_database where datname = current_database())"
)


def write_and_hang_up(home: Path) -> None:
    """Write once and close stdin; fail if the server does not end by itself."""
    server = McpServer(home)
    try:
        assert "id" in server.call("capsule_store", {"capsule_text": capsule()})
    finally:
        server.close()


def test_servers_that_had_to_wait_end_by_themselves(tmp_path: Path) -> None:
    home = tmp_path / "home"
    databases().settle(home)
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule()})
    url = databases().url_of(str(home))
    with ThreadPoolExecutor(SERVERS) as pool, psycopg.connect(url, autocommit=True) as looking:
        with psycopg.connect(url) as writing:
            writing.execute("select enter_write(null, 1000)")
            servers = [pool.submit(write_and_hang_up, home) for _ in range(SERVERS)]
            wait_until(lambda: looking.execute(WAITING).fetchone() == (SERVERS,), "the servers do not wait")
        for server in servers:
            server.result()
