"""Test interfaces: the same contract is tested through `Store.call` and through a real MCP client."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Any

import pytest

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.registry.operation import Operation
from moss_memory.storage.call import IdSource
from moss_memory.store import Store
from support.declared import check_answer
from support.direct_store import DirectStore, forget
from support.python_process import environment
from support.quick_stores import SERVER

START_MS = 1_900_000_000_000
LABELS = ("Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions")
FULL = "\n\n".join(f"## {label}\n{label} of the work." for label in LABELS) + "\n"
"""A capsule text that passes the check."""


class Clock:
    """A clock in milliseconds that changes only if a test moves it, forwards or backwards."""

    def __init__(self, ms: int = START_MS) -> None:
        self.ms = ms

    def __call__(self) -> int:
        return self.ms

    @property
    def seconds(self) -> int:
        return self.ms // 1000

    def advance(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)


class CheckedStore(Store):
    """A store that checks every answer against the declared answer of its tool."""

    def call(self, tool: str | Operation, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = super().call(tool, arguments, **more)
        check_answer(tool if isinstance(tool, str) else tool.name, answer)
        return answer


def open_test_store(home: str, clock: Clock | None = None, **settings: Any) -> Store:
    """Return a `CheckedStore` with this clock, default settings and no work tree."""
    records_work_tree = settings.pop("records_work_tree", False)
    config = load_config(home, cwd="/").replace(**settings)
    return CheckedStore(config, clock_ms=clock or Clock(), id_source=IdSource(), records_work_tree=records_work_tree)


def outcome(store: Store, tool: str, arguments: Any) -> dict[str, Any] | MossError:
    """Return the answer or the typed error of a call; let any other exception pass."""
    try:
        return store.call(tool, arguments)
    except MossError as error:
        return error


class Door:
    """An interface for calling the tools of one store, with access to its home folder."""

    home: str

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        raise NotImplementedError

    def once(self, key: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the answer to a call with an idempotency key."""
        raise NotImplementedError

    def refuses(self, code: str, tool: str, /, **arguments: Any) -> MossError:
        """Return the error of a call; assert that it has this code and that the store is unchanged."""
        with DirectStore(self.home) as direct:
            token, before = direct.engine.change_token(), direct.dump()
            with pytest.raises(MossError) as caught:
                self(tool, **arguments)
            assert caught.value.code == code, caught.value.payload()
            # SQLite's token counts commits; the one of PostgreSQL counts only events.
            nothing_committed = not direct.engine.can_lose_commits and direct.engine.change_token() == token
            unchanged = nothing_committed or direct.dump() == before
            assert unchanged, "a refused call changed the store"
        return caught.value

    def names(self, tool: str, /, **arguments: Any) -> list[Any]:
        """Return the names of the listed items, in order."""
        return [item.get("name") for item in self(tool, **arguments)["items"]]

    def write_export(self, *lines: Any, name: str = "given.jsonl", end: str = "\n") -> str:
        """Write records or raw lines to a file in the exports folder and return its name."""
        folder = os.path.join(self.home, "exports")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + end for line in lines)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text.encode())
        return name

    def read_export(self, path: str) -> list[dict[str, Any]]:
        """Return the records of an exported file without its header."""
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return [line for line in lines if "_moss_export" not in line]


class StoreDoor(Door):
    def __init__(self, store: Store) -> None:
        self.store = store
        self.home = store.config.home

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self.store.call(tool, arguments)

    def once(self, key: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self.store.call(tool, arguments, idempotency_key=key)


class McpServer:
    """A `moss mcp` process with the official SDK's client in front of it."""

    def __init__(self, home: str, *, url: str | None = None) -> None:
        from anyio.from_thread import start_blocking_portal
        from mcp import ClientSession, StdioServerParameters, stdio_client

        os.makedirs(home, mode=0o700, exist_ok=True)
        self.home = os.path.realpath(home)
        named = {"MOSS_HOME": self.home, **({} if url is None else {"MOSS_URL": url})}
        parameters = StdioServerParameters(
            command=sys.executable, args=["-c", SERVER, "mcp"], env=environment(**named), cwd=self.home
        )
        self._opened_portal = start_blocking_portal()
        self._portal = self._opened_portal.__enter__()
        self._opened: list[Any] = []
        read, write = self._enter(stdio_client(parameters))
        self.session: Any = self._enter(ClientSession(read, write))
        self._portal.call(self.session.initialize)

    def _enter(self, manager: Any) -> Any:
        wrapped = self._portal.wrap_async_context_manager(manager)
        entered = wrapped.__enter__()
        self._opened.append(wrapped)
        return entered

    def tools(self) -> list[Any]:
        """Return the listed tools."""
        found: list[Any] = self._portal.call(self.session.list_tools).tools
        return found

    def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None) -> Any:
        async def ask() -> Any:
            return await self.session.call_tool(tool, arguments, meta=meta)

        return self._portal.call(ask)

    def forget(self) -> None:
        """Delete all rows while the server runs, so that each test starts with an empty store."""
        shutil.rmtree(os.path.join(self.home, "exports"), ignore_errors=True)
        forget(self.home)

    def close(self) -> None:
        for manager in reversed(self._opened):
            manager.__exit__(None, None, None)
        self._opened_portal.__exit__(None, None, None)


class McpDoor(Door):
    def __init__(self, server: McpServer) -> None:
        self._server = server
        self.home = server.home

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self._answered(tool, self._server.call(tool, arguments))

    def once(self, key: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self._answered(tool, self._server.call(tool, arguments, {"idempotency_key": key}))

    def _answered(self, tool: str, result: Any) -> dict[str, Any]:
        answer = result.structured_content
        if answer is None:
            answer = json.loads(result.content[0].text)
        else:
            assert json.loads(result.content[0].text) == answer, "the text is not the structured answer"
        assert isinstance(answer, dict)
        if not result.is_error:
            check_answer(tool if isinstance(tool, str) else tool.name, answer)
            return answer
        error = answer["error"]
        rebuilt = MossError(
            error["code"], error["message"], details=error.get("details"), recovery=error.get("recovery")
        )
        assert rebuilt.payload() == answer, "the error has not the one shape of all errors"
        raise rebuilt
