"""A store and a list of tools that wait, fail and misbehave on request; also served by a process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from moss_memory.errors import MossError, invalid_request
from moss_memory.mcp.stdio import StdioConnection, private_stdout
from moss_memory.mcp.tool_list import ToolList
from moss_memory.registry.operation import Operation, operation


@operation(answers={}, example="")
def echo(tx: Any, *, text: str = "") -> dict[str, Any]:
    """Return the text."""
    return {"text": text}


@operation(mutates=True, answers={}, example="")
def note(tx: Any, *, text: str) -> dict[str, Any]:
    """Store a text."""
    tx.notes.append(text)
    return {"kept": len(tx.notes)}


@operation(answers={}, example="")
def recall(tx: Any) -> dict[str, Any]:
    """Return the stored texts."""
    return {"notes": list(tx.notes)}


@operation(mutates=True, slow=True, answers={}, example="")
def haul(tx: Any, *, gate: str = "", steps: int = 0, ended: str = "") -> dict[str, Any]:
    """Wait for a file or an event, step by step, then store a note; store none if cancelled."""
    for step in range(1, steps + 1):
        tx.progress(step, steps)
    tx.started.set()
    while not (tx.gate.is_set() or (gate and os.path.exists(gate))):
        if tx.cancelled():
            if ended:
                os.close(os.open(ended, os.O_CREAT))
            raise MossError("CANCELLED", "haul was cancelled")
        tx.gate.wait(0.002)
    tx.notes.append("hauled")
    return {"kept": len(tx.notes)}


@operation(answers={}, slow_when_large=True, example="")
def seek(tx: Any) -> dict[str, Any]:
    """Search everything, which takes until the gate opens."""
    tx.started.set()
    tx.gate.wait()
    return {"notes": list(tx.notes)}


@operation(answers={}, example="")
def started(tx: Any) -> dict[str, Any]:
    """Wait until a long call has begun."""
    tx.started.wait()
    return {}


@operation(mutates=True, slow=True, answers={}, example="")
def stuck(tx: Any) -> dict[str, Any]:
    """Never end, and ignore cancellation."""
    tx.started.set()
    while True:
        tx.never.wait()


@operation(answers={}, example="")
def crash(tx: Any) -> dict[str, Any]:
    """Raise an unexpected error."""
    raise RuntimeError("the secret cause")


@operation(answers={}, example="")
def shout(tx: Any) -> dict[str, Any]:
    """Print to stdout, which is reserved for the protocol."""
    print("printed by a library")
    os.write(1, b"written by a library\n")
    return {}


@operation(answers={}, example="")
def unprintable(tx: Any) -> dict[str, Any]:
    """Return an answer that is not JSON."""
    return {"value": float("nan")}


@operation(mutates=True, answers={}, example="")
def contended(tx: Any) -> dict[str, Any]:
    """Fail as if the store were busy, unless the call has a timeout."""
    if not tx.wait:
        raise MossError("STORAGE_BUSY", "busy")
    tx.started.set()
    tx.gate.wait()
    tx.notes.append("contended")
    return {"wait": True}


TOOLS: dict[str, Operation] = {
    tool.name: tool for tool in (echo, note, recall, haul, seek, started, stuck, crash, shout, unprintable, contended)
}


class FakeStore:
    """Run the tools above; also the transaction that they get."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.gate = threading.Event()
        self.started = threading.Event()
        self.never = threading.Event()
        self.large = False

    def is_large(self) -> bool:
        return self.large

    def exists(self) -> bool:
        return False

    def read(self, body: Callable[..., Any], *, what: str, **_: Any) -> list[Any]:
        """Return no workspaces for the instructions of a session, and no tokens."""
        if what in ("token", "session"):
            raise MossError("STORAGE_BUSY", "there is none")
        return []

    def call(
        self,
        tool: str | Operation,
        arguments: dict[str, Any],
        *,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        wait: bool = True,
        workspace: str | None = None,
        idempotency_key: str | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        found = tool if isinstance(tool, Operation) else TOOLS[tool]
        return found.body(_Transaction(self, cancelled, progress, wait), **found.decode(arguments))


class _Transaction:
    def __init__(self, store: FakeStore, cancelled: Any, progress: Any, wait: bool) -> None:
        self.notes = store.notes
        self.gate = store.gate
        self.started = store.started
        self.never = store.never
        self.cancelled = cancelled or (lambda: False)
        self.progress = progress or (lambda done, total: None)
        self.wait = wait


class FakeToolList(ToolList):
    """The list of the tools above."""

    workspace = ""

    def listing(self) -> str:
        return '[{"name":"echo"}]'

    def find(self, tool: str) -> Operation | None:
        if tool == "broken":
            raise RuntimeError("the secret cause")
        if tool == "unconfigured":
            raise invalid_request("config.json: it is not valid JSON")
        return TOOLS.get(tool)

    def refusal(self, tool: str, arguments: Any = None) -> MossError:
        return invalid_request(f"there is no tool {tool!r}; the nearest is 'echo'", nearest="echo")


def serve() -> int:
    """Serve the tools above on stdin and stdout."""
    store: Any = FakeStore()
    tool_list: Any = FakeToolList()
    return StdioConnection(lambda: tool_list, lambda: store, private_stdout()).run()


TESTS = os.path.dirname(os.path.dirname(__file__))
CODE = f"import sys; sys.path.insert(0, {TESTS!r}); from support import mcp_fakes; sys.exit(mcp_fakes.serve())"
