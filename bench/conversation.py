"""A running server: what a call costs beside a ping, what it keeps in memory, how long its list is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

from .client import Server, moss_server
from .measure import Line, compared_us, medians_us, scratch_folder
from .texts import Author

GROWTH_MB = 0.5
"""What counts as no growth: an allocator moves by some pages however little is kept."""


def fetch_against_ping() -> Line:
    """`capsule_fetch` of a 2,000-character capsule against `ping` on the same connection, one by one."""
    return against_ping("capsule_fetch", {"name": "auth"}, at_most=3)


def tools_against_ping() -> Line:
    """`moss_tools` with a question against `ping` on the same connection, one by one."""
    return against_ping("moss_tools", {"query": "bring back a deleted capsule"}, at_most=5)


def against_ping(tool: str, arguments: dict[str, object], *, at_most: float, rounds: int = 3_000) -> Line:
    """A call against `ping` on the same connection, one by one."""
    with scratch_folder() as folder, moss_server(folder) as server:
        server.hello()
        server.call("capsule_store", {"name": "auth", "capsule_text": Author(seed=2).capsule(2_000)})
        server.call(tool, arguments)
        warm_up = 200
        pings = iter([server.request("ping") for _ in range(rounds + warm_up)])
        calls = iter([server.call_request(tool, arguments) for _ in range(rounds + warm_up)])
        called, pinged = medians_us(
            lambda: server.exchange(next(calls)),
            lambda: server.exchange(next(pings)),
            rounds=rounds,
            warm_up=warm_up,
        )
    title = f"`{tool}` over stdio : `ping` on the same connection"
    return Line(title, called / pinged, at_most, note=compared_us(called, pinged))


def memory() -> list[Line]:
    """Resident memory of `moss mcp` after 10,000 calls, and what the last 5,000 of them added."""
    author = Author(seed=4)
    with scratch_folder() as folder, moss_server(folder) as server:
        server.hello()
        for number in range(50):
            store_one(server, author, number)
        work = mixed_work(server, author)
        for number in range(5_000):
            work(number)
        halfway = resident_mb(server.process.pid)
        for number in range(5_000, 10_000):
            work(number)
        final = resident_mb(server.process.pid)
    return [
        Line("resident memory of `moss mcp` after 10,000 calls", final, 40, unit="MB"),
        Line("growth of it from 5,000 to 10,000 calls", final - halfway, GROWTH_MB, unit="MB"),
    ]


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


def list_length() -> Line:
    """The characters of `tools/list` that a model sees when only capsules are offered."""
    with scratch_folder() as folder, moss_server(folder, "--toolsets", "capsule") as server:
        server.hello()
        answer = json.loads(server.exchange(server.request("tools/list")))
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in answer["result"]["tools"]]
    shown = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
    return Line("`tools/list` with capsules only", len(shown), 15_000, unit="characters")


def lines() -> list[Line]:
    """Every line about one running server."""
    return [fetch_against_ping(), tools_against_ping(), *memory(), list_length()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
