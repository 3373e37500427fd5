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
    artifact_pages,
    capsule_pages,
    event_stream,
    health_page,
    overview_page,
    reasoning_pages,
    record_pages,
    search_page,
    task_pages,
)
from .page_context import PageContext, PageRequest
from .templating import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Scope

    from moss_memory.store import Store

    Handler = Callable[[PageContext, PageRequest], Response]

ROOMS = (
    overview_page,
    capsule_pages,
    artifact_pages,
    task_pages,
    reasoning_pages,
    record_pages,
    search_page,
    health_page,
)
"""The modules of the pages: each has `PAGES`, which are read, and `FORMS`, which change something."""

TAKE_LONG = (health_page.report, search_page.found)
"""Pages that may take seconds in a large store."""


class Files(StaticFiles):
    """The styles and scripts of the pages; what is none of them is not there."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, or that there is none, as an answer."""
        try:
            return await super().get_response(path, scope)
        except (HTTPException, ValueError):
            return PlainTextResponse("there is nothing here\n", 404)


def routes(
    store: Store, *, base: str, form_token: Callable[[], str], read_only: bool, own_home: str = ""
) -> list[BaseRoute]:
    """The pages of a store as they are mounted under `base`; who may see them is checked before.

    Every form is a POST with the token that `form_token` gives while a page is made; with `read_only` there is none.
    `own_home` is the home of the user to whom a demonstration is shown.
    """
    site = PageContext(store, base=base, form_token=form_token, read_only=read_only, own_home=own_home)
    site.prepare()
    made: list[BaseRoute] = []
    for room in ROOMS:
        made += [Route(path, _reading(site, handler), methods=["GET"]) for path, handler in room.PAGES.items()]
        if not read_only:
            made += [Route(path, _writing(site, handler), methods=["POST"]) for path, handler in room.FORMS.items()]
    static = Files(directory=FOLDER / "static")
    return [
        *made,
        Route("/changes", event_stream.stream(site), methods=["GET"]),
        Mount("/static", static, name="static"),
        Route("/{rest:path}", _reading(site, _nothing), methods=["GET"]),
    ]


def _reading(site: PageContext, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await _on_a_thread(site, handler, PageRequest(request))

    return answer


def _writing(site: PageContext, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await _on_a_thread(site, handler, PageRequest(request, await request.body()))

    return answer


def _nothing(site: PageContext, visit: PageRequest) -> Response:
    """Whatever has no page of its own; a slash too many at the end is forgiven."""
    rest = visit.path["rest"]
    if rest.endswith("/") and rest.strip("/"):
        return site.to("/" + rest.strip("/"))
    raise MossError("NOT_FOUND", "there is no such page")


async def _on_a_thread(site: PageContext, handler: Handler, visit: PageRequest) -> Response:
    """A page made where tool calls are run too; it knows who asked, for it takes the context along."""
    context = copy_context()
    return await POOL.run(lambda: context.run(_answered, site, handler, visit), long=handler in TAKE_LONG)


def _answered(site: PageContext, handler: Handler, visit: PageRequest) -> Response:
    try:
        return handler(site, visit)
    except MossError as error:
        return site.refused(visit, error)
