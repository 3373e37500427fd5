"""The official client over stdio, in both kinds of protocol versions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import methods

from support.mcp_pipe import SERVE, PipeClient, call, request
from support.timeouts import TIMEOUT_S

MODES = ["legacy", "2026-07-28", "auto"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
TEXT = "\n".join(
    f"## {header}\nx"
    for header in ("Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions")
)


def with_client(home: Path, mode: Any, use: Callable[[Client], Awaitable[None]]) -> None:
    """Run a conversation of the official client with a server process."""
    server = StdioServerParameters(command=sys.executable, args=["-c", SERVE], env={"MOSS_HOME": str(home)})

    async def conversation() -> None:
        async with Client(server, mode=mode, read_timeout_seconds=TIMEOUT_S) as client:
            await use(client)

    asyncio.run(conversation())


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_stores_lists_and_fetches(tmp_path: Path, mode: str) -> None:
    async def use(client: Client) -> None:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        tools = (await client.list_tools()).tools
        assert "capsule_store" in [tool.name for tool in tools]
        stored = await client.call_tool("capsule_store", {"name": "auth", "capsule_text": TEXT})
        assert not stored.is_error
        fetched = await client.call_tool("capsule_fetch", {"name": "auth"})
        assert fetched.structured_content is not None
        assert fetched.structured_content["capsule_text"] == TEXT

    with_client(tmp_path, mode, use)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_gets_typed_errors(tmp_path: Path, mode: str) -> None:
    async def use(client: Client) -> None:
        missing = await client.call_tool("capsule_fetch", {"name": "nothing"})
        assert missing.is_error
        assert missing.structured_content is not None
        assert missing.structured_content["error"]["code"] == "NOT_FOUND"
        with pytest.raises(MCPError) as refused:
            await client.call_tool("capsule_fetsh", {})
        assert refused.value.error.code == -32602
        assert "capsule_fetch" in str(refused.value.error.data)

    with_client(tmp_path, mode, use)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_receives_progress(tmp_path: Path, mode: str) -> None:
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async def use(client: Client) -> None:
        await client.call_tool("capsule_store", {"capsule_text": TEXT})
        exported = await client.call_tool("capsule_export", {}, progress_callback=hear)
        assert not exported.is_error

    with_client(tmp_path, mode, use)
    assert told == [(1, 1)]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_answers_have_the_shape_of_their_version(tmp_path: Path, version: str) -> None:
    stateless = version == "2026-07-28"
    meta = {"_meta": ENVELOPE} if stateless else {}
    asked: list[dict[str, Any]] = [
        request("tools/list", meta or None),
        call("capsule_store", {"name": "auth", "capsule_text": TEXT}, **meta),
        call("capsule_fetch", {"name": "nothing"}, **meta),
    ]
    if stateless:
        asked.append(request("server/discover", meta))
    else:
        asked += [request("initialize", {"protocolVersion": version}), request("ping")]
    with PipeClient(str(tmp_path)) as client:
        for message in asked:
            client.send(message)
            answer = client.receive()
            methods.validate_server_result(message["method"], version, answer["result"])
