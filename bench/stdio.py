"""`moss mcp` over stdio: the time of a call, compared with a ping, and the memory after many calls."""

from __future__ import annotations

import subprocess

from .client import Server, moss_server
from .measure import BenchmarkRow, compare_times, medians_us, scratch_folder
from .texts import Author


def compare_fetch_with_ping(rounds: int = 3_000) -> BenchmarkRow:
    """Compare `capsule_fetch` of a capsule of 2,000 characters with `ping` on the same connection."""
    fetch = "capsule_fetch", {"name": "auth"}
    with scratch_folder() as folder, moss_server(folder) as server:
        server.initialize()
        server.call("capsule_store", {"name": "auth", "capsule_text": Author(seed=2).capsule(2_000)})
        server.call(*fetch)
        warm_up = 200
        pings = iter([server.request("ping") for _ in range(rounds + warm_up)])
        calls = iter([server.call_request(*fetch) for _ in range(rounds + warm_up)])
        called, pinged = medians_us(
            lambda: server.exchange(next(calls)),
            lambda: server.exchange(next(pings)),
            rounds=rounds,
            warm_up=warm_up,
        )
    title = "`capsule_fetch` over stdio : `ping` on the same connection"
    return BenchmarkRow(title, called / pinged, 3, note=compare_times(called, pinged))


def measure_memory() -> BenchmarkRow:
    author = Author(seed=4)
    with scratch_folder() as folder, moss_server(folder) as server:
        server.initialize()
        for number in range(50):
            store_one(server, author, number)
        for number in range(10_000):
            send_mixed_call(server, author, number)
        final = resident_mb(server.process.pid)
    return BenchmarkRow("resident memory of `moss mcp` after 10,000 calls", final, 40, unit="MB")


def store_one(server: Server, author: Author, number: int) -> None:
    """Store a capsule under one of fifty names, so that the store does not grow."""
    text = author.capsule(2_000)
    server.call("capsule_store", {"name": f"capsule {number % 50}", "capsule_text": text, "mode": "replace"})


def send_mixed_call(server: Server, author: Author, number: int) -> None:
    """Make one call of a session; ten calls in a row are a typical mix."""
    turn = number % 10
    if turn == 0:
        store_one(server, author, number // 10)
    elif turn in (1, 2):
        server.call("capsule_list", {})
    elif turn == 3:
        server.call("capsule_search", {"query": author.prose(30)})
    elif turn == 4:
        server.call("capsule_latest", {"include_text": True})
    elif turn == 5:
        server.exchange(server.call_request("capsule_fetch", {"name": "nobody"}))
    else:
        server.call("capsule_fetch", {"name": f"capsule {number % 50}"})


def resident_mb(pid: int) -> float:
    output = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True).stdout
    return int(output) / 1024


def run() -> list[BenchmarkRow]:
    return [compare_fetch_with_ping(), measure_memory()]
