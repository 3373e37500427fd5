"""The routes: MCP, status, sign-in for browsers, and the pages under a secret path.

Starlette's router routes the pages, which are loaded late. The few other paths are compared here: importing Starlette
would delay the first answer of a server by an eighth.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moss_memory.storage.files.demonstration import BANNER

from .browser_cookie import public_id
from .mcp_endpoint import Endpoint
from .origin_guard import REQUEST_HEADERS
from .request_body import UNREAD, read_body
from .request_log import LOG_PATH, LOG_TOKEN
from .send_response import HTML, Headers, send_response
from .sign_in import SIGN_IN, BrowserSession, SignIn, current_session
from .sign_in_pages import LINK_FORM, LOGO, SCRIPT, SIGN_IN_HELP, SIGN_IN_HELP_FOR_PAGE, STYLE, render_page
from .status_routes import PATHS, StatusRoutes
from .thread_pools import POOL
from .timeouts import MARK_AUTHENTICATED
from .token_registry import Access

_TOKEN_FIELD = "form_token"  # noqa: S105 - the name of the field, not its value
FORM_MAX_BYTES = 8 * 1024 * 1024
FORM_MAX_FIELDS = 1000
_FORM = b"application/x-www-form-urlencoded"
_FILES = {
    "style.css": (b"text/css; charset=utf-8", STYLE),
    "icon.svg": (b"image/svg+xml", LOGO),
    "open.js": (b"text/javascript; charset=utf-8", SCRIPT),
}
"""The files of the pages for browsers that are not signed in."""
_SIGN_IN_METHODS = ("GET", "HEAD", "POST")
_SIGN_IN_ALLOWED = [(b"allow", b"GET, POST")]
_SECRET_PATH = re.compile(r"/[0-9a-f]{32}(?=[/?]|$)")
"""The beginning of a page's path, of this home or of another."""


