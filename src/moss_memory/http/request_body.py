"""The bodies of requests: how large, how slow and how many at once they may be."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.types import Receive, Scope

BODY_S = 60.0
"""A body that does not come at once may take this long."""

STALL_S = 15.0
"""A body may pause for this long."""

MOST_BYTES = 64 * 1024 * 1024
"""The large bodies of all requests that are being received or answered may have this many bytes together."""

SMALL_BYTES = 65_536
"""A body up to this size is not counted, so that an ordinary request is answered while large ones use up the budget."""

_CLOSE = (b"connection", b"close")
UNREAD = {408: [_CLOSE], 413: [_CLOSE], 503: [_CLOSE, (b"retry-after", b"1")]}
"""The headers of a refusal of a body that was not read to its end, by its status."""

_HELD = "moss.body_bytes"


class BodyBudget:
    """The bytes that large bodies may still use."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes

    def hold(self, scope: Scope, size: int) -> bool:
        """Count the body of a request, which has this many bytes by now; false when that is more than is left."""
        more = size - scope.get(_HELD, 0) if size > SMALL_BYTES else 0
        if more > self._left:
            return False
        if more > 0:
            self._left -= more
            scope[_HELD] = size
        return True

    def release(self, scope: Scope) -> None:
        """Give back what a request has used, once it is answered."""
        self._left += scope.pop(_HELD, 0)


BUDGET = BodyBudget(MOST_BYTES)
"""The budget of this process."""


async def read_body(
    scope: Scope, receive: Receive, headers: dict[bytes, bytes], most_bytes: int
) -> bytes | tuple[int, str]:
    """The whole body; or why there is none, with the status that says so."""
    too_large = 413, f"Too large: at most {most_bytes} bytes are read"
    busy = 503, "Busy: other requests have large bodies under way; send this again in a second"
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > most_bytes:
        return too_large
    message = await receive()
    body = bytearray(message.get("body", b""))
    try:
        async with asyncio.timeout(BODY_S if message.get("more_body") else None):
            while BUDGET.hold(scope, len(body)) and message.get("more_body") and len(body) <= most_bytes:
                message = await asyncio.wait_for(receive(), STALL_S)
                body += message.get("body", b"")
    except TimeoutError:
        return 408, "Too slow: the body did not come to its end"
    if message["type"] == "http.disconnect":
        return 400, "Broken off: what came may look whole, and is not"
    if len(body) > most_bytes:
        return too_large
    return busy if message.get("more_body") or not BUDGET.hold(scope, len(body)) else bytes(body)
