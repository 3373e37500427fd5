"""What a request brings along."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.types import Receive

BODY_S = 60.0
"""So long may a body take that does not come at once."""


async def read_body(receive: Receive, headers: dict[bytes, bytes], most_bytes: int) -> bytes | tuple[int, str]:
    """The whole body; or why there is none, with the status that says so."""
    too_large = 413, f"Too large: at most {most_bytes} bytes are read"
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > most_bytes:
        return too_large
    message = await receive()
    body: bytes = message.get("body", b"")
    parts, size = [body], len(body)
    try:
        async with asyncio.timeout(BODY_S if message.get("more_body") else None):
            while message.get("more_body") and size <= most_bytes:
                message = await receive()
                parts.append(message.get("body", b""))
                size += len(parts[-1])
    except TimeoutError:
        return 408, "Too slow: the body did not come to its end"
    if message["type"] == "http.disconnect":
        return 400, "Broken off: what came may look whole, and is not"
    return b"".join(parts) if size <= most_bytes else too_large
