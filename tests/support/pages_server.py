"""The pages on a separate port, with the server's headers and without its locks; counts policy violations."""

from __future__ import annotations

import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from moss_memory.web.app import routes

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from moss_memory.store import Store

BASE = "/0123456789abcdef"
FORM_TOKEN = "a-token-of-the-form"  # noqa: S105
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


class Headers:
    """Set the server's headers on every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with the policy in the headers."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", POLICY.encode())]
            await send(message)

        await self._app(scope, receive, sent)


def app_of(store: Store, *, read_only: bool = False) -> Any:
    """Return the pages of a store as an ASGI application."""
    made = routes(store, base=BASE, form_token=lambda: FORM_TOKEN, read_only=read_only)
    return Headers(Starlette(routes=[Mount(BASE, routes=made)]))


class PagesServer:
    """The pages of a store, served from a thread until it is stopped."""

    def __init__(self, store: Store, *, read_only: bool = False) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.address = self.origin + BASE
        config = uvicorn.Config(app_of(store, read_only=read_only), log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> PagesServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


if __name__ == "__main__":  # to look at a store: python tests/support/pages_server.py HOME
    from moss_memory.store import open_store

    with open_store(sys.argv[1]) as opened, PagesServer(opened) as server:
        print(server.address + "/", flush=True)
        threading.Event().wait()
