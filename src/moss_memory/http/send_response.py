"""Answers over HTTP, written straight to the connection."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import Send

Headers = Iterable[tuple[bytes, bytes]]

TEXT = b"text/plain; charset=utf-8"
HTML = b"text/html; charset=utf-8"
JSON = b"application/json"
NO_STORE = (b"cache-control", b"no-store")
NOSNIFF = (b"x-content-type-options", b"nosniff")
"""A header of every response; `server.py` configures uvicorn to add it."""


async def send_response(
    send: Send, status: int, body: bytes | str = b"", *, kind: bytes = TEXT, headers: Headers = ()
) -> None:
    """Send one complete response that must not be cached."""
    content = body.encode() if isinstance(body, str) else body
    described = [(b"content-type", kind)] if content else []
    length = (b"content-length", str(len(content)).encode())
    start = {"type": "http.response.start", "status": status, "headers": [*described, length, NO_STORE, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": content})
