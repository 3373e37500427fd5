"""Health check of the store, and commands that connect clients."""

from __future__ import annotations

import os
import time
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from moss_memory.cli.commands.connect_command import list_clients
from moss_memory.cli.commands.doctor import examine
from moss_memory.config import resolve_home
from moss_memory.connect.clients import CLIENTS
from moss_memory.connect.config_location import ConfigLocation
from moss_memory.connect.moss_command import stdio_connect_commands
from moss_memory.connect.server_entry import ServerEntry
from moss_memory.http.bind import PORT
from moss_memory.http.http_clients import connect_commands
from moss_memory.http.sign_in import page_access
from moss_memory.search.embedding.embedder import is_installed
from moss_memory.search.embedding_queue import count_unembedded
from moss_memory.tools.everything.period_changes import recent_actors

from .page_context import PageContext, PageRequest

_SEEN = 12


def show_health(context: PageContext, request: PageRequest) -> Response:
    """Show the result of the last health check; the page's script requests a new one."""
    report = context.health
    outdated = report is None or report["seq"] != context.last_change(request)
    return context.page(request, "health.html", report=report, outdated=outdated, state=_state(context))


def _state(context: PageContext) -> dict[str, Any]:
    """Return the size of the store, and how many texts wait to be prepared for search by meaning."""
    waiting = context.store.read(count_unembedded, what="unprepared texts", snapshot=False)
    context.most_waiting = max(context.most_waiting, waiting) if waiting else 0
    return {
        "bytes": context.store.size_bytes(),
        "waiting": waiting,
        "most": context.most_waiting,
        "prepares": context.indexing is not None and is_installed(),
        "at": time.time(),
    }


def run_health_check(context: PageContext, request: PageRequest) -> Response:
    """Check the store now, like `moss doctor`."""
    seq = context.last_change(request)
    context.health = {**examine(context.store.config.home), "at": time.time(), "seq": seq}
    return context.page(request, "health.html", report=context.health, outdated=False, state=_state(context))


def show_connect(context: PageContext, request: PageRequest) -> Response:
    """Show the commands that connect each client to this store or server (a demonstration: to the user's own)."""
    home = context.own_home or context.store.config.home
    home_option = [] if home == resolve_home() else ["--home", home]
    token = os.path.join(home, "token")
    origin = f"http://127.0.0.1:{PORT}" if context.own_home else request.origin
    return context.page(
        request,
        "connect.html",
        typed=stdio_connect_commands(*home_option),
        clients=_client_states(home, origin) if page_access() is None else {},
        over_http=connect_commands(origin, token),
        token=token,
        seen=[] if context.own_home else context.cached_read(request, recent_actors, what="actors")[:_SEEN],
    )


def _client_states(home: str, origin: str) -> dict[str, dict[str, Any]]:
    """Return the state of each client by its name, from its files on this machine; no secret of them is shown.

    A client is connected if its entry leads to this store or this server; else its state says where it leads.
    """
    states: dict[str, dict[str, Any]] = {}
    for row in list_clients()["clients"]:
        client = CLIENTS[row["client"]]
        state = {"text": "not connected" if row["found"] else "not found here", "is_connected": False}
        if row["connected"] == "unknown":
            state["text"] = "its file cannot be read"
        elif row["connected"] != "no":
            state = _client_state(ConfigLocation(client, row["scope"]).server_entry(), home, origin)
        if client.name not in states or state["is_connected"]:  # the file of a project counts too
            states[client.name] = state
    return states


def _client_state(entry: ServerEntry | None, home: str, origin: str) -> dict[str, Any]:
    """Return the state of a client with this entry: connected to this store, or to another one."""
    if entry is None:  # the file changed meanwhile
        return {"text": "not connected", "is_connected": False}
    if entry.transport == "stdio":
        is_here, text, other = entry.home == os.path.realpath(home), "connected", f"another store, {_short(entry.home)}"
    else:
        parts = urlsplit(entry.url)
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"  # an address may hold a password
        same = (origin, origin.replace("//127.0.0.1", "//localhost"), origin.replace("//localhost", "//127.0.0.1"))
        is_here, text, other = server in same, "connected over HTTP", f"another server, {server}"
    return {"text": text if is_here else f"connected to {other}", "is_connected": is_here}


def _short(folder: str) -> str:
    """Return a folder with `~` for the user's own."""
    user_home = os.path.realpath(os.path.expanduser("~"))
    return "~" + folder.removeprefix(user_home) if folder.startswith(user_home + os.sep) else folder
