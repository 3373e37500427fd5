"""The routes of the pages: which address is answered by which function."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from moss_memory.errors import MossError

from . import artifacts, capsules, changes, overview, reasoning, records, search, tasks, upkeep
from .rendering import FOLDER
from .site import Site, Visit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from moss_memory.store import Store

    Handler = Callable[[Site, Visit], Response]

ROOMS = (overview, capsules, artifacts, tasks, reasoning, records, search, upkeep)
"""The modules of the pages: each has `PAGES`, which are read, and `FORMS`, which change something."""


def routes(store: Store, *, base: str, form_token: Callable[[], str], read_only: bool) -> list[BaseRoute]:
    """The pages of a store as they are mounted under `base`; who may see them is checked before.

    Every form is a POST with the token that `form_token` gives while a page is made; with `read_only` there is none.
    """
    site = Site(store, base=base, form_token=form_token, read_only=read_only)
    made: list[BaseRoute] = []
    for room in ROOMS:
        made += [Route(path, _reading(site, handler), methods=["GET"]) for path, handler in room.PAGES.items()]
        if not read_only:
            made += [Route(path, _writing(site, handler), methods=["POST"]) for path, handler in room.FORMS.items()]
    static = StaticFiles(directory=FOLDER / "static")
    return [*made, Route("/changes", changes.stream(site), methods=["GET"]), Mount("/static", static, name="static")]


def _reading(site: Site, handler: Handler) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        return _answered(site, handler, Visit(request))

    return answer


def _writing(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        visit = Visit(request, await request.body())
        return await run_in_threadpool(_answered, site, handler, visit)

    return answer


def _answered(site: Site, handler: Handler, visit: Visit) -> Response:
    try:
        return handler(site, visit)
    except MossError as error:
        return site.refused(visit, error)
