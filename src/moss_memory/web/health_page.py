"""Health and connecting: whether the store is in order, and how clients find it."""

from __future__ import annotations

import os

from moss_memory.cli.commands.doctor import examine
from moss_memory.config import resolve_home
from moss_memory.connect.moss_command import connecting_lines
from moss_memory.http.bind import PORT
from moss_memory.http.http_clients import connections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest


def health(site: PageContext, visit: PageRequest) -> Response:
    """What the last look over the store found; the page asks for a new one by itself."""
    return site.page(visit, "health.html", report=site.health, checked=False)


def report(site: PageContext, visit: PageRequest) -> Response:
    """Looks over the store now, as `moss doctor` does."""
    site.health = examine(site.store.config.home)
    return site.page(visit, "health.html", report=site.health, checked=True)


def connect(site: PageContext, visit: PageRequest) -> Response:
    """The line that connects each client, to this store or to this server; from a demonstration to the user's own."""
    home = site.own_home or site.store.config.home
    ours = [] if home == resolve_home() else ["--home", home]
    token = os.path.join(home, "token")
    origin = f"http://127.0.0.1:{PORT}" if site.own_home else visit.origin
    return site.page(
        visit,
        "connect.html",
        typed=connecting_lines(*ours),
        over_http=connections(origin, token),
        token=token,
    )


PAGES = {"/health": health, "/health/report": report, "/connect": connect}
FORMS: dict[str, Any] = {}
