"""The official client over HTTP, and one transcript compared on both transports."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from contract.doors import FULL
from support.http_server import HttpServer
from support.mcp_pipe import PipeClient, call, request
from support.timeouts import TIMEOUT_S

MODES = ["legacy", "2026-07-28", "auto"]


def with_client(server: HttpServer, mode: Any, use: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    """Run a conversation of the official client with the server."""

    async def conversation() -> None:
        async with create_mcp_http_client({"Authorization": f"Bearer {server.token}"}) as http:
            transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=TIMEOUT_S, **options) as client:
                await use(client)

    asyncio.run(conversation())


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_stores_lists_and_fetches(server: HttpServer, mode: str) -> None:
    async def use(client: Client) -> None:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        tools = (await client.list_tools()).tools
        assert "capsule_store" in [tool.name for tool in tools]
        stored = {"name": f"sdk-{mode}", "capsule_text": FULL}
        assert not (await client.call_tool("capsule_store", stored)).is_error
        fetched = await client.call_tool("capsule_fetch", {"name": f"sdk-{mode}"})
        assert fetched.structured_content is not None
        assert fetched.structured_content["capsule_text"] == FULL

    with_client(server, mode, use)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_gets_typed_errors(server: HttpServer, mode: str) -> None:
    async def use(client: Client) -> None:
        missing = await client.call_tool("capsule_fetch", {"name": "nothing"})
        assert missing.is_error
        assert missing.structured_content is not None
        assert missing.structured_content["error"]["code"] == "NOT_FOUND"
        with pytest.raises(MCPError) as refused:
            await client.call_tool("capsule_fetsh", {})
        assert refused.value.error.code == -32602

    with_client(server, mode, use)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_receives_progress(server: HttpServer, mode: str) -> None:
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async def use(client: Client) -> None:
        await client.call_tool("capsule_store", {"capsule_text": FULL})
        assert not (await client.call_tool("capsule_export", {}, progress_callback=hear)).is_error

    with_client(server, mode, use)
    assert told
    assert told[-1][0] == told[-1][1]


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_uses_prompts_resources_and_completions(server: HttpServer, mode: str) -> None:
    async def use(client: Client) -> None:
        await client.call_tool(
            "capsule_store", {"workspace": "sdk", "name": "auth", "capsule_text": FULL, "mode": "replace"}
        )
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == [
            "save",
            "load",
            "handoff",
            "review",
        ]
        assert (await client.get_prompt("load", {"workspace": "sdk", "name": "auth"})).messages
        assert len((await client.list_resource_templates()).resource_templates) == 5
        assert (await client.list_resources()).resources
        (content,) = (await client.read_resource("moss://capsule/sdk/auth")).contents
        assert getattr(content, "text", "") == FULL

    with_client(server, mode, use)


def test_the_official_client_is_notified_of_changes_on_a_stream(server: HttpServer) -> None:
    uri = "moss://capsule/heard/auth"

    async def use(client: Client) -> None:
        async with client.listen(resource_subscriptions=[uri]) as heard:
            await client.call_tool("capsule_store", {"workspace": "heard", "name": "auth", "capsule_text": FULL})
            async for event in heard:
                assert getattr(event, "uri", "") == uri
                return

    with_client(server, "2026-07-28", use)


# One transcript


def transcript() -> list[dict[str, Any]]:
    """Return the messages of an ordinary agent session, including mistakes."""
    return [
        request("ping", id=1),
        request("tools/list", id=2),
        call("capsule_store", {"workspace": "shop", "name": "auth", "capsule_text": FULL, "tags": ["api"]}, id=3),
        call("capsule_fetch", {"workspace": "shop", "name": "auth"}, id="four"),
        call("capsule_fetch", {"workspace": "shop", "name": "nothing"}, id=5),
        call("capsule_store", {"workspace": "shop", "name": "thin", "capsule_text": "x"}, id=6),
        call("capsule_fetsh", {}, id=7),
        call("tasks_create", {"workspace": "shop", "kind": "task", "title": "Sign in"}, id=8),
        call("tasks_radar", {"workspace": "shop"}, id=9),
        call("moss_search", {"query": "objective", "search_mode": "keyword"}, id=10),
        request("prompts/list", id=11),
        request("prompts/get", {"name": "load", "arguments": {"workspace": "shop", "name": "auth"}}, id=12),
        request("resources/list", id=13),
        request("resources/templates/list", id=14),
        request("resources/read", {"uri": "moss://capsule/shop/auth"}, id=15),
        request("resources/read", {"uri": "moss://capsule/shop/nothing"}, id=16),
        request("nothing/such", id=17),
        call("capsule_fetch", [], id=18),
        call("capsule_delete", {"workspace": "shop", "name": "auth"}, id=19),
        call("capsule_list", {"workspace": "shop"}, id=20),
        request("initialize", {"protocolVersion": "2025-06-18"}, id=21),
    ]


CHANGING = re.compile(
    r"[0-9A-HJKMNP-TV-Z]{26}|\b1[0-9]{9}(?:[0-9]{3})?\b|\d{4}-\d\d-\d\d(?:T[\d:.]+Z| \d\d:\d\d UTC)"
    r"|(?:BEGIN|END) [0-9a-f]{16}\b"
)
"""Patterns of ids, times and fences, which differ between sessions."""
ACTOR = re.compile(r'(\\*"by\\*": ?\\*")([^"\\]|\\+u[0-9a-f]{4})*')
"""The actor of an event, which includes the token over HTTP."""


def normalized(answer: Any) -> str:
    return ACTOR.sub(r"\1*", CHANGING.sub("*", json.dumps(answer, sort_keys=True)))


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_one_transcript_has_equal_answers_on_both_transports(tmp_path: Path, era: str) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    said = transcript()
    if era == "stateless":
        said = [{**one, "params": {**one.get("params", {}), "_meta": meta}} for one in said[1:-1]]
        said.append(request("server/discover", {"_meta": meta}, id=22))
    (tmp_path / "stdio").mkdir()
    with PipeClient(str(tmp_path / "stdio")) as client:
        over_stdio = []
        for message in said:
            client.send(message)
            over_stdio.append(normalized(client.receive()))
    with HttpServer(tmp_path / "http") as server:
        over_http = [normalized(sent_over_http(server, message, era)) for message in said]
    assert over_http == over_stdio


def sent_over_http(server: HttpServer, message: dict[str, Any], era: str) -> Any:
    if era == "handshake":
        return server.post(message).json
    params = message["params"]
    told = [("Mcp-Protocol-Version", "2026-07-28"), ("Mcp-Method", message["method"])]
    name = params.get("uri") or params.get("name")
    headers = [*server.authorized, *told, *([("Mcp-Name", name)] if name else [])]
    return server.ask("POST", "/mcp", headers, json.dumps(message)).json
