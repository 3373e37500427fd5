"""A running server: what a call costs beside a ping, what it keeps in memory."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from .client import Server, moss_server
from .measure import Line, compared_us, medians_us, scratch_folder
from .texts import Author


def fetch_against_ping(rounds: int = 3_000) -> Line:
    """`capsule_fetch` of a 2,000-character capsule against `ping` on the same connection, one by one."""
    fetch = "capsule_fetch", {"name": "auth"}
    with scratch_folder() as folder, moss_server(folder) as server:
        server.hello()
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
    return Line(title, called / pinged, 3, note=compared_us(called, pinged))


def memory() -> Line:
    """Resident memory of `moss mcp` after 10,000 calls."""
    author = Author(seed=4)
    with scratch_folder() as folder, moss_server(folder) as server:
        server.hello()
        for number in range(50):
            store_one(server, author, number)
        work = mixed_work(server, author)
        for number in range(10_000):
            work(number)
        final = resident_mb(server.process.pid)
    return Line("resident memory of `moss mcp` after 10,000 calls", final, 40, unit="MB")


def store_one(server: Server, author: Author, number: int) -> None:
    """Stores a capsule under one of fifty names, so that the store itself does not grow."""
    text = author.capsule(2_000)
    server.call("capsule_store", {"name": f"capsule {number % 50}", "capsule_text": text, "mode": "replace"})


def mixed_work(server: Server, author: Author) -> Callable[[int], None]:
    """A session's mix of calls, ten kinds in turn."""

    def work(number: int) -> None:
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

    return work


def resident_mb(pid: int) -> float:
    """The resident memory of a process."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True).stdout
    return int(shown) / 1024


def lines() -> list[Line]:
    """Every line about one running server."""
    return [fetch_against_ping(), memory()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
