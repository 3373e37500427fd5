"""Host and origin checks: refuse requests for another host, and requests from pages of another origin.

Every web page that a person opens can send requests to 127.0.0.1, and a name can be made to point there (DNS
rebinding). So a request must name this server as its host and, if a browser sent it, come from this server's own pages.
Probes are exempt. The router then asks for a token or a cookie, except for the pages that explain the sign-in.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moss_memory.errors import MossError
from moss_memory.mcp.protocol import log_bug

from .metrics import METRICS
from .request_body import BUDGET
from .request_log import log_request
from .send_response import NO_STORE, send_response

HEALTH = "/healthz"
READY = "/readyz"
PROBES = (HEALTH, READY)
"""Routes that answer under any host name, because probes call an address; they return one word."""

REQUEST_HEADERS = "moss.headers"
"""Scope key of the request's headers, as a dict."""

_UNIQUE_HEADERS = frozenset({
    b"host", b"origin", b"authorization", b"cookie", b"content-type", b"content-length", b"sec-fetch-site",
    b"sec-fetch-mode", b"accept", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name",
})  # fmt: skip
"""Headers that must not be repeated (request smuggling)."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_BROWSER_HEADERS = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    # With no-referrer a browser would send `Origin: null` with our own forms.
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
    NO_STORE[0]: NO_STORE[1],
}
"""Added to every answer except those of `/mcp`; `NOSNIFF` is added to all."""


class OriginGuard:
    """Refuses requests with a wrong host or origin, adds security headers and logs responses.

    `origins` maps each allowed host to the origin of this server's pages.
    """

    def __init__(self, app: ASGIApp, *, origins: Mapping[bytes, bytes], log_all: bool = False) -> None:
        self._app = app
        self._origins = origins
        self._log_all = log_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        response = ResponseHeaders(scope, send)
        began = time.perf_counter()
        try:
            refusal = None if scope["path"] in PROBES else self._check_request(scope)
            if refusal is None:
                await self._app(scope, receive, response.send)
            else:
                await send_response(response.send, *refusal)
        except MossError as error:  # the store of the named tokens is unreachable
            await send_response(response.send, 503, f"{error.message}\n", headers=[(b"retry-after", b"1")])
        except Exception as bug:
            log_bug(bug)
            if not response.status:
                await send_response(response.send, 500, "unexpected error in Moss; see its log\n")
        finally:
            BUDGET.release(scope)
            if response.status >= 400:
                METRICS.refuse(response.status)
            if self._log_all or response.status >= 400:
                log_request(scope, response.status, (time.perf_counter() - began) * 1000)

    def _check_request(self, scope: Scope) -> tuple[int, str] | None:
        """Store the headers and the scheme in the scope; return status and reason of a refusal, None if allowed."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers and name in _UNIQUE_HEADERS:
                return 400, f"the header {name.decode()} is repeated\n"
            headers[name] = value
        scope[REQUEST_HEADERS] = headers
        expected = self._origins.get(headers.get(b"host", b""))
        if expected is None:
            return 421, "this server does not accept this Host header; use the address that it printed\n"
        scope["scheme"] = expected.partition(b":")[0].decode()  # a TLS proxy forwards plain HTTP
        origin = headers.get(b"origin")
        if origin is not None and origin != expected:
            return 403, "the request comes from a page of another server\n"
        site = headers.get(b"sec-fetch-site")
        is_navigation = scope["method"] == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
        if site not in (None, b"same-origin", b"none") and not is_navigation:
            return 403, "the request comes from a page of another server\n"
        return None


class ResponseHeaders:
    """Wrapper of `send` that records the status and adds security headers for browsers."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._scope["path"] != "/mcp":
                names = {name.lower() for name, _ in message.get("headers", ())}
                added = [(name, value) for name, value in _BROWSER_HEADERS.items() if name not in names]
                message["headers"] = [*message.get("headers", ()), *added]
        await self._send(message)


def request_origin(scope: Scope) -> str:
    """Return the origin of this server by the name that the client called, which the guard has checked."""
    return f"{scope['scheme']}://{scope[REQUEST_HEADERS][b'host'].decode('latin-1')}"
