"""MCP over HTTP: CPU time of a read, compared with the SDK's empty tool; slow reads under load; start-up."""

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

from .client import INITIALIZE, MOSS, clean_environment, moss_environment
from .measure import BenchmarkRow, compare_times, medians_us, scratch_folder
from .startup import BARE, process
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
"""One token makes all calls: more than the default limits allow."""
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
    """A server process, with the session in which all calls are made."""

    def __init__(self, command: list[str], port: int, tool: str, arguments: dict[str, Any], **options: Any) -> None:
        self.port = port
        self._tool = tool
        self._arguments = arguments
        self._headers = ""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
        )

    def open_session(self, headers: str = "") -> None:
        """Wait for the server and initialize a session."""
        self._headers = headers
        asyncio.run(self._open_session())

    async def _open_session(self) -> None:
        connection = await self._connect()
        initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
        head, _ = await connection.exchange(self.post(initialize))
        (session,) = [line for line in head.split(b"\r\n") if line.lower().startswith(b"mcp-session-id:")]
        self._headers += session.decode() + "\r\n"
        await connection.exchange(self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        connection.close()

    def wait(self) -> None:
        asyncio.run(self._wait())

    async def _wait(self) -> None:
        connection = await self._connect()
        await connection.exchange(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        connection.close()

    async def _connect(self) -> Connection:
        while True:
            try:
                return await Connection.open(self.port)
            except OSError:
                assert self.process.poll() is None, "the server has ended"
                await asyncio.sleep(0.002)

    def post(self, message: dict[str, Any]) -> bytes:
        """Return the HTTP request of a message."""
        body = json.dumps(message, separators=(",", ":"))
        return (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n{self._headers}\r\n{body}"
        ).encode()

    def call_request(self) -> tuple[bytes, bytes]:
        """Return the measured request in two parts, before and after its id of seven digits."""
        params = {"name": self._tool, "arguments": self._arguments}
        whole = self.post({"jsonrpc": "2.0", "id": FIRST_ID, "method": "tools/call", "params": params})
        before, _, after = whole.partition(b"%d" % FIRST_ID)
        return before, after

    def cpu_us(self) -> float:
        """Return the CPU time of the server in microseconds, user and system."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000 / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


class Connection:
    """A connection of a minimal HTTP client: the measured time is that of the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Send a request and return the head and the body of the answer."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return head, await self._reader.readexactly(int(length or 0))

    def close(self) -> None:
        self._writer.close()


async def send_calls(server: HttpServer, connections: int, count: int, until_s: float | None = None) -> list[float]:
    """Make `count` calls, or all within `until_s`; return their times in microseconds. All must succeed."""
    before, after = server.call_request()
    ids = itertools.cycle(range(FIRST_ID, 10 * FIRST_ID))  # ids of simultaneous calls must differ
    times_us: list[float] = []
    left = count
    deadline = None if until_s is None else perf_counter_ns() + until_s * 1e9

    async def work() -> None:
        nonlocal left
        connection = await Connection.open(server.port)
        while left > 0 and (deadline is None or perf_counter_ns() < deadline):
            left -= 1
            start = perf_counter_ns()
            head, body = await connection.exchange(b"%s%d%s" % (before, next(ids), after))
            times_us.append((perf_counter_ns() - start) / 1000)
            assert head.startswith(b"HTTP/1.1 200"), head
            assert b'"isError":false' in body, body
        connection.close()

    await asyncio.gather(*(work() for _ in range(connections)))
    return times_us


@contextmanager
def run_moss(folder: str) -> Iterator[HttpServer]:
    """Run `moss serve` on a store with one capsule of 2,000 characters."""
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
            server.open_session(f"Authorization: Bearer {file.read().strip()}\r\n")
        yield server


@contextmanager
def run_sdk(folder: str) -> Iterator[HttpServer]:
    """Run the server of the SDK with a tool that does nothing."""
    port = free_port()
    command = [sys.executable, "-I", "-c", SDK_EMPTY_TOOL, str(port)]
    with HttpServer(command, port, "empty", {}, env=clean_environment(), cwd=folder) as server:
        server.open_session()
        yield server


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def compare_with_sdk() -> BenchmarkRow:
    """Compare the CPU time of a fetch with that of the SDK's empty tool, at 64 connections."""
    with scratch_folder() as folder, run_moss(folder) as ours, run_sdk(folder) as theirs:
        costs: dict[HttpServer, list[float]] = {ours: [], theirs: []}
        for _ in range(ROUNDS):
            for server, times_us in costs.items():
                before = server.cpu_us()
                asyncio.run(send_calls(server, CONNECTIONS, CALLS))
                times_us.append((server.cpu_us() - before) / CALLS)
        one, other = median(costs[ours]), median(costs[theirs])
    title = f"processor time of a read over HTTP, {CONNECTIONS} at once : the SDK's empty tool"
    return BenchmarkRow(title, one / other, 1.0, note=compare_times(one, other))


def measure_under_load() -> BenchmarkRow:
    """Compare the 99th percentile with the median, over 64 connections without pauses for 30 seconds."""
    with scratch_folder() as folder, run_moss(folder) as server:
        times_us = sorted(asyncio.run(send_calls(server, CONNECTIONS, 10**9, LOAD_S)))
    typical, slow = median(times_us), times_us[int(len(times_us) * 0.99)]
    title = f"the slowest of 100 reads : a typical one, {CONNECTIONS} at once for 30 s"
    note = f"{compare_times(slow, typical)}, {len(times_us):,} calls, no error"
    return BenchmarkRow(title, slow / typical, 10, note=note)


def measure_start() -> BenchmarkRow:
    """Compare the time until the first answer of `moss serve` with a bare interpreter."""
    with scratch_folder() as folder:
        home = os.path.join(folder, "moss")

        def start() -> None:
            port = free_port()
            command = [MOSS, "serve", "--port", str(port), "--home", home]
            with HttpServer(command, port, "", {}, env=moss_environment(home), cwd=folder) as server:
                server.wait()

        bare = process(BARE, env=moss_environment(home), cwd=folder)
        started, ran = medians_us(start, bare, rounds=15)
    title = "`moss serve` until it answers : `python -I -c pass`"
    return BenchmarkRow(title, started / ran, 15, note=compare_times(started, ran))


def run() -> list[BenchmarkRow]:
    return [compare_with_sdk(), measure_under_load(), measure_start()]
