"""A page and a form in the place of Moss's own: what the server promises of pages holds for any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route


def routes(store: Any, *, base: str, form_token: Callable[[], str], read_only: bool) -> list[BaseRoute]:
    changes: list[str] = []

    async def overview(request: Request) -> Response:
        return HTMLResponse(f"{form_token()}|{base}|{read_only}|{len(changes)}")

    async def change(request: Request) -> Response:
        form = await request.form()
        changes.append(str(form["text"]))
        return PlainTextResponse("changed")

    async def broken(request: Request) -> Response:
        raise RuntimeError(request.query_params["why"])

    return [Route("/", overview), Route("/change/{name}", change, methods=["POST"]), Route("/broken", broken)]
