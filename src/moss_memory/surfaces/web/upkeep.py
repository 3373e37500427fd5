"""Health and connecting: whether the store is in order, and how clients find it."""

from __future__ import annotations

import os

from ..cli.commands.doctor import examine
from ..cli.commands.tour import connections
from ..connect.command import moss_for_clients
from ..http import clients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .site import Site, Visit


def health(site: Site, visit: Visit) -> Response:
    """What the last look over the store found; the page asks for a new one by itself."""
    return site.page(visit, "health.html", report=site.health, checked=False)


def report(site: Site, visit: Visit) -> Response:
    """Looks over the store now, as `moss doctor` does."""
    site.health = examine(site.store.config.home)
    return site.page(visit, "health.html", report=site.health, checked=True)


def connect(site: Site, visit: Visit) -> Response:
    """The line that connects each client, over stdio and over HTTP."""
    token = os.path.join(site.store.config.home, "token")
    return site.page(
        visit,
        "connect.html",
        typed=[{"client": client, "line": line} for client, line in connections(moss_for_clients())],
        over_http=[{"client": client, "line": line} for client, line in clients.connections(visit.origin, token)],
        token=token,
    )


PAGES = {"/health": health, "/health/report": report, "/connect": connect}
FORMS: dict[str, Any] = {}
