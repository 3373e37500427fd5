"""Header size and read timeouts (slowloris protection) for uvicorn's HTTP protocol, which limits neither."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .connection_limits import ConnectionLimits
from .send_response import NO_STORE, NOSNIFF

MARK_AUTHENTICATED = "moss.mark_authenticated"
"""Scope key of the function that marks the connection as authenticated."""

HEAD_MAX_BYTES = 65_536
"""Maximum size of a request's URL and headers."""

HEAD_S = 30.0
"""Timeout of a request's head; any client can open connections, and each open one uses memory."""

BUSY_HEAD_S = 5.0
"""Timeout of a head, and of the next request, on an unauthenticated connection while many of them are open."""

BODY_S = 75.0
"""Timeout of the rest of a request, also if it is answered early; `request_body` has a shorter one."""

_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\n%b: %b\r\n%b: %b\r\n%b" % (
    *NOSNIFF,
    *NO_STORE,
    b"content-length: 0\r\nconnection: close\r\n\r\n",
)


class Connection(HttpToolsProtocol):
    """uvicorn's connection with limits on size and time of request heads."""

    _head_bytes = 0
    _received_bytes = 0
    _is_in_head = True
    _timeout: asyncio.TimerHandle | None = None
    _is_authenticated = False
    peer = ""

    def __init__(self, *, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else ""
        self._start_timeout(self._head_timeout_s())
        self._limits.add(self)

    def is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._is_in_head:
            self._start_timeout(self._head_timeout_s())
        self._received_bytes = len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._is_in_head:
            self._start_timeout(BODY_S)
        else:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_MAX_BYTES:
                self._refuse_head()

    def on_message_begin(self) -> None:
        """Start the head timeout; the first bytes may have arrived with the previous request."""
        super().on_message_begin()
        self.scope[MARK_AUTHENTICATED] = self._mark_authenticated  # type: ignore[literal-required]
        self._start_timeout(self._head_timeout_s())

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; ignore trailers after a chunked body."""
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._cancel_timeout()
        if len(self.url) + sum([len(name) + len(value) for name, value in self.headers]) > HEAD_MAX_BYTES:
            self._refuse_head()
            raise ValueError("the head is too long")
        if not self.url.startswith(b"/"):
            raise ValueError("the request target must be a path")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
        self._head_bytes = -self._received_bytes  # these bytes belong to this request, not to the next one's head
        self._cancel_timeout()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, briefly on an unauthenticated connection while many of them are open."""
        busy = not self._is_authenticated and self._limits.is_half_full()
        self.timeout_keep_alive = BUSY_HEAD_S if busy else self.config.timeout_keep_alive  # type: ignore[assignment]
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.remove(self)
        self._cancel_timeout()
        super().connection_lost(exc)

    def _mark_authenticated(self) -> None:
        self._is_authenticated = True
        self._limits.mark_authenticated(self)

    def _head_timeout_s(self) -> float:
        return min(HEAD_S, BUSY_HEAD_S) if self._limits.is_half_full() else HEAD_S

    def _refuse_head(self) -> None:
        self.transport.write(_TOO_LONG)
        self.transport.close()

    def _start_timeout(self, seconds: float) -> None:
        """Start a timeout that closes the connection, unless one is running."""
        if self._timeout is None:
            self._timeout = self.loop.call_later(seconds, self.transport.close)

    def _cancel_timeout(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None


class TlsConnection(asyncio.Protocol):
    """A connection before its TLS handshake, counted from accept on because the handshake may never arrive."""

    peer = ""

    def __init__(self, *, limits: ConnectionLimits, context: ssl.SSLContext, server_state: Any, **given: Any) -> None:
        self._limits = limits
        self._context = context
        self._open = server_state.connections
        self._connection = Connection(limits=limits, server_state=server_state, **given)
        self._transport: Any = None
        self._handshake: asyncio.Task[None] | None = None
        self._buffer = b""
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.peer = (transport.get_extra_info("peername") or [""])[0]
        self._transport.pause_reading()  # the first bytes are the handshake's
        self._open.add(self)
        self._handshake = asyncio.get_running_loop().create_task(self._run_handshake())
        self._limits.add(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._remove()

    def is_idle(self) -> bool:
        return True

    def drop(self) -> None:
        self._is_lost = True
        self._remove()
        self._transport.abort()

    shutdown = drop

    async def _run_handshake(self) -> None:
        loop = asyncio.get_running_loop()
        seconds = BUSY_HEAD_S if self._limits.is_half_full() else HEAD_S
        try:
            tls_transport = await loop.start_tls(
                self._transport, self, self._context, server_side=True, ssl_handshake_timeout=seconds
            )
        except OSError:
            tls_transport = None
        self._remove()
        if tls_transport is None or self._is_lost or tls_transport.is_closing():
            self._transport.abort()
            return
        tls_transport.set_protocol(self._connection)
        self._connection.connection_made(tls_transport)
        if self._buffer:
            self._connection.data_received(self._buffer)

    def _remove(self) -> None:
        self._open.discard(self)
        self._limits.remove(self)
