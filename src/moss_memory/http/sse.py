"""Server-sent events: a queue of messages for one client, with keep-alive comments."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Send

KEEP_ALIVE_S = 15.0
"""Interval of keep-alive comments, so that proxies do not close the connection."""

MAX_QUEUED = 1000
"""Maximum number of queued messages; a client that does not read loses its stream."""

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_COMMENT = b": still here\n\n"


class Stream:
    """The messages for one client, in their order; any thread may add to them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.is_closed = False

    def put(self, message: bytes) -> None:
        """Queue a message; drop it if the stream is closed."""
        self._loop.call_soon_threadsafe(self._add, message)

    def close(self) -> None:
        """Close the stream after the queued messages."""
        self._loop.call_soon_threadsafe(self._add, None)

    def _add(self, message: bytes | None) -> None:
        if self.is_closed:
            return
        if message is None or self._queue.qsize() >= MAX_QUEUED:
            self.is_closed = True
            message = None
        self._queue.put_nowait(message)

    async def next(self) -> bytes | None:
        """Return the next event, a comment after a long pause, or None at the end."""
        try:
            message = await asyncio.wait_for(self._queue.get(), KEEP_ALIVE_S)
        except TimeoutError:
            return _COMMENT
        return None if message is None else format_event(message)


def format_event(message: bytes) -> bytes:
    """Return a message as an event; JSON has no line breaks, so one data field is enough."""
    return b"event: message\ndata: " + message + b"\n\n"


async def send_headers(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})


async def send_stream(stream: Stream, receive: Receive, send: Send) -> None:
    """Send events until the stream ends or the client disconnects."""
    await send_headers(send)
    await send({"type": "http.response.body", "body": _COMMENT, "more_body": True})

    async def close_on_disconnect() -> None:
        await wait_disconnect(receive)
        stream.close()

    watcher = asyncio.ensure_future(close_on_disconnect())
    try:
        while (part := await stream.next()) is not None:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        watcher.cancel()
        stream.is_closed = True


async def wait_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
