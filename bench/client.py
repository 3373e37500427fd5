"""A minimal client of MCP servers over stdio: the measured time is that of the server."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from typing import Any

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
MOSS = os.path.join(os.path.dirname(sys.executable), "moss")


def clean_environment() -> dict[str, str]:
    """Return the environment without the variables of Python, so that bytecode is cached as usual."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def moss_environment(home: str) -> dict[str, str]:
    return {**clean_environment(), "MOSS_HOME": home}


class ServerError(Exception):
    """The server has ended or has answered with an error."""


class Server:
    """A server process; only `exchange` is timed."""

    def __init__(self, command: list[str], *, env: dict[str, str], cwd: str) -> None:
        self._numbers = itertools.count(1)
        self.process = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests = self.process.stdin
        self._answers = self.process.stdout

    def exchange(self, request: bytes) -> bytes:
        """Send one line and return the next line of the answer."""
        self._requests.write(request)
        self._requests.flush()
        return self._answers.readline()

    def request(self, method: str, params: dict[str, Any] | None = None) -> bytes:
        """Return the line of a request with a new id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method}
        if params is not None:
            message["params"] = params
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"

    def call_request(self, tool: str, arguments: dict[str, Any]) -> bytes:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def initialize(self) -> bytes:
        """Initialize the session and return the answer to `initialize`."""
        answer = self.exchange(self.request("initialize", INITIALIZE))
        if b'"result"' not in answer:
            raise ServerError(f"no answer to initialize: {answer[:200]!r}")
        self._requests.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self._requests.flush()
        return answer

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its result; raise `ServerError` if it is an error."""
        answer = json.loads(self.exchange(self.call_request(tool, arguments)) or b"{}")
        result = answer.get("result")
        if not isinstance(result, dict) or result.get("isError"):
            raise ServerError(f"{tool}: {str(answer)[:300]}")
        return result

    def close(self) -> None:
        """Close stdin and wait for the end of the process; kill it after 3 seconds."""
        self._requests.close()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._answers.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def moss_server(folder: str, *arguments: str) -> Server:
    """Start `moss mcp` with its home in `folder`/moss."""
    home = os.path.join(folder, "moss")
    return Server([MOSS, "mcp", *arguments], env=moss_environment(home), cwd=folder)
