"""A real MCP server in a separate process, connected by pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.python_process import environment
from support.timeouts import TIMEOUT_S

MOSS = "import sys; from moss_memory.cli.main import main; sys.exit(main())"


class McpServer:
    """Call tools in sequence; each answer is the tool's result or its error code."""

    def __init__(self, home: Path, *options: str, workspace: str | None = None) -> None:
        self._next_id = 0
        project = {} if workspace is None else {"MOSS_WORKSPACE": workspace}
        self._process = subprocess.Popen(
            [sys.executable, "-c", MOSS, "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(MOSS_HOME=str(home), **project),
            cwd=home.parent,
        )
        client = {"name": "test", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.instructions: str = self._ask("initialize", hello)["instructions"]
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the tool's structured answer, or the payload of an error."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        answer: dict[str, Any] = json.loads(result["content"][0]["text"])
        assert bool(result.get("isError")) == ("error" in answer)
        return answer

    def tools(self) -> list[dict[str, Any]]:
        """Return the listed tools."""
        listed: list[dict[str, Any]] = self._ask("tools/list", {})["tools"]
        return listed

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=TIMEOUT_S) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next_id += 1
        self._send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            line = self._process.stdout.readline()
            assert line, "the server ended"
            message = json.loads(line)
            if message.get("id") == self._next_id:
                result: dict[str, Any] = message["result"]
                return result

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
