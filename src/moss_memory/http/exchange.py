"""One request and its response: JSON, or an event stream for a slow call with progress."""

from __future__ import annotations

import asyncio
import time

from moss_memory.mcp.background_index import Indexing
from moss_memory.mcp.scheduler import run_call

from .metrics import METRICS
from .pool import POOL
from .send_response import JSON, send_response
from .sse import Stream, event, pump, send_headers, wait_disconnect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

    from moss_memory.mcp.protocol import ToolCall
    from moss_memory.mcp.server_context import ServerContext

    from .send_response import Headers
    from .token_registry import Access

WATCH_DELAY_S = 0.05
"""Delay before a running call checks if its client is still connected."""


class Runner:
    """Runs tool calls on the threads of the pool, for every client."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self.indexing = Indexing(context.store)
        self.is_stopping = False

    def run(self, call: ToolCall, send: Callable[[bytes], object] = bytes) -> asyncio.Future[bytes]:
        """Run a call on the pool; send progress if the client asked for it."""
        self.indexing.note_call()

        def answer() -> bytes:
            began_s = time.perf_counter()
            answered = run_call(
                call, self._context.store, send=send, is_stopping=lambda: self.is_stopping, indexing=self.indexing
            )
            METRICS.observe(call.tool, call.outcome, time.perf_counter() - began_s)
            return answered

        return POOL.run(answer, slow=call.operation.is_slow(call.arguments))


class ResponseWriter:
    """The response to one request; `streams` is True if the client accepts events."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, access: Access, *, streams: bool) -> None:
        self.scope = scope
        self.access = access
        """The token of the request."""
        self._receive = receive
        self._send = send
        self.streams = streams

    async def answer(self, answer: bytes | None, *, status: int = 200, headers: Headers = ()) -> None:
        """Send a response, or status 202 if there is none."""
        if answer is None:
            await send_response(self._send, 202)
        else:
            await send_response(self._send, status, answer, kind=JSON, headers=headers)

    async def pump(self, stream: Stream) -> None:
        """Send a stream until it ends or the client disconnects."""
        await pump(stream, self._receive, self._send)

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
                await send_headers(self._send)
                is_started = True
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        if is_started:
            await self._send({"type": "http.response.body", "body": event(answer.result())})
        else:
            await self.answer(answer.result())

    async def _cancel_on_disconnect(self, call: ToolCall) -> None:
        await wait_disconnect(self._receive)
        call.cancelled = True
