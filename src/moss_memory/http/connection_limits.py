"""Limits on the number of open connections.

Anybody can open a connection and send nothing. A connection counts as unauthenticated until a request on it has shown
the token or a valid cookie. At the limit the oldest unauthenticated connection is closed, so that the newest one, which
may be the owner's, is always answered. uvicorn's own `limit_concurrency` refuses the newest one.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any, Protocol

from moss_memory.log import write_notice


class LimitedConnection(Protocol):
    """The limits' record of a connection."""

    peer: str

    def is_idle(self) -> bool: ...

    def drop(self) -> None: ...


MAX_UNAUTHENTICATED = 1024
"""Maximum number of unauthenticated connections: 200 clients reconnect at once after a restart, with two each."""

MAX_OF_ADDRESS = 64
"""Maximum number of unauthenticated connections from one remote address."""

MAX_CONNECTIONS = 2048
"""Maximum number of connections."""

ACCEPTS_PER_ITERATION = 16
"""Maximum number of connections accepted in one iteration of the event loop, before the limits apply."""

_DESCRIPTORS = 8192
_RESERVE = 64 + 3 * ACCEPTS_PER_ITERATION
"""Descriptors that are left for the store, its files and connections that are just being closed."""

LOOPBACK_PEERS = ("127.", "::1", "::ffff:127.")
_LOG_EVERY_S = 60.0


class ConnectionLimits:
    """The open connections of a server, and the limits on their number."""

    def __init__(self, *, most: int = MAX_CONNECTIONS, most_unauthenticated: int = MAX_UNAUTHENTICATED) -> None:
        self.most = most
        self.most_unauthenticated = most_unauthenticated
        self._unauthenticated: dict[LimitedConnection, None] = {}
        self._authenticated: dict[LimitedConnection, None] = {}
        self._of_address: dict[str, dict[LimitedConnection, None]] = {}

    def add(self, connection: LimitedConnection) -> None:
        """Count a new connection; close the oldest unauthenticated one when there are too many."""
        self._unauthenticated[connection] = None
        if not connection.peer.startswith(LOOPBACK_PEERS):  # on loopback all clients share one address
            connections = self._of_address.setdefault(connection.peer, {})
            connections[connection] = None
            if len(connections) > MAX_OF_ADDRESS:
                self._drop(next(iter(connections)))
        if len(self._unauthenticated) > self.most_unauthenticated:
            self._drop(next(iter(self._unauthenticated)))
        if len(self._unauthenticated) + len(self._authenticated) > self.most:
            idle = (candidate for candidate in self._authenticated if candidate.is_idle())
            oldest = next(iter(self._unauthenticated))
            self._drop(oldest if oldest is not connection else next(idle, connection))

    def mark_authenticated(self, connection: LimitedConnection) -> None:
        if connection in self._unauthenticated or connection in self._authenticated:
            self.remove(connection)
            self._authenticated[connection] = None  # the last used one is the last one to be closed

    def remove(self, connection: LimitedConnection) -> None:
        self._authenticated.pop(connection, None)
        self._unauthenticated.pop(connection, None)
        connections = self._of_address.get(connection.peer)
        if connections is not None:
            connections.pop(connection, None)
            if not connections:
                del self._of_address[connection.peer]

    def is_half_full(self) -> bool:
        return 2 * len(self._unauthenticated) > self.most_unauthenticated

    def _drop(self, connection: LimitedConnection) -> None:
        self.remove(connection)
        connection.drop()


def raise_limits() -> ConnectionLimits:
    """Raise the limit of open files as far as this process may, and derive the limits of connections from it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    file_limit = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < file_limit:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (file_limit, hard))
            soft = file_limit
        except (OSError, ValueError):
            pass  # some systems allow less than the hard limit; the soft limit stays unchanged
    available = MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(soft - _RESERVE, 2)
    most = min(MAX_CONNECTIONS, available)
    return ConnectionLimits(most=most, most_unauthenticated=max(min(MAX_UNAUTHENTICATED, most // 2), 1))


def quiet_accept_errors(clock_s: Callable[[], float] = time.monotonic) -> Callable[[Any, dict[str, Any]], None]:
    """Return a handler for errors of the event loop: failures to accept are logged once a minute, in a line."""
    logged_s = -_LOG_EVERY_S

    def handle(loop: Any, context: dict[str, Any]) -> None:
        nonlocal logged_s
        error = context.get("exception")
        if not isinstance(error, OSError) or "accept" not in context.get("message", ""):
            loop.default_exception_handler(context)
        elif clock_s() - logged_s >= _LOG_EVERY_S:
            logged_s = clock_s()
            write_notice(f"no connection can be accepted for a second ({error.strerror}); said at most once a minute")

    return handle
