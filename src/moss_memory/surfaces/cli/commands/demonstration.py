"""`moss serve --demo`: the server on a throw-away store with a believable project in it."""

from __future__ import annotations

import json
import os
import signal
import tempfile

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store

from ...connect.command import moss_for_people
from ..showing.output import STDIN, is_terminal, say, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...http.reach import Reach
    from ...http.server import MossServer

PATIENCE_S = 30


def serve_demo(
    reach: Reach, *, port: int, read_only: bool, log_all: bool, announce: Callable[[MossServer], None]
) -> int:
    """Serves the demonstration until Ctrl-C; without a terminal shows that it answers, and ends.

    Its port may be another: nobody has connected a client to a store that is thrown away.
    """
    from ...demo import fill
    from ...http.server import open_server

    with tempfile.TemporaryDirectory(prefix="moss-demo-") as home:
        show("A store that is thrown away afterwards is being filled with a project; yours is not touched.")
        with Store(load_config(home, cwd=home)) as store:
            fill(store)
        server = open_server(home, reach, port=port, or_next_port=True, read_only=read_only, log_all=log_all)
        if not is_terminal(STDIN):
            return _shown_answering(server)
        show("")

        def ready() -> None:
            announce(server)
            show(f"\nYour own store is served by: {moss_for_people()} serve")

        return server.run(on_ready=ready, on_line=lambda: show(server.new_link()))


def _shown_answering(server: MossServer) -> int:
    """Asks the server as a client and as a browser would, shows what it answers, and ends it; 0 if all is well."""
    import threading

    failed: list[Exception] = []

    def ask() -> None:
        try:
            _show_answers(server)
        except Exception as error:
            failed.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    server.run(on_ready=lambda: threading.Thread(target=ask, daemon=True).start())
    if failed:
        raise MossError("INTERNAL", "the server does not answer as it should") from failed[0]
    show(f"\nThere is no terminal here, so the server has ended. It stays for: {moss_for_people()} serve --demo")
    show(f"Your own store is served by: {moss_for_people()} serve")
    return 0


def _show_answers(server: MossServer) -> None:
    with open(server.token_path, encoding="ascii") as file:
        headers = {"Authorization": f"Bearer {file.read().strip()}", "Content-Type": "application/json"}
    opened = _asked(server, "initialize", {"protocolVersion": "2025-11-25"}, headers)
    headers["Mcp-Session-Id"] = opened.headers["Mcp-Session-Id"]
    arguments = {"name": "capsule_inventory", "arguments": {"limit": 3}}
    answer = json.load(_asked(server, "tools/call", arguments, headers))["result"]["structuredContent"]
    names = [f"{item['workspace']}/{item['name']}" for item in answer["items"]]
    show(f"MCP at {server.address}/mcp answers: {answer['pagination']['total']} capsules, of which {', '.join(names)}")
    show(f"Pages at {server.address} answer: {_page_title(server)}")


def _asked(server: MossServer, method: str, params: dict[str, Any], headers: dict[str, str]) -> Any:
    from urllib.request import Request, urlopen

    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    asked = Request(f"{server.address}/mcp", json.dumps(message).encode(), headers)  # noqa: S310 - our own address
    return urlopen(asked, timeout=PATIENCE_S)  # noqa: S310


def _page_title(server: MossServer) -> str:
    """Signs in by a link as a browser does, and reads the first page's title."""
    import re
    from http.cookiejar import CookieJar
    from urllib.request import HTTPCookieProcessor, Request, build_opener

    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    spend = Request(server.new_link(), b"", {"Origin": server.address})  # noqa: S310 - our own address
    page = browser.open(spend, timeout=PATIENCE_S).read().decode()
    found = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    if found is None:
        say(page[:500])
        raise ValueError("the first page has no title")
    return found[1].strip()
