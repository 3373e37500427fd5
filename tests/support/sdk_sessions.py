"""Session clients of the official SDK that call a server before and after its restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from support.timeouts import TIMEOUT_S


async def _call(client: Client, number: int) -> str:
    """Return the outcome of a call: ok, or the error."""
    arguments: dict[str, Any] = {"limit": 1 + number % 5}
    try:
        answer = await client.call_tool("capsule_list", arguments)
    except Exception as error:
        return repr(error)
    return "an error of the tool" if answer.is_error else "ok"


def use_across_a_restart(
    address: str, token: str, *, clients: int, rounds: int, restart: Callable[[], object]
) -> list[str]:
    """Open sessions, call from all of them, restart the server, and call again; return the outcome of every call."""

    async def conversation() -> list[str]:
        ended: list[str] = []
        async with AsyncExitStack() as stack:
            opened = []
            for _ in range(clients):
                web = await stack.enter_async_context(create_mcp_http_client({"Authorization": f"Bearer {token}"}))
                transport = streamable_http_client(f"{address}/mcp", http_client=web)
                client = Client(transport, mode="legacy", read_timeout_seconds=TIMEOUT_S)
                opened.append(await stack.enter_async_context(client))
            for at in range(2 * rounds):
                if at == rounds:
                    await asyncio.to_thread(restart)
                ended += await asyncio.gather(*(_call(client, number) for number, client in enumerate(opened)))
        return ended

    return asyncio.run(conversation())
