"""What changes while somebody looks: one message a change, as server-sent events."""

from __future__ import annotations

import anyio
from starlette.responses import StreamingResponse

from moss_memory.errors import MossError
from moss_memory.http.pool import in_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from .page_context import PageContext

_LOOK_S = 1.0
_KEEP_ALIVE = 20
"""After so many looks without a change something is sent, so that a browser that went away is noticed."""


def stream(site: PageContext) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint that tells a page of changes after `after`; other processes write too, so the store is asked."""

    async def answer(request: Request) -> Response:
        given = request.query_params.get("after", "")
        known = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(_messages(site, known), media_type="text/event-stream", headers=headers)

    return answer


async def _messages(site: PageContext, known: int | None) -> AsyncIterator[str]:
    yield ": listening\n\n"
    quiet = 0
    while True:
        seq = await in_thread(_last_change, site)
        quiet += 1
        if seq is not None and seq != known:
            if known is not None:
                yield f"event: changed\ndata: {seq}\n\n"
                quiet = 0
            known = seq
        elif quiet >= _KEEP_ALIVE:
            yield ": still here\n\n"
            quiet = 0
        await anyio.sleep(_LOOK_S)


def _last_change(site: PageContext) -> int | None:
    try:
        return int(site.call("moss_changes")["seq"])
    except MossError:
        return None  # a store that is busy or away for a moment tells of its changes later
