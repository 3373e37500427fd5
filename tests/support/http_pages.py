"""A page and a form in place of Moss's own, to test the server's guarantees for any pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route


def routes(
    store: Any, *, base: str, form_token: Callable[[], str], read_only: bool, own_home: str = "", indexing: Any = None
) -> list[BaseRoute]:
    changes: list[str] = []

    async def overview(request: Request) -> Response:
        return HTMLResponse(f"{form_token()}|{base}|{read_only}|{len(changes)}")

    async def change(request: Request) -> Response:
        form = await request.form()
        changes.append(str(form["text"]))
        return PlainTextResponse("changed")

    async def broken(request: Request) -> Response:
        raise RuntimeError(request.query_params["why"])

    async def stream(request: Request) -> Response:
        async def parts() -> AsyncIterator[str]:
            yield "first\n"
            await anyio.sleep_forever()

        return StreamingResponse(parts())

    return [
        Route("/", overview),
        Route("/stream", stream),
        Route("/change/{name}", change, methods=["POST"]),
        Route("/broken", broken),
    ]
