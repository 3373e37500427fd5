"""Server-sent events: messages on their way to one client, and comments that keep the way open."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.types import Receive, Send

    from .replies import Headers

KEEP_ALIVE_S = 15.0
"""After so long without a message a comment is sent, lest somebody on the way takes the connection for dead."""

MOST_WAITING = 1000
"""A client that does not read what it asked for loses its stream."""

_START = [
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
        """Adds a message; one that nobody waits for any more is lost."""
        self._loop.call_soon_threadsafe(self._add, message)

    def close(self) -> None:
        """Ends the stream after what was added before."""
        self._loop.call_soon_threadsafe(self._add, None)

    def _add(self, message: bytes | None) -> None:
        if self.is_closed:
            return
        if message is None or self._queue.qsize() >= MOST_WAITING:
            self.is_closed = True
            message = None
        self._queue.put_nowait(message)

    async def next(self) -> bytes | None:
        """The next event, or a comment when there was none for long; none at the end."""
        try:
            message = await asyncio.wait_for(self._queue.get(), KEEP_ALIVE_S)
        except TimeoutError:
            return _COMMENT
        return None if message is None else event(message)


def event(message: bytes) -> bytes:
    """A message as an event; it has no line breaks, for JSON writes them as escapes."""
    return b"event: message\ndata: " + message + b"\n\n"


async def begin(send: Send, headers: Headers = ()) -> None:
    """Says that a stream follows."""
    await send({"type": "http.response.start", "status": 200, "headers": [*_START, *headers]})


async def pump(stream: Stream, receive: Receive, send: Send, headers: Headers = ()) -> None:
    """Sends what comes until the stream ends or the client goes away."""
    await begin(send, headers)
    await send({"type": "http.response.body", "body": _COMMENT, "more_body": True})
    watching = asyncio.ensure_future(_close_when_gone(stream, receive))
    try:
        while (part := await stream.next()) is not None:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        watching.cancel()
        stream.is_closed = True


async def gone(receive: Receive) -> None:
    """Comes back when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _close_when_gone(stream: Stream, receive: Receive) -> None:
    await gone(receive)
    stream.close()
