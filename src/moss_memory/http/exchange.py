"""One request and its answer: JSON where that is there soon, else a stream that tells how far a call has come."""

from __future__ import annotations

import asyncio

from moss_memory.mcp.background_index import Indexing
from moss_memory.mcp.scheduler import run_call

from .pool import POOL
from .replies import JSON, reply
from .sse import Stream, begin, event, gone, pump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Send

    from moss_memory.mcp.protocol import ToolCall
    from moss_memory.mcp.server_context import ServerContext

    from .replies import Headers

WATCH_S = 0.05
"""A call that takes longer is worth looking whether anybody still waits for it."""


class Runner:
    """Runs tool calls on the threads of the pool, for every client."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self.indexing = Indexing(context.store)
        self.is_stopping = False

    def run(self, call: ToolCall, send: Callable[[bytes], object] = bytes) -> asyncio.Future[bytes]:
        """The answer to a call; how far it has come is sent where the client asked for it."""
        self.indexing.note_call()

        def answer() -> bytes:
            return run_call(
                call, self._context.store, send=send, is_stopping=lambda: self.is_stopping, indexing=self.indexing
            )

        return POOL.run(answer, long=call.operation.is_slow(call.arguments))


class ResponseWriter:
    """The way back to the sender of one request. `streams` says that it takes events too."""

    def __init__(self, receive: Receive, send: Send, *, streams: bool) -> None:
        self._receive = receive
        self._send = send
        self.streams = streams

    async def answer(self, answer: bytes | None, *, status: int = 200, headers: Headers = ()) -> None:
        """Sends an answer, or that none is due."""
        if answer is None:
            await reply(self._send, 202)
        else:
            await reply(self._send, status, answer, kind=JSON, headers=headers)

    async def pump(self, stream: Stream) -> None:
        """Answers with a stream that lasts until it ends or the client goes away."""
        await pump(stream, self._receive, self._send)

    async def run(self, runner: Runner, call: ToolCall) -> None:
        """Answers a tool call. A client that goes away meanwhile has cancelled it."""
        watching: list[asyncio.Future[None]] = []
        loop = asyncio.get_running_loop()
        watch = loop.call_later(WATCH_S, lambda: watching.append(asyncio.ensure_future(self._cancel_when_gone(call))))
        try:
            if self.streams and (call.progress_token is not None or call.operation.is_slow(call.arguments)):
                await self._stream(runner, call)
            else:
                await self.answer(await runner.run(call))
        finally:
            watch.cancel()
            for task in watching:
                task.cancel()

    async def _stream(self, runner: Runner, call: ToolCall) -> None:
        """Answers with events from the first one on that is not the answer; where there is none, with JSON."""
        stream = Stream()
        answer = runner.run(call, stream.put)
        answer.add_done_callback(lambda _: stream.close())
        is_begun = False
        while (part := await stream.next()) is not None:
            if not is_begun:
                await begin(self._send)
                is_begun = True
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        if is_begun:
            await self._send({"type": "http.response.body", "body": event(answer.result())})
        else:
            await self.answer(answer.result())

    async def _cancel_when_gone(self, call: ToolCall) -> None:
        await gone(self._receive)
        call.cancelled = True
