"""MCP over HTTP: a read beside the SDK's empty tool, many at once, memory, and how soon the server is ready."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from statistics import median
from time import perf_counter_ns

from moss_memory import open_store

from .client import HELLO, MOSS, clean_environment, moss_environment
from .measure import Line, compared_us, duration, medians_us, scratch_folder
from .startup import BARE, running
from .texts import Author

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

CONNECTIONS = 64
CALLS = 4_000
ROUNDS = 5
LOAD_S = 30.0
FIRST_ID = 1_000_000
_LIMITS = {"token_calls_per_minute": 100_000_000, "token_calls_at_once": 1_000}
"""One token makes all calls, more than a server allows by default."""
SDK_EMPTY_TOOL = """\
import sys, uvicorn
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty")
@server.tool()
def empty() -> str:
    return ""
app = server.streamable_http_app(json_response=True)
uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[1]), http="httptools", log_level="critical")).run()
"""


class HttpServer:
    """A server over HTTP in a process of its own, with a session for the calls."""

    def __init__(self, command: list[str], port: int, tool: str, arguments: dict[str, Any], **options: Any) -> None:
        self.port = port
        self._tool = tool
        self._arguments = arguments
        self._headers = ""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
        )

    def begin(self, headers: str = "") -> None:
        """Waits until the server answers and shakes hands."""
        self._headers = headers
        asyncio.run(self._begin())

    async def _begin(self) -> None:
        connection = await self._connected()
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
        said, _ = await connection.exchange(self.post(hello))
        (session,) = [line for line in said.split(b"\r\n") if line.lower().startswith(b"mcp-session-id:")]
        self._headers += session.decode() + "\r\n"
        await connection.exchange(self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        connection.close()

    def wait(self) -> None:
        """Waits until the server answers anything."""
        asyncio.run(self._wait())

    async def _wait(self) -> None:
        connection = await self._connected()
        await connection.exchange(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        connection.close()

    async def _connected(self) -> Connection:
        while True:
            try:
                return await Connection.to(self.port)
            except OSError:
                assert self.process.poll() is None, "the server has ended"
                await asyncio.sleep(0.002)

    def post(self, message: dict[str, Any]) -> bytes:
        """A message as the request that carries it."""
        body = json.dumps(message, separators=(",", ":"))
        return (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n{self._headers}\r\n{body}"
        ).encode()

    def call(self) -> tuple[bytes, bytes]:
        """The request that is measured: what stands before its id, of seven digits, and what behind it."""
        params = {"name": self._tool, "arguments": self._arguments}
        whole = self.post({"jsonrpc": "2.0", "id": FIRST_ID, "method": "tools/call", "params": params})
        before, _, behind = whole.partition(b"%d" % FIRST_ID)
        return before, behind

    def cpu_us(self) -> float:
        """The processor time that the server has taken, in its own code and in the system's for it."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000 / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


class Connection:
    """One connection, as thin as can be, so that what is timed is the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """The head and the body of the answer to a request."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return head, await self._reader.readexactly(int(length or 0))

    def close(self) -> None:
        self._writer.close()


async def calls(server: HttpServer, connections: int, count: int, until_s: float | None = None) -> list[float]:
    """The microseconds of so many calls over so many connections, or of those within a time; all must succeed."""
    before, behind = server.call()
    ids = itertools.cycle(range(FIRST_ID, 10 * FIRST_ID))  # two calls of one id at once would be the client's fault
    taken: list[float] = []
    left = count
    deadline = None if until_s is None else perf_counter_ns() + until_s * 1e9

    async def work() -> None:
        nonlocal left
        connection = await Connection.to(server.port)
        while left > 0 and (deadline is None or perf_counter_ns() < deadline):
            left -= 1
            begun = perf_counter_ns()
            head, body = await connection.exchange(b"%s%d%s" % (before, next(ids), behind))
            taken.append((perf_counter_ns() - begun) / 1000)
            assert head.startswith(b"HTTP/1.1 200"), head
            assert b'"isError":false' in body, body
        connection.close()

    await asyncio.gather(*(work() for _ in range(connections)))
    return taken


@contextmanager
def moss(folder: str) -> Iterator[HttpServer]:
    """`moss serve` on a store with one capsule of 2,000 characters."""
    home = os.path.join(folder, "moss")
    with open_store(home) as store:
        store.call("capsule_store", {"name": "auth", "capsule_text": Author(seed=2).capsule(2_000)})
    with open(os.path.join(home, "config.json"), "w", encoding="utf-8") as file:
        json.dump(_LIMITS, file)
    port = free_port()
    command = [MOSS, "serve", "--port", str(port), "--home", home]
    options = {"env": moss_environment(home), "cwd": folder}
    with HttpServer(command, port, "capsule_fetch", {"name": "auth"}, **options) as server:
        server.wait()
        with open(os.path.join(home, "token"), encoding="ascii") as file:
            server.begin(f"Authorization: Bearer {file.read().strip()}\r\n")
        yield server


@contextmanager
def sdk(folder: str) -> Iterator[HttpServer]:
    """The SDK's server with a tool that does nothing."""
    port = free_port()
    command = [sys.executable, "-I", "-c", SDK_EMPTY_TOOL, str(port)]
    with HttpServer(command, port, "empty", {}, env=clean_environment(), cwd=folder) as server:
        server.begin()
        yield server


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def read_against_the_sdk() -> Line:
    """A fetch over HTTP against the SDK's empty tool: the servers' processor time, in turn, at 64 connections."""
    with scratch_folder() as folder, moss(folder) as ours, sdk(folder) as theirs:
        costs: dict[HttpServer, list[float]] = {ours: [], theirs: []}
        for _ in range(ROUNDS):
            for server, taken in costs.items():
                before = server.cpu_us()
                asyncio.run(calls(server, CONNECTIONS, CALLS))
                taken.append((server.cpu_us() - before) / CALLS)
        one, other = median(costs[ours]), median(costs[theirs])
    what = f"processor time of a read over HTTP, {CONNECTIONS} at once : the SDK's empty tool"
    return Line(what, one / other, 1.0, note=compared_us(one, other))


def under_load() -> Line:
    """64 connections that ask without a pause for 30 seconds."""
    with scratch_folder() as folder, moss(folder) as server:
        taken = sorted(asyncio.run(calls(server, CONNECTIONS, 10**9, LOAD_S)))
    typical, slow = median(taken), taken[int(len(taken) * 0.99)]
    what = f"the slowest of 100 reads : a typical one, {CONNECTIONS} at once for 30 s"
    return Line(
        what, slow / typical, 10, note=f"{duration(slow)} : {duration(typical)}, {len(taken):,} calls, no error"
    )


def ready() -> Line:
    """From the start of `moss serve` to its first answer, against a bare interpreter."""
    with scratch_folder() as folder:
        home = os.path.join(folder, "moss")

        def start() -> None:
            port = free_port()
            command = [MOSS, "serve", "--port", str(port), "--home", home]
            with HttpServer(command, port, "", {}, env=moss_environment(home), cwd=folder) as server:
                server.wait()

        bare = running(BARE, env=moss_environment(home), cwd=folder)
        started, ran = medians_us(start, bare, rounds=15)
    return Line(
        "`moss serve` until it answers : `python -I -c pass`", started / ran, 15, note=compared_us(started, ran)
    )


def lines() -> list[Line]:
    """Every line about HTTP."""
    return [read_against_the_sdk(), under_load(), ready()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
