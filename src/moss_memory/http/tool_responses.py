"""Tool calls on the pool and their responses: JSON, or an event stream for a slow call with progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.types import Receive, Scope, Send

from moss_memory.mcp.background_index import BackgroundIndexer
from moss_memory.mcp.protocol import ToolCall
from moss_memory.mcp.scheduler import run_call
from moss_memory.mcp.server_context import ServerContext

from .metrics import METRICS
from .send_response import JSON, Headers, send_response
from .sse import Stream, format_event, send_headers, wait_disconnect
from .thread_pools import POOL
from .token_registry import Access

WATCH_DELAY_S = 0.05
"""Delay before a running call checks if its client is still connected."""


class Runner:
    """Runs tool calls on the threads of the pool, for every client."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self.indexing = BackgroundIndexer(context.store)
        self.is_stopping = False

    def run(self, call: ToolCall, send: Callable[[bytes], object] = bytes) -> asyncio.Future[bytes]:
        """Run a call on the pool; send progress if the client requested it."""
        self.indexing.note_call()

        def answer() -> bytes:
            began_s = time.perf_counter()
            response = run_call(
                call, self._context.store, send=send, is_stopping=lambda: self.is_stopping, indexing=self.indexing
            )
            METRICS.observe(call.tool, call.outcome, time.perf_counter() - began_s)
            return response

        return POOL.run(answer, slow=call.operation.is_slow(call.arguments))


class ResponseWriter:
    """The response to one request; `streams` is True if the client accepts events."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, access: Access, *, streams: bool) -> None:
        self.scope = scope
        self.access = access
        """The token of the request."""
        self.receive = receive
        self.send = send
        self.streams = streams

    async def answer(self, answer: bytes | None, *, status: int = 200, headers: Headers = ()) -> None:
        """Send a response, or status 202 if there is none."""
        if answer is None:
            await send_response(self.send, 202)
        else:
            await send_response(self.send, status, answer, kind=JSON, headers=headers)

    async def run(self, runner: Runner, call: ToolCall) -> None:
        """Run a tool call and send its response; a disconnect cancels it."""
        watchers: list[asyncio.Future[None]] = []
        loop = asyncio.get_running_loop()
        timer = loop.call_later(
            WATCH_DELAY_S, lambda: watchers.append(asyncio.ensure_future(self._cancel_on_disconnect(call)))
        )
        try:
            if self.streams and (call.progress_token is not None or call.operation.is_slow(call.arguments)):
                await self._stream(runner, call)
            else:
                await self.answer(await runner.run(call))
        finally:
            timer.cancel()
            for task in watchers:
                task.cancel()

    async def _stream(self, runner: Runner, call: ToolCall) -> None:
        """Send events once there is progress to report; otherwise a plain JSON response."""
        stream = Stream()
        answer = runner.run(call, stream.put)
        answer.add_done_callback(lambda _: stream.close())
        is_started = False
        while (part := await stream.next()) is not None:
            if not is_started:
                await send_headers(self.send)
                is_started = True
            await self.send({"type": "http.response.body", "body": part, "more_body": True})
        if is_started:
            await self.send({"type": "http.response.body", "body": format_event(answer.result())})
        else:
            await self.answer(answer.result())

    async def _cancel_on_disconnect(self, call: ToolCall) -> None:
        await wait_disconnect(self.receive)
        call.cancelled = True
