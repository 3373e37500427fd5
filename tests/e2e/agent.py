"""An agent that follows the answers of Moss, with the official SDK's client and a server that can be killed."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import ClientSession, StdioServerParameters, stdio_client

MOSS = os.path.join(os.path.dirname(sys.executable), "moss")
WORKSPACE = "shop"
STARTED = 'echo $$ > "$1" && exec "$0" mcp'
"""The server replaces the shell and keeps its process id."""


def checked(call: dict[str, Any]) -> dict[str, Any]:
    """Return a proposed call with the checkpoints named in its reason; the proposal itself confirms none."""
    assert "checkpoints" not in call["arguments"], call
    asked = [name for name in ("criteria", "tests") if f'"{name}": true' in call["reason"]]
    confirmed = {"checkpoints": dict.fromkeys(asked, True)} if asked else {}
    return {**call, "arguments": {**call["arguments"], **confirmed}}


class Agent:
    """One session with its own `moss mcp` process."""

    def __init__(self, home: Path) -> None:
        pid_file = home.parent / "server.pid"
        environment = {**os.environ, "MOSS_HOME": str(home)}
        server = StdioServerParameters(
            command="sh", args=["-c", STARTED, MOSS, str(pid_file)], env=environment, cwd=home.parent
        )
        self._opened_portal = start_blocking_portal()
        self._portal = self._opened_portal.__enter__()
        self._opened: list[Any] = []
        read, write = self._enter(stdio_client(server))
        self._session: Any = self._enter(ClientSession(read, write))
        self._portal.call(self._session.initialize)
        self._pid = int(pid_file.read_text())

    def _enter(self, manager: Any) -> Any:
        wrapped = self._portal.wrap_async_context_manager(manager)
        entered = wrapped.__enter__()
        self._opened.append(wrapped)
        return entered

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer; a refusal fails the test."""
        result = self._portal.call(self._session.call_tool, tool, {"workspace": WORKSPACE, **arguments})
        assert not result.is_error, f"{tool} {arguments}: {result.content[0].text}"
        answer = result.structured_content
        assert isinstance(answer, dict)
        return answer

    def send(self, tool: str, request: str) -> dict[str, Any]:
        """Send a request unchanged and return the answer or the refusal."""
        result = self._portal.call(self._session.call_tool, tool, json.loads(request))
        answer = json.loads(result.content[0].text)
        assert isinstance(answer, dict)
        assert result.is_error == ("error" in answer), answer
        return answer

    def next(self) -> dict[str, Any]:
        """Return the next call of the focus's radar."""
        call = self("tasks_radar")["radar"]["next"]
        assert isinstance(call, dict)
        return call

    def follow(self, call: dict[str, Any]) -> dict[str, Any]:
        """Send a proposed call with its checkpoints confirmed."""
        return self(call["tool"], **checked(call)["arguments"])

    def is_killed(self) -> None:
        """Kill the server without a clean shutdown."""
        os.kill(self._pid, signal.SIGKILL)
        self.leaves()

    def is_killed_during(self, call: dict[str, Any]) -> None:
        """Kill the server after a call was sent and before its answer was read."""
        future = self._portal.start_task_soon(self._session.call_tool, call["tool"], call["arguments"])
        os.kill(self._pid, signal.SIGKILL)
        future.exception()
        self.leaves()

    def leaves(self) -> None:
        """End the session; do nothing if it has ended."""
        opened, self._opened = self._opened, []
        for manager in reversed(opened):
            manager.__exit__(None, None, None)
        if opened:
            self._opened_portal.__exit__(None, None, None)
