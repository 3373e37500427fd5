"""A connection whose requests arrive within limits of size and time, counted among those that are open."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from typing import Any

    from .connection_limits import ConnectionLimits

PROVE = "moss.prove"
"""Under this name of a request's scope is the function that notes that its sender has shown a token or cookie."""

HEAD_MAX_BYTES = 65_536
"""So much may come before a request's body: its address and its headers."""

HEAD_S = 30.0
"""So long may that take; anybody can open connections, and each one that is kept costs."""

PRESSED_HEAD_S = 5.0
"""A head may take this long while many unproven connections are open; so may the next request on one of them."""

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
    _is_proven = False
    peer = ""

    def __init__(self, *, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and begin to wait for a request."""
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else ""
        self._wait_at_most(self._head_s())
        self._limits.add(self)

    def is_idle(self) -> bool:
        """Return whether no request is being answered on this connection."""
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Takes in what came, unless it is more than a head may be."""
        if self._is_in_head:
            self._wait_at_most(self._head_s())
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
        self.scope[PROVE] = self._prove  # type: ignore[literal-required]
        self._wait_at_most(self._head_s())

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header of the head; one that follows a body in chunks comes too late to mean anything."""
        if self._is_in_head:
            super().on_header(name, value)

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

    def on_response_complete(self) -> None:
        """Wait for the next request, not for long on an unproven connection while many of them are open."""
        pressed = not self._is_proven and self._limits.is_pressed()
        self.timeout_keep_alive = PRESSED_HEAD_S if pressed else self.config.timeout_keep_alive  # type: ignore[assignment]
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing more."""
        self._limits.remove(self)
        self._forget_deadline()
        super().connection_lost(exc)

    def _prove(self) -> None:
        self._is_proven = True
        self._limits.prove(self)

    def _head_s(self) -> float:
        return min(HEAD_S, PRESSED_HEAD_S) if self._limits.is_pressed() else HEAD_S

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


class TlsConnection(asyncio.Protocol):
    """A connection before its TLS handshake, counted from the moment it is accepted: the handshake may never come."""

    peer = ""

    def __init__(self, *, limits: ConnectionLimits, context: ssl.SSLContext, server_state: Any, **given: Any) -> None:
        self._limits = limits
        self._context = context
        self._open = server_state.connections
        self._connection = Connection(limits=limits, server_state=server_state, **given)
        self._transport: Any = None
        self._handshake: asyncio.Task[None] | None = None
        self._early = b""
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, and begin its handshake."""
        self._transport = transport
        self.peer = (transport.get_extra_info("peername") or [""])[0]
        self._transport.pause_reading()  # the first bytes are the handshake's
        self._open.add(self)
        self._handshake = asyncio.get_running_loop().create_task(self._shake_hands())
        self._limits.add(self)

    def data_received(self, data: bytes) -> None:
        """Keep what comes with the end of the handshake."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that ended before its handshake did."""
        self._is_lost = True
        self._forget()

    def is_idle(self) -> bool:
        """Return that no request is being answered."""
        return True

    def drop(self) -> None:
        """Close the connection at once."""
        self._is_lost = True
        self._forget()
        self._transport.abort()

    shutdown = drop

    async def _shake_hands(self) -> None:
        loop = asyncio.get_running_loop()
        seconds = PRESSED_HEAD_S if self._limits.is_pressed() else HEAD_S
        try:
            made = await loop.start_tls(
                self._transport, self, self._context, server_side=True, ssl_handshake_timeout=seconds
            )
        except OSError:
            made = None
        self._forget()
        if made is None or self._is_lost or made.is_closing():
            self._transport.abort()
            return
        made.set_protocol(self._connection)
        self._connection.connection_made(made)
        if self._early:
            self._connection.data_received(self._early)

    def _forget(self) -> None:
        self._open.discard(self)
        self._limits.remove(self)
