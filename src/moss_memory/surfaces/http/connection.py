"""A connection that has to come to its point: whoever sends no request, or an endless one, is not waited for."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

HEAD_MAX_BYTES = 65_536
"""So much may come before a request's body: its address and its headers."""

HEAD_S = 30.0
"""So long may that take; anybody can open connections, and each one that is kept costs."""

BODY_S = 75.0
"""So long may the rest of a request take, also of one that is answered before it is whole; `bodies` waits for less."""

_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class Connection(HttpToolsProtocol):
    """A connection whose requests have heads of limited size, sent within a limited time."""

    _head_bytes = 0
    _came_bytes = 0
    _is_in_head = True
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a request."""
        super().connection_made(transport)
        self._wait_at_most(HEAD_S)

    def data_received(self, data: bytes) -> None:
        """Takes in what came, unless it is more than a head may be."""
        if self._is_in_head:
            self._wait_at_most(HEAD_S)
        self._came_bytes = len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._is_in_head:
            self._wait_at_most(BODY_S)
        else:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_MAX_BYTES:
                self._refuse_head()

    def on_message_begin(self) -> None:
        """Begins to wait for the end of a head, the first bytes of which may have come with the request before."""
        super().on_message_begin()
        self._wait_at_most(HEAD_S)

    def on_headers_complete(self) -> None:
        """Notes that the head is whole."""
        self._is_in_head = False
        self._forget_deadline()
        if len(self.url) + sum([len(name) + len(value) for name, value in self.headers]) > HEAD_MAX_BYTES:
            self._refuse_head()
            raise ValueError("the head is too long, though it came at once")
        if not self.url.startswith(b"/"):
            raise ValueError("a whole address names a server, which would then not be the one in the header host")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Notes that what comes now is the head of another request."""
        self._is_in_head = True
        self._head_bytes = -self._came_bytes  # what came with the end of this one is not of the next one's head
        self._forget_deadline()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing more."""
        self._forget_deadline()
        super().connection_lost(exc)

    def _refuse_head(self) -> None:
        self.transport.write(_TOO_LONG)
        self.transport.close()

    def _wait_at_most(self, seconds: float) -> None:
        """Closes the connection then, unless what it waits for comes, or it waits already."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
