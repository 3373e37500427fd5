"""The routes of the pages: which address is answered by which function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from moss_memory.errors import MossError
from moss_memory.http.thread_pools import POOL
from moss_memory.mcp.background_index import BackgroundIndexer
from moss_memory.store import Store

from . import (
    agent_page,
    artifact_pages,
    capsule_pages,
    changes_page,
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
from .event_stream import stream_changes
from .page_context import PageContext, PageRequest
from .templating import FOLDER
from .version_forms import restore_row, revert_row

Handler = Callable[[PageContext, PageRequest], Response]

PAGES: dict[str, Handler] = {
    "/": changes_page.show_changes,
    "/overview": overview_page.show_overview,
    "/capsules": capsule_pages.list_capsules,
    "/capsules/{id}": capsule_pages.show_capsule,
    "/capsules/{id}/history": capsule_pages.show_history,
    "/capsules/{id}/edit": capsule_pages.show_edit_form,
    "/artifacts": artifact_pages.list_artifacts,
    "/artifacts/{id}": artifact_pages.show_artifact,
    "/tasks": task_pages.show_board,
    "/tasks/{id}": task_pages.show_task,
    "/reasoning": reasoning_pages.show_graph,
    "/reasoning/log": reasoning_pages.show_log,
    "/reasoning/conflicts/{id}": reasoning_pages.show_conflict,
    "/reasoning/node": node_page.show_node,
    "/records": record_pages.list_entities,
    "/records/timeline": record_pages.show_timeline,
    "/records/entities/{id}": record_pages.show_entity,
    "/records/{id}": record_pages.show_record,
    "/search": search_page.show_search,
    "/palette": palette_page.find_palette_items,
    "/workspaces": workspace_pages.list_workspaces,
    "/agent": agent_page.show_agent_context,
    "/map": map_page.show_map,
    "/map/data": map_page.send_map_data,
    "/health": health_page.show_health,
    "/health/report": health_page.run_health_check,
    "/connect": health_page.show_connect,
}
"""The handlers of GET requests."""

FORMS: dict[str, Handler] = {
    "/capsules/{id}/edit": capsule_pages.edit_capsule,
    "/capsules/{id}/rename": capsule_pages.rename_capsule,
    "/capsules/{id}/delete": capsule_pages.delete_capsule,
    "/capsules/{id}/restore": partial(restore_row, "capsule"),
    "/capsules/{id}/revert": partial(revert_row, "capsule"),
    "/artifacts/{id}/delete": artifact_pages.delete_artifact,
    "/artifacts/{id}/restore": partial(restore_row, "artifact"),
    "/artifacts/{id}/revert": partial(revert_row, "artifact"),
    "/reasoning/merge": reasoning_pages.merge_branch,
    "/reasoning/conflicts/{id}/settle": reasoning_pages.resolve_conflict,
    "/agent/archive": agent_page.archive_capsule,
}
"""The handlers of POST requests, which change something."""

SLOW_PAGES = (health_page.run_health_check, search_page.show_search)
"""Pages that may take seconds in a large store."""


class StaticFileRoutes(StaticFiles):
    """The styles and scripts; a missing file is reported as plain text."""

    async def get_response(self, path: str, scope: Scope) -> Response:
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
    indexing: BackgroundIndexer | None = None,
) -> list[BaseRoute]:
    """Return the routes of the pages, to be mounted under `base`; access is checked before.

    Every form is a POST with the token from `form_token`; with `read_only` there are no forms.
    `own_home` is the user's home if the store is a demonstration. `indexing` prepares texts in the background.
    """
    context = PageContext(
        store, base=base, form_token=form_token, read_only=read_only, own_home=own_home, indexing=indexing
    )
    context.preload()
    static = StaticFileRoutes(directory=FOLDER / "static")
    return [
        *[Route(path, _endpoint(context, handler), methods=["GET"]) for path, handler in PAGES.items()],
        *[
            Route(path, _endpoint(context, handler), methods=["POST"])
            for path, handler in FORMS.items()
            if not read_only
        ],
        Route("/changes", stream_changes(context), methods=["GET"]),
        Mount("/static", static, name="static"),
        Route("/{rest:path}", _endpoint(context, _redirect_or_refuse), methods=["GET"]),
    ]


def _endpoint(context: PageContext, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that runs a handler on the pool, with the context variables of the request."""

    async def answer(request: Request) -> Response:
        page_request, variables = PageRequest(request, await request.body()), copy_context()
        return await POOL.run(
            lambda: variables.run(_run_handler, context, handler, page_request), slow=handler in SLOW_PAGES
        )

    return answer


def _redirect_or_refuse(context: PageContext, request: PageRequest) -> Response:
    """Redirect an address with a trailing slash; refuse any other without a page."""
    rest = request.path_parameters["rest"]
    if rest.endswith("/") and rest.strip("/"):
        return context.redirect("/" + rest.strip("/"))
    raise MossError("NOT_FOUND", "there is no such page")


def _run_handler(context: PageContext, handler: Handler, request: PageRequest) -> Response:
    try:
        return handler(context, request)
    except MossError as error:
        return context.error_page(request, error)
