"""The routes of the pages: which address is answered by which function."""

from __future__ import annotations

from contextvars import copy_context

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from moss_memory.errors import MossError
from moss_memory.http.pool import POOL

from . import (
    agent_page,
    artifact_pages,
    capsule_pages,
    changes_page,
    event_stream,
    health_page,
    map_page,
    node_page,
    overview_page,
    palette_page,
    reasoning_pages,
    record_pages,
    search_page,
    task_pages,
    workspace_pages,
)
from .page_context import PageContext, PageRequest
from .templating import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Scope

    from moss_memory.mcp.background_index import Indexing
    from moss_memory.store import Store

    Handler = Callable[[PageContext, PageRequest], Response]

MODULES = (
    changes_page,
    overview_page,
    capsule_pages,
    artifact_pages,
    task_pages,
    reasoning_pages,
    node_page,
    record_pages,
    search_page,
    palette_page,
    workspace_pages,
    agent_page,
    map_page,
    health_page,
)
"""The modules of the pages: each has `PAGES`, which are read, and `FORMS`, which change something."""

SLOW_PAGES = (health_page.report, search_page.search)
"""Pages that may take seconds in a large store."""


class Files(StaticFiles):
    """The static files: styles and scripts."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file, or status 404 as plain text."""
        try:
            return await super().get_response(path, scope)
        except (HTTPException, ValueError):
            return PlainTextResponse("there is nothing here\n", 404)


def routes(
    store: Store,
    *,
    base: str,
    form_token: Callable[[], str],
    read_only: bool,
    own_home: str = "",
    indexing: Indexing | None = None,
) -> list[BaseRoute]:
    """Return the routes of the pages, to be mounted under `base`; access is checked before.

    Every form is a POST with the token from `form_token`; with `read_only` there are no forms.
    `own_home` is the user's home if the store is a demonstration. `indexing` prepares texts in the background.
    """
    context = PageContext(
        store, base=base, form_token=form_token, read_only=read_only, own_home=own_home, indexing=indexing
    )
    context.prepare()
    page_routes: list[BaseRoute] = []
    for module in MODULES:
        page_routes += [
            Route(path, _read_endpoint(context, handler), methods=["GET"]) for path, handler in module.PAGES.items()
        ]
        if not read_only:
            page_routes += [
                Route(path, _form_endpoint(context, handler), methods=["POST"])
                for path, handler in module.FORMS.items()
            ]
    static = Files(directory=FOLDER / "static")
    return [
        *page_routes,
        Route("/changes", event_stream.stream(context), methods=["GET"]),
        Mount("/static", static, name="static"),
        Route("/{rest:path}", _read_endpoint(context, _redirect_or_refuse), methods=["GET"]),
    ]


def _read_endpoint(context: PageContext, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await _run_in_pool(context, handler, PageRequest(request))

    return answer


def _form_endpoint(context: PageContext, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await _run_in_pool(context, handler, PageRequest(request, await request.body()))

    return answer


def _redirect_or_refuse(context: PageContext, request: PageRequest) -> Response:
    """Redirect an address with a trailing slash; refuse any other without a page."""
    rest = request.path["rest"]
    if rest.endswith("/") and rest.strip("/"):
        return context.to("/" + rest.strip("/"))
    raise MossError("NOT_FOUND", "there is no such page")


async def _run_in_pool(context: PageContext, handler: Handler, request: PageRequest) -> Response:
    """Run a page's handler on the pool, with the request's context variables."""
    variables = copy_context()
    return await POOL.run(lambda: variables.run(_run_handler, context, handler, request), slow=handler in SLOW_PAGES)


def _run_handler(context: PageContext, handler: Handler, request: PageRequest) -> Response:
    try:
        return handler(context, request)
    except MossError as error:
        return context.error_page(request, error)
