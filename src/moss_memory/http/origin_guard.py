"""Who may speak to the server at all: this machine's programs, and pages that the server itself has sent.

Every web page that a person opens can send requests to 127.0.0.1, and a name can be made to point there. So a request
must name this server as its host and, where a browser sent it, come from this server's own pages. What is let through
here still has to show a token or a cookie.
"""

from __future__ import annotations

import time

from moss_memory.mcp.message_writer import say
from moss_memory.mcp.protocol import log_bug

from .replies import reply
from .request_body import BUDGET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = "moss.headers"
"""Under this name of a request's scope stand its headers by their names."""

LOG_PATH = "moss.place"
"""And under this what of its path may be logged: no names, no text, no token."""

_ONCE = frozenset({
    b"host", b"origin", b"authorization", b"cookie", b"content-type", b"content-length", b"sec-fetch-site",
    b"sec-fetch-mode", b"accept", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name",
})  # fmt: skip
"""Of which two would let a request mean one thing to the guard and another behind it."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_FOR_BROWSERS = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    # With no-referrer a browser would send `Origin: null` with our own forms.
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
    b"cache-control": b"no-store",
}


class OriginGuard:
    """Refuses what does not come from where it must, and sees to the headers and the log of every answer.

    `origins` holds the origin of this server's pages for each host that it answers to.
    """

    def __init__(self, app: ASGIApp, *, origins: Mapping[bytes, bytes], log_all: bool = False) -> None:
        self._app = app
        self._origins = origins
        self._log_all = log_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            return
        answer = Answer(scope, send)
        began = time.perf_counter()
        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, receive, answer.send)
            else:
                await reply(answer.send, *refusal)
        except Exception as bug:
            log_bug(bug)
            if not answer.status:
                await reply(answer.send, 500, "Moss failed in a way it should not; its log says where\n")
        finally:
            BUDGET.release(scope)
            if self._log_all or answer.status >= 400:
                took_ms = (time.perf_counter() - began) * 1000
                say(f"{scope['method']} {scope.get(LOG_PATH, '/...')} {answer.status or '-'} {took_ms:.1f} ms")

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is not let through, with the status that says so; none when it is."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers and name in _ONCE:
                return 400, f"the header {name.decode()} stands there twice\n"
            headers[name] = value
        scope[HEADERS] = headers
        own = self._origins.get(headers.get(b"host", b""))
        if own is None:
            return 421, "this server does not go by the name in the header host; use the address that it printed\n"
        scope["scheme"] = own.partition(b":")[0].decode()  # a proxy that does TLS speaks plain HTTP with us
        origin = headers.get(b"origin")
        if origin is not None and origin != own:
            return 403, "this comes from a page of another server\n"
        site = headers.get(b"sec-fetch-site")
        if site is not None and site not in (b"same-origin", b"none") and not _is_navigation(scope, headers):
            return 403, "this comes from a page of another server\n"
        return None


class Answer:
    """What a request is answered: its status is noted, and answers for browsers get the headers that confine them."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        """Passes on one message of the application."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._scope["path"] != "/mcp":
                given = {name.lower() for name, _ in message.get("headers", ())}
                added = [(name, value) for name, value in _FOR_BROWSERS.items() if name not in given]
                message["headers"] = [*message.get("headers", ()), *added]
        await self._send(message)


def _is_navigation(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """Whether a person followed a link, which changes nothing here."""
    return scope["method"] == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
