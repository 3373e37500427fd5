"""What a request brings along."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.types import Receive


async def read_body(receive: Receive, headers: dict[bytes, bytes], most_bytes: int) -> bytes | None:
    """The whole body; none when it is longer than it may be, or the sender went away."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > most_bytes:
        return None
    message = await receive()
    if not message.get("more_body"):
        body: bytes = message.get("body", b"")
        return body if len(body) <= most_bytes else None
    parts, size = [], 0
    while True:
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most_bytes:
            return None
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
