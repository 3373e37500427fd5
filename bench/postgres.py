"""A store on PostgreSQL, compared with its bare statements, and 32 writers with one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from moss_memory.config import default_config
from moss_memory.storage.postgres import transaction
from moss_memory.storage.postgres.connections import open_connection
from moss_memory.store import Store

from .database_server import run_server
from .measure import BenchmarkRow, compare_times, medians_us, scratch_folder
from .texts import Author

CLIENTS = 32
WRITES = 40
FILLED = 300
"""The number of capsules in the store before the measurement."""
Statement = tuple[str, list[Any] | None]


def run(rounds: int = 200) -> list[BenchmarkRow]:
    with scratch_folder() as home, run_server() as url:
        texts = list(islice(_texts(), FILLED + rounds + 8))
        with Store(default_config(home).replace(url=url)) as store:
            _fill(store, texts[:FILLED])
        stores = _compare_stores(home, url, texts[FILLED:])
        with Store(default_config(home).replace(url=url)) as store, open_connection(url) as bare:
            reads = _compare_fetches(store, bare, rounds)
        return [stores, reads, _compare_writers(url, home)]


def _texts() -> Iterator[str]:
    author = Author(seed=7)
    while True:
        yield author.capsule(2_000)


def _fill(store: Store, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        store.call("capsule_store", {"workspace": "shop", "name": f"n{number}", "capsule_text": text})


def _compare_stores(home: str, url: str, texts: list[str]) -> BenchmarkRow:
    """Compare calls with their statements on two copies of a database; a third copy records the statements."""
    calls = [{"workspace": "shop", "name": f"m{number}", "capsule_text": text} for number, text in enumerate(texts)]
    with Store(default_config(home).replace(url=copy_database(url, "recorded"))) as store:
        recorded = [record_statements(lambda call=call: store.call("capsule_store", call)) for call in calls]  # type: ignore[misc]
    ours, theirs = iter(calls), iter(recorded)
    with (
        Store(default_config(home).replace(url=copy_database(url, "moss"))) as store,
        open_connection(copy_database(url, "bare")) as bare,
    ):

        def moss() -> None:
            store.call("capsule_store", next(ours))

        def plain() -> None:
            bare.execute("begin")
            for sql, values in next(theirs):
                bare.execute(sql, values)

        one, other = medians_us(moss, plain, rounds=len(texts) - 4)
    return BenchmarkRow(
        "PostgreSQL: capsule_store : its bare statements", one / other, 2.5, note=compare_times(one, other)
    )


def copy_database(url: str, name: str) -> str:
    """Create a copy of the database and return its URL."""
    parts = urlsplit(url)
    with open_connection(urlunsplit(parts._replace(path="/template1"))) as server:
        server.execute(f"create database {name} template {parts.path.strip('/')}")
    return urlunsplit(parts._replace(path=f"/{name}"))


def _compare_fetches(store: Store, bare: psycopg.Connection[Any], rounds: int) -> BenchmarkRow:
    def call() -> None:
        store.call("capsule_fetch", {"workspace": "shop", "name": "n7"})

    statements = record_statements(call)

    def plain() -> None:
        for sql, values in statements:
            cursor = bare.execute(sql, values)
            if cursor.description:
                cursor.fetchall()
        bare.execute("rollback")

    ours, theirs = medians_us(call, plain, rounds=rounds)
    return BenchmarkRow(
        "PostgreSQL: capsule_fetch : its bare statements", ours / theirs, 2.5, note=compare_times(ours, theirs)
    )


def record_statements(call: Callable[[], object]) -> list[Statement]:
    """Run a call and return the statements that it sends."""
    recorded: list[Statement] = []
    send = transaction._run_pipeline

    def recording(connection: Any, before: list[Statement], statements: list[Statement], binary: bool) -> Any:
        recorded.extend([*before, *statements])
        return send(connection, before, statements, binary)

    transaction._run_pipeline = recording
    try:
        call()
    finally:
        transaction._run_pipeline = send
    return recorded


def _compare_writers(url: str, home: str) -> BenchmarkRow:
    alone, _ = _measure_writes(url, home, 1, WRITES * 4)
    together, busy = _measure_writes(url, home, CLIENTS, WRITES)
    return BenchmarkRow(
        f"PostgreSQL: writes of one client : of {CLIENTS} in {CLIENTS} workspaces", alone / together, 0.25,
        note=f"{together / alone:.1f} times as many, all cores {busy:.0%} busy with clients and server",
    )  # fmt: skip


def _measure_writes(url: str, home: str, clients: int, writes: int) -> tuple[float, float]:
    """Return the writes per second of all clients, each in its own workspace, and the share of busy CPU time."""
    command = [sys.executable, "-m", "bench.postgres", url, home, str(writes)]
    processes = [
        subprocess.Popen([*command, f"w{number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(clients)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    before = _cpu_ticks()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    spans: list[tuple[float, float]] = [json.loads(process.communicate()[0]) for process in processes]
    work, idle = (later - earlier for earlier, later in zip(before, _cpu_ticks(), strict=True))
    duration_s = max(end for _, end in spans) - min(start for start, _ in spans)
    return clients * writes / duration_s, work / max(work + idle, 1)


def _cpu_ticks() -> tuple[int, int]:
    """Return the busy and the idle ticks of all cores; zeros if /proc does not exist."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(part) for part in file.readline().split()[1:]]
    except OSError:
        return 0, 0
    return sum(ticks) - ticks[3] - ticks[4], ticks[3] + ticks[4]


def write(url: str, home: str, writes: int, workspace: str) -> None:
    """Store capsules after a line on stdin; print the times of start and end."""
    from time import monotonic

    text = next(iter(_texts()))
    with Store(default_config(home).replace(url=url)) as store:
        store.call("capsule_store", {"workspace": workspace, "capsule_text": text})
        print("ready", flush=True)
        sys.stdin.readline()
        start = monotonic()
        for _ in range(writes):
            store.call("capsule_store", {"workspace": workspace, "capsule_text": text})
        print(json.dumps([start, monotonic()]))


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
