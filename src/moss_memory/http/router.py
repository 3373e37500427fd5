"""The routes: MCP, sign-in for browsers, and the pages under a random path."""

from __future__ import annotations

import asyncio
import hmac
from urllib.parse import parse_qs

from moss_memory.demo.demo_home import BANNER

from .origin_guard import HEADERS
from .pool import POOL
from .replies import HTML, reply
from .request_body import UNREAD, read_body
from .request_log import LOG_PATH, LOG_TOKEN
from .sign_in import current_session
from .status_routes import PATHS
from .timeouts import PROVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .mcp_endpoint import Endpoint
    from .sign_in import BrowserSession, SignIn
    from .status_routes import StatusRoutes
    from .token_registry import Access

SIGN_IN = "/sign-in"
FORM_TOKEN = "form_token"  # noqa: S105 - the name of the field, not its value
FORM_MAX_BYTES = 8 * 1024 * 1024
FORM_MAX_FIELDS = 1000
_FORM = b"application/x-www-form-urlencoded"

_STYLE = """\
:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:light-dark(#f6f6f2,#121511);
color:light-dark(#1c211b,#e7ebe3);font:.9375rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{box-sizing:border-box;width:min(25rem,100vw - 2rem);margin-bottom:12vh;padding:2rem;border-radius:10px;
background:light-dark(#fff,#1a1e18);border:1px solid light-dark(#e1e3da,#2c3229)}
svg{display:block;width:32px;height:32px;margin-bottom:1.25rem}
h1{font-size:1.375rem;font-weight:650;letter-spacing:-.018em;line-height:1.3;margin:0 0 .375rem}
p{margin:0;color:light-dark(#586055,#a2ab9c)}
code{font:.86em ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,monospace}
button{font:inherit;font-weight:520;width:100%;height:2.5rem;margin-top:1.5rem;border:0;border-radius:5px;cursor:pointer;
background:light-dark(#3f6a3a,#a4cf8d);color:light-dark(#fff,#14200f)}
button:focus-visible{outline:2px solid light-dark(#3f6a3a,#a4cf8d);outline-offset:2px}
"""


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
        """Close the streams of pages."""
        self._end.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route one request."""
        path: str = scope["path"]
        if path == "/mcp":
            scope[LOG_PATH] = path
            if self._demonstration:
                await reply(send, 403, _NOT_FOR_AGENTS)
            else:
                await self._endpoint(scope, receive, send)
        elif path == self._base or path.startswith(self._base + "/"):
            await self._handle_page(scope, receive, send)
        elif path == SIGN_IN or path.startswith(SIGN_IN + "/"):
            scope[LOG_PATH] = SIGN_IN
            await self._handle_sign_in(scope, send, path[len(SIGN_IN) + 1 :])
        elif path in PATHS:
            scope[LOG_PATH] = path
            await self._status(scope, send)
        elif path == "/":
            scope[LOG_PATH] = path
            if scope["method"] in ("GET", "HEAD"):
                await reply(send, 200, self._page_of("Moss is here", _HOW), kind=HTML)
            else:
                await reply(send, 405, headers=[(b"allow", b"GET")])
        elif _is_browser(scope):
            await reply(send, 404, self._page_of("There is nothing here", _HOW), kind=HTML)
        else:
            await reply(send, 404, "there is nothing here\n")

    async def _handle_sign_in(self, scope: Scope, send: Send, code: str) -> None:
        """Handle the sign-in page and its button; send a new link to a program with the token."""
        posted = scope["method"] == "POST"
        if not posted and scope["method"] not in ("GET", "HEAD"):
            await reply(send, 405, headers=[(b"allow", b"GET, POST")])
        elif code == "style.css":
            await reply(send, 200, _STYLE, kind=b"text/css; charset=utf-8")
        elif code == "icon.svg":
            await reply(send, 200, _LOGO, kind=b"image/svg+xml")
        elif not code and posted and (access := await self._endpoint.authorize(scope)) is not None:
            named = None if self._endpoint.is_owner(access) else access
            await reply(send, 200, self._new_link(named) + "\n")
        elif not code and _is_browser(scope):
            await reply(send, 401, self._page_of("You are not signed in", _HOW), kind=HTML)
        elif not code:
            await self._endpoint.refuse_unauthorized(scope, send)
        elif posted and b"origin" not in scope[HEADERS]:
            await reply(send, 403, "this comes from no page of this server\n")
        elif not self._sign_in.is_open(code):
            await reply(
                send, 410, self._page_of("This link has been used, or is older than five minutes", _HOW), kind=HTML
            )
        elif posted:
            cookie = self._sign_in.spend(code)
            to = [(b"location", f"{self._base}/".encode()), (b"set-cookie", str(cookie).encode())]
            await reply(send, 303, headers=to)
        else:
            self._load_pages()  # while a person reads the button
            await reply(send, 200, self._page_of("Sign in to Moss", _BUTTON), kind=HTML)

    async def _handle_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a page for a signed-in browser; a change must come from a form of these pages."""
        session = self._sign_in.session(scope[HEADERS].get(b"cookie"))
        if session is None or not await self._is_accepted(session):
            await reply(send, 401, self._page_of("You are not signed in", _HOW), kind=HTML)
            return
        scope[PROVE]()
        if session.access is not None:
            scope[LOG_TOKEN] = session.access.name
        if scope["method"] not in ("GET", "HEAD"):
            if session.access is not None and session.access.read_only:
                await reply(send, 403, "your token may only read\n")
                return
            form = await _read_form(scope, receive, session)
            if not isinstance(form, bytes):
                await reply(send, *form, headers=UNREAD.get(form[0], ()))
                return
            receive = _replay(form, receive)
        else:
            receive = self._receive_until_end(receive, session)
        current_session.set(session)
        pages, names = await asyncio.shield(self._load_pages())
        first = scope["path"][len(self._base) + 1 :].partition("/")[0]
        scope[LOG_PATH] = f"/pages/{first if first in names else '...'}"
        await pages(scope, receive, send)

    def _load_pages(self) -> asyncio.Future[tuple[ASGIApp, frozenset[str]]]:
        """Load the pages once; retry if loading failed."""
        if self._pages is None or (self._pages.done() and self._pages.exception() is not None):
            self._pages = POOL.run(self._make_pages)
        return self._pages

    async def _is_accepted(self, session: BrowserSession) -> bool:
        """Return True unless the token that signed this browser in is no longer accepted."""
        if session.access is None or await self._endpoint.tokens.is_current(session.access.key):
            return True
        self._sign_in.end_of(session.access.key)
        return False

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

    def _page_of(self, title: str, content: str) -> str:
        """Return a page for a browser that is not signed in."""
        return _page_of(title, f"{content}<p>{BANNER}.</p>" if self._demonstration else content)


