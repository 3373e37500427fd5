"""Change events for open pages, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from moss_memory.errors import MossError
from moss_memory.http.thread_pools import in_thread

from .page_context import PageContext, parse_number

_POLL_S = 1.0
_KEEP_ALIVE = 20
"""Number of polls without a change after which a comment is sent, which detects a closed browser."""


def stream_changes(context: PageContext) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint that reports changes after `after`; other processes write too, so the store is polled."""

    async def answer(request: Request) -> Response:
        last_seq = parse_number(request.query_params.get("after"))
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(_messages(context, last_seq), media_type="text/event-stream", headers=headers)

    return answer


async def _messages(context: PageContext, last_seq: int | None) -> AsyncIterator[str]:
    yield ": listening\n\n"
    idle_polls = 0
    while True:
        seq = await in_thread(_last_change, context)
        idle_polls += 1
        if seq is not None and seq != last_seq:
            if last_seq is not None:
                yield f"event: changed\ndata: {seq}\n\n"
                idle_polls = 0
            last_seq = seq
        elif idle_polls >= _KEEP_ALIVE:
            yield ": still here\n\n"
            idle_polls = 0
        await anyio.sleep(_POLL_S)


def _last_change(context: PageContext) -> int | None:
    try:
        return int(context.call("moss_changes")["seq"])
    except MossError:
        return None  # a store that is busy now reports its changes later