class Router:
    """The ASGI application behind the guard; the pages are loaded before the first of them is needed."""

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        sign_in: SignIn,
        status: StatusRoutes,
        base: str,
        new_link: Callable[[Access | None], str],
        pages: Callable[[], tuple[ASGIApp, frozenset[str]]],
        demonstration: bool = False,
    ) -> None:
        self._endpoint = endpoint
        self._sign_in = sign_in
        self._status = status
        self._base = base
        self._new_link = new_link
        self._make_pages = pages
        self._demonstration = demonstration
        self._pages: asyncio.Future[tuple[ASGIApp, frozenset[str]]] | None = None
        self._end = asyncio.Event()

    def end(self) -> None:
        self._end.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path == "/mcp":
            scope[LOG_PATH] = path
            if self._demonstration:
                await send_response(send, 403, _NOT_FOR_AGENTS)
            else:
                await self._endpoint(scope, receive, send)
        elif path == self._base or path.startswith(self._base + "/"):
            await self._handle_page(scope, receive, send)
        elif path in (SIGN_IN, f"{SIGN_IN}/"):
            scope[LOG_PATH] = SIGN_IN
            await self._handle_sign_in(scope, send)
        elif path.startswith(SIGN_IN + "/"):
            scope[LOG_PATH] = SIGN_IN
            await self._handle_link(scope, send, path[len(SIGN_IN) + 1 :])
        elif path in PATHS:
            scope[LOG_PATH] = path
            await self._status(scope, send)
        elif path == "/":
            scope[LOG_PATH] = path
            if scope["method"] in ("GET", "HEAD"):
                await self._send_page(send, 200, "Moss is running", SIGN_IN_HELP, opens_pages_if_signed_in=True)
            else:
                await send_response(send, 405, headers=[(b"allow", b"GET")])
        elif _is_browser(scope) and scope["method"] == "GET":
            cookie = self._requested_page_header(scope)
            await self._send_page(
                send,
                404,
                "Sign in to open this page",
                SIGN_IN_HELP_FOR_PAGE,
                opens_pages_if_signed_in=True,
                headers=cookie,
            )
        else:
            await send_response(send, 404, "there is nothing here\n")

    async def _handle_sign_in(self, scope: Scope, send: Send) -> None:
        """Send a new link to a program with the token; tell a browser how to get one."""
        if scope["method"] not in _SIGN_IN_METHODS:
            await send_response(send, 405, headers=_SIGN_IN_ALLOWED)
        elif scope["method"] == "POST" and (access := await self._endpoint.authorize(scope)) is not None:
            link_access = None if access is self._endpoint.tokens.owner else access
            await send_response(send, 200, self._new_link(link_access) + "\n")
        elif _is_browser(scope):
            await self._send_page(
                send, 401, "You are not signed in", SIGN_IN_HELP, opens_pages_if_signed_in=True, redirect_to="/"
            )
        else:
            await self._endpoint.refuse_unauthorized(scope, send)

    async def _handle_link(self, scope: Scope, send: Send, code: str) -> None:
        """Show the page of a link with its button, or handle the button; send a file of this page."""
        posted = scope["method"] == "POST"
        if scope["method"] not in _SIGN_IN_METHODS:
            await send_response(send, 405, headers=_SIGN_IN_ALLOWED)
        elif code in _FILES:
            await send_response(send, 200, _FILES[code][1], kind=_FILES[code][0])
        elif posted and b"origin" not in scope[REQUEST_HEADERS]:
            await send_response(send, 403, "the request comes from no page of this server\n")
        elif not self._sign_in.is_link_valid(code):
            title = "This link has been used, or is older than five minutes"
            await self._send_page(send, 410, title, SIGN_IN_HELP, opens_pages_if_signed_in=True, redirect_to="/")
        elif posted:
            cookie = self._sign_in.consume(code)
            page = self._base + self._sign_in.requested_page(scope[REQUEST_HEADERS].get(b"cookie"))
            headers = [(b"location", page.encode()), (b"set-cookie", str(cookie).encode())]
            await send_response(send, 303, headers=headers)
        else:
            self._load_pages()  # while a person reads the button
            await self._send_page(send, 200, "Sign in to Moss", LINK_FORM)

    async def _handle_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookies = scope[REQUEST_HEADERS].get(b"cookie")
        session = self._sign_in.session(cookies)
        if session is None or not await self._load_access(session):
            cookie = self._requested_page_header(scope) if scope["method"] == "GET" and _is_browser(scope) else []
            await self._send_page(send, 401, "You are not signed in", SIGN_IN_HELP, headers=cookie)
            return
        scope[MARK_AUTHENTICATED]()
        if session.access is not None:
            scope[LOG_TOKEN] = session.access.name
        if scope["method"] not in ("GET", "HEAD"):
            signs_out = scope["path"] == f"{self._base}/sign-out"
            if session.access is not None and session.access.read_only and not signs_out:
                await send_response(send, 403, "your token may only read\n")
                return
            form = await _read_form(scope, receive, session)
            if not isinstance(form, bytes):
                await send_response(send, *form, headers=UNREAD.get(form[0], ()))
                return
            if signs_out:
                scope[LOG_PATH] = "/pages/sign-out"
                cookie = [(b"set-cookie", self._sign_in.sign_out(session).encode())]
                await send_response(send, 303, headers=[(b"location", SIGN_IN.encode()), *cookie])
                return
            receive = _replay(form, receive)
        else:
            receive = self._receive_until_end(receive, session)
            if (renewed := self._sign_in.renewed(cookies)) is not None:
                send = _add_header(send, (b"set-cookie", renewed.encode()))
        current_session.set(session)
        pages, names = await asyncio.shield(self._load_pages())
        page_name = scope["path"][len(self._base) + 1 :].partition("/")[0]
        scope[LOG_PATH] = f"/pages/{page_name if page_name in names else '...'}"
        await pages(scope, receive, send)

    def _load_pages(self) -> asyncio.Future[tuple[ASGIApp, frozenset[str]]]:
        if self._pages is None or (self._pages.done() and self._pages.exception() is not None):
            self._pages = POOL.run(self._make_pages)
        return self._pages

    def _requested_page_header(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Return the header by which the requested page opens after the sign-in."""
        query: bytes = scope["query_string"]
        page = _SECRET_PATH.sub("", scope["raw_path"].decode("latin-1"), count=1) or "/"
        if query:
            page += "?" + query.decode("latin-1")
        return [(b"set-cookie", self._sign_in.page_cookie(page).encode())] if page.startswith("/") else []

    async def _load_access(self, session: BrowserSession) -> bool:
        """Load the access of the token that signed this browser in; return False if it was revoked or has expired."""
        if not session.token:
            return True
        session.access = await self._endpoint.tokens.current(session.token)
        if session.access is None:
            self._sign_in.revoke_token(session.token)
        return session.access is not None

    def _receive_until_end(self, receive: Receive, session: BrowserSession) -> Receive:
        """Wrap `receive` so that the end of the server or of the session is reported as a disconnect."""

        async def receive_or_end() -> Message:
            received = asyncio.ensure_future(receive())
            ends = {asyncio.ensure_future(event.wait()) for event in (self._end, session.ended)}
            try:
                await asyncio.wait({received, *ends}, return_when=asyncio.FIRST_COMPLETED)
                return received.result() if received.done() else {"type": "http.disconnect"}
            finally:
                for waiting in (received, *ends):
                    waiting.cancel()

        return receive_or_end

    async def _send_page(
        self,
        send: Send,
        status: int,
        title: str,
        content: str,
        *,
        opens_pages_if_signed_in: bool = False,
        redirect_to: str = "",
        headers: Headers = (),
    ) -> None:
        """Send a page for a browser that is not signed in; it may redirect one that has signed in before."""
        body = f"{content}<p>{BANNER}.</p>" if self._demonstration else content
        page = render_page(
            title, body, pages=public_id(self._base) if opens_pages_if_signed_in else "", redirect_to=redirect_to
        )
        await send_response(send, status, page, kind=HTML, headers=headers)


def _add_header(send: Send, header: tuple[bytes, bytes]) -> Send:
    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), header]
        await send(message)

    return send_with


def _is_browser(scope: Scope) -> bool:
    return b"text/html" in scope[REQUEST_HEADERS].get(b"accept", b"")


def current_form_token() -> str:
    return current_session.get().form_token


async def _read_form(scope: Scope, receive: Receive, session: BrowserSession) -> bytes | tuple[int, str]:
    """Return the body of a form of these pages, or status and reason of the refusal."""
    headers = scope[REQUEST_HEADERS]
    if scope["method"] != "POST":
        return 405, "pages are read with GET and changed with POST\n"
    if b"origin" not in headers:  # `OriginGuard` has refused a wrong one
        return 403, "the request comes from no page of this server\n"
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != _FORM:
        return 415, f"a form is sent as {_FORM.decode()}\n"
    body = await read_body(scope, receive, headers, FORM_MAX_BYTES)
    if isinstance(body, tuple):
        return body
    form_token = headers.get(b"x-form-token", b"").decode("latin-1")
    if not form_token:
        try:
            fields = parse_qs(body.decode("latin-1"), keep_blank_values=True, max_num_fields=FORM_MAX_FIELDS)
        except ValueError:
            return 413, f"a form has at most {FORM_MAX_FIELDS} fields\n"
        form_token = fields.get(_TOKEN_FIELD, [""])[0]
    if not hmac.compare_digest(form_token.encode("utf-8", "replace"), session.form_token.encode()):
        return 403, "this form is not of this session; load its page again\n"
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first repeats a body that was already read."""
    is_replayed = False

    async def receive_again() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


_NOT_FOR_AGENTS = (
    "This is a demonstration, thrown away when the server stops: no agent may read it or store anything in it. "
    "`moss serve` serves your own store, and `moss connect` connects your agents to it.\n"
)