def _is_browser(scope: Scope) -> bool:
    """Return True if the client is a browser."""
    return b"text/html" in scope[HEADERS].get(b"accept", b"")


def form_token() -> str:
    """Return the value of the field `form_token` for forms of the current page."""
    return current_session.get().form_token


async def _read_form(scope: Scope, receive: Receive, session: BrowserSession) -> bytes | tuple[int, str]:
    """Return the body of a form of these pages, or status and reason of the refusal."""
    headers = scope[HEADERS]
    if scope["method"] != "POST":
        return 405, "pages are read with GET and changed with POST\n"
    if b"origin" not in headers:  # the guard has compared an existing header
        return 403, "this comes from no page of this server\n"
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != _FORM:
        return 415, f"a form is sent as {_FORM.decode()}\n"
    body = await read_body(scope, receive, headers, FORM_MAX_BYTES)
    if isinstance(body, tuple):
        return body
    given = headers.get(b"x-form-token", b"").decode("latin-1")
    if not given:
        try:
            fields = parse_qs(body.decode("latin-1"), keep_blank_values=True, max_num_fields=FORM_MAX_FIELDS)
        except ValueError:
            return 413, f"a form has at most {FORM_MAX_FIELDS} fields\n"
        given = fields.get(FORM_TOKEN, [""])[0]
    if not hmac.compare_digest(given.encode("utf-8", "replace"), session.form_token.encode()):
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
_HOW = (
    "<p>Open the link that <code>moss serve</code> prints in its terminal; pressing Enter there prints a new one. "
    "Each works once.</p>"
)
_BUTTON = (
    "<p>What your agents handed over, decided and found out. This link works once.</p>"
    '<form method="post"><button autofocus>Open the pages</button></form>'
)


_LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true">'
    '<rect width="24" height="24" rx="6" fill="#3f6a3a"/><path fill="none" stroke="#fff" stroke-width="1.7" '
    'stroke-linecap="round" d="M12 19V6M12 14.5c-3.2 0-4.7-1.7-4.7-4.8M12 14.5c3.2 0 4.7-1.7 4.7-4.8"/></svg>'
)


def _page_of(title: str, content: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="{SIGN_IN}/icon.svg"><link rel="stylesheet" href="{SIGN_IN}/style.css"></head>'
        f"<body><main>{_LOGO}<h1>{title}</h1>{content}</main></body></html>"
    )
