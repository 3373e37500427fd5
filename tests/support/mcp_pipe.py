"""A raw client that writes lines to a server's stdin and reads lines from its stdout, with timeouts."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from typing import Any

from support.timeouts import TIMEOUT_S

SERVE = "import sys; from moss_memory.mcp.stdio import serve; sys.exit(serve())"
UNHURRIED = (
    f"from moss_memory.mcp import stdio\nstdio.FINISH_S, stdio.EXIT_AFTER_EOF_S = {TIMEOUT_S / 2}, {TIMEOUT_S}\n"
)
"""Code to prepend to a server's: it raises the shutdown timeout, so that a busy machine cancels no call."""


class PipeClient:
    """One server process and the pipes to it."""

    def __init__(
        self, home: str, *, code: str = UNHURRIED + SERVE, arguments: tuple[str, ...] = (), cwd: str | None = None
    ) -> None:
        # A file, not a pipe: a pipe nobody reads would stop a server that logs.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the client
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "MOSS_HOME": home, "PYTHONUNBUFFERED": "1"},
            cwd=cwd or home,
        )
        self._buffer = b""

    def __enter__(self) -> PipeClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        self.process.wait(TIMEOUT_S)
        self._errors.close()

    def write(self, *lines: bytes | str) -> None:
        """Send lines unchanged."""
        assert self.process.stdin is not None
        data = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Any) -> None:
        """Send messages, one per line."""
        self.write(*(json.dumps(message) for message in messages))

    def line(self, within_s: float = TIMEOUT_S) -> str:
        """Return the next line of output; fail at the timeout."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + within_s
        parts = [self._buffer]
        while b"\n" not in parts[-1]:
            left_s = deadline - time.monotonic()
            ready = select.select([self.process.stdout], [], [], max(0.0, left_s))[0]
            assert ready, "the server did not answer in time"
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            assert chunk, f"the server closed its stdout: {self.stderr()}"
            parts.append(chunk)
        line, _, self._buffer = b"".join(parts).partition(b"\n")
        return line.decode()

    def receive(self, within_s: float = TIMEOUT_S) -> Any:
        """Return the next message."""
        return json.loads(self.line(within_s))

    def ask(self, method: str, params: Any = None, id: Any = 1) -> Any:
        """Send a request and return the next message."""
        self.send(request(method, params, id))
        return self.receive()

    def hang_up(self) -> list[Any]:
        """Close stdin, wait until the server ends, and return its last messages."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        rest = self._buffer + self._drain()
        assert self.process.wait(TIMEOUT_S) == 0, self.stderr()
        return [json.loads(line) for line in rest.splitlines()]

    def stderr(self) -> str:
        """Return the server's stderr until now."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def _drain(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.read()


def request(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    """Return a JSON-RPC request."""
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def call(tool: str, arguments: Any = None, id: Any = 1, **more: Any) -> dict[str, Any]:
    """Return a request that calls a tool."""
    return request("tools/call", {"name": tool, "arguments": arguments or {}, **more}, id)
