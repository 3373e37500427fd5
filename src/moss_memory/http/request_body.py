"""Request bodies: limits on size, time and total memory."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope

BODY_S = 60.0
"""Maximum time for a body that does not arrive with its headers."""

STALL_S = 15.0
"""A body may pause for this long."""

MAX_TOTAL_BYTES = 64 * 1024 * 1024
"""The large bodies of all requests that are being received or answered may have this many bytes together."""

SMALL_BYTES = 65_536
"""A body up to this size is not counted, so that an ordinary request is answered while large ones use up the budget."""

_CLOSE = (b"connection", b"close")
UNREAD = {408: [_CLOSE], 413: [_CLOSE], 503: [_CLOSE, (b"retry-after", b"1")]}
"""The headers of a refusal of a body that was not read to its end, by its status."""

_RESERVED = "moss.body_bytes"


class BodyBudget:
    """The bytes that large bodies may still use."""

    def __init__(self, max_bytes: int) -> None:
        self._free_bytes = max_bytes

    def reserve(self, scope: Scope, size: int) -> bool:
        """Count the body of a request, which has this many bytes by now; return False if it exceeds the rest."""
        added_bytes = size - scope.get(_RESERVED, 0) if size > SMALL_BYTES else 0
        if added_bytes > self._free_bytes:
            return False
        if added_bytes > 0:
            self._free_bytes -= added_bytes
            scope[_RESERVED] = size
        return True

    def release(self, scope: Scope) -> None:
        self._free_bytes += scope.pop(_RESERVED, 0)


BUDGET = BodyBudget(MAX_TOTAL_BYTES)


async def read_body(
    scope: Scope, receive: Receive, headers: dict[bytes, bytes], max_bytes: int
) -> bytes | tuple[int, str]:
    """Return the complete body, or status and reason of the refusal."""
    too_large = 413, f"Too large: at most {max_bytes} bytes are read"
    busy = 503, "Busy: other requests have large bodies under way; send this again in a second"
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > max_bytes:
        return too_large
    message = await receive()
    body = bytearray(message.get("body", b""))
    try:
        async with asyncio.timeout(BODY_S if message.get("more_body") else None):
            while BUDGET.reserve(scope, len(body)) and message.get("more_body") and len(body) <= max_bytes:
                message = await asyncio.wait_for(receive(), STALL_S)
                body += message.get("body", b"")
    except TimeoutError:
        return 408, "Timeout: the body is incomplete"
    if message["type"] == "http.disconnect":
        return 400, "The body ended early: it may look complete, and is not"
    if len(body) > max_bytes:
        return too_large
    return busy if message.get("more_body") or not BUDGET.reserve(scope, len(body)) else bytes(body)
