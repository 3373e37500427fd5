"""The number of files that a call passes through in docs/explanation/architecture.md does not grow."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.cli.main import run
from moss_memory.http.bind import BindConfig
from moss_memory.http.server import MossServer
from moss_memory.http.thread_pools import POOL
from moss_memory.http.timeouts import MARK_AUTHENTICATED
from moss_memory.mcp.server_context import ServerContext
from moss_memory.mcp.stdio import StdioConnection
from moss_memory.storage.sqlite import readers
from support.walks import Walk

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture(autouse=True)
def _no_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unload `logging`, which the test runner imported and Moss imports only for log records."""
    monkeypatch.delitem(sys.modules, "logging")


@pytest.fixture
def context(tmp_path: Path) -> ServerContext:
    """Return the context of a server with a few capsules."""
    made = ServerContext(str(tmp_path / "home"), None)
    for number in range(3):
        made.store().call("capsule_store", {"name": f"old-{number}", "capsule_text": FULL})
    return made


def test_storing_a_capsule_over_stdio_passes_through_few_files(context: ServerContext) -> None:
    with open(os.devnull, "wb") as sink:
        server = StdioConnection(context.tools, context.store, sink.fileno())

        def send(id: int, method: str, params: dict[str, Any]) -> None:
            server._handle_line(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())

        def store(id: int) -> None:
            send(id, "tools/call", {"name": "capsule_store", "arguments": {"name": f"a{id}", "capsule_text": FULL}})

        send(0, "initialize", HELLO)
        store(1)
        store(2)
        walk = Walk().record(lambda: store(3))
    assert len(walk.files) <= 18, list(walk.files)
    assert walk.switches <= 48


@pytest.fixture(autouse=True)
def _no_check_of_replaced_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep readers from checking ten times a second if the database was replaced, which adds a file to a slow call."""
    monkeypatch.setattr(readers, "LOOK_EVERY_S", 3600.0)


def test_a_search_passes_through_few_files(context: ServerContext) -> None:
    store = context.store()
    for question in ("tokens", "refresh tokens"):
        store.call("moss_search", {"query": question})
    walk = Walk().record(lambda: store.call("moss_search", {"query": "where do refresh tokens live"}))
    assert len(walk.files) <= 19, list(walk.files)
    assert walk.switches <= 71


@pytest.mark.parametrize(("mode", "files", "switches"), [("keyword", 20, 74), ("both", 24, 95)])
def test_a_search_with_hits_passes_through_few_files(
    context: ServerContext, mode: str, files: int, switches: int
) -> None:
    store = context.store()
    for question in ("tokens", "decisions"):
        store.call("moss_search", {"query": question, "search_mode": mode})
    asked = {"query": "decisions of the work", "search_mode": mode}
    found: list[dict[str, Any]] = []
    walk = Walk().record(lambda: found.append(store.call("moss_search", asked)))
    assert found[0]["items"]
    assert len(walk.files) <= files, list(walk.files)
    assert walk.switches <= switches


def test_fetching_a_capsule_on_the_command_line_passes_through_few_files(
    context: ServerContext, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--home", str(tmp_path / "home"), "fetch", "old-1"]
    run(words)
    walk = Walk().record(lambda: run(words))
    assert '"old-1"' in capfd.readouterr().out
    assert len(walk.files) <= 35, list(walk.files)
    assert walk.switches <= 77


class InThisThread:
    """An executor that runs every function at once, in the thread that is traced."""

    def submit(self, function: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function())
        return future


@pytest.fixture
def server(context: ServerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MossServer]:
    """Return a server of the same store, whose functions run in the event loop's thread."""
    monkeypatch.setattr(POOL, "_fast", InThisThread())
    made = MossServer(str(tmp_path / "home"), BindConfig(), port=0)
    yield made
    made._endpoint.indexing.stop(5)
    made._context.close()
    made._socket.close()


def test_opening_a_page_passes_through_few_files(context: ServerContext, server: MossServer) -> None:
    cookie = str(server._sign_in.consume(server._sign_in.new_link_code())).partition(";")[0]
    capsule_id = context.store().call("capsule_fetch", {"name": "old-2"})["id"]
    path = f"{server._base}/capsules/{capsule_id}"
    headers = [(b"host", server.address.partition("//")[2].encode()), (b"cookie", cookie.encode())]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def open_page() -> None:
        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode()}
        scope |= {"query_string": b"", "headers": headers, "server": ("127.0.0.1", 1), "scheme": "http"}
        scope[MARK_AUTHENTICATED] = lambda: None
        sent.clear()
        await server._app(scope, receive, send)
        assert sent[0]["status"] == 200, sent

    async def open_pages() -> Walk:
        await open_page()
        await open_page()
        return await Walk().record_task(open_page)

    walk = asyncio.run(open_pages())
    assert b"old-2" in sent[1]["body"]
    assert len(walk.files) <= 49, list(walk.files)
    assert walk.switches <= 800
