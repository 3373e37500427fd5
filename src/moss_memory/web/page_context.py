"""State shared by all pages: store, base address, templates; and the parsed request."""

from __future__ import annotations

import contextlib
import re
import time
from datetime import UTC
from urllib.parse import parse_qsl, unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import escape
from starlette.responses import HTMLResponse, RedirectResponse

from moss_memory.demo.demo_home import BANNER
from moss_memory.errors import MossError
from moss_memory.http.sign_in import page_access
from moss_memory.registry import catalog

from .background import Background
from .page_frame import LISTS, frame_of, prepare_frame
from .templating import environment, query_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from moss_memory.mcp.background_index import Indexing
    from moss_memory.storage.engine import Result
    from moss_memory.store import Store
    from moss_memory.tools.capsule.capsule_use import Sketches

PAGE_ROWS = 30
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")
_MAX_CACHED = 100
_CACHE_S = 60.0
"""Figures older than this are counted again also in a store that rests: artifacts expire without a change."""


class PageRequest:
    """One request: path parameters, query and form."""

    __slots__ = ("cookies", "form", "full_path", "last_change", "origin", "path", "query", "url")

    def __init__(self, request: Request, body: bytes = b"") -> None:
        self.path: dict[str, str] = {name: str(value) for name, value in request.path_params.items()}
        self.query: dict[str, str] = {
            name: value.replace("\0", "\ufffd") for name, value in request.query_params.items() if value
        }
        """The values of the query that are not empty; PostgreSQL takes no NUL, and no stored text has one."""
        self.form: dict[str, str] = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        self.cookies: dict[str, str] = request.cookies
        self.full_path = request.url.path
        self.origin = f"{request.url.scheme}://{request.url.netloc}"
        self.last_change: int | None = None
        """Number of the store's last change, once a page has asked for it."""
        self.url = request.url.path + (f"?{request.url.query}" if request.url.query else "")

    def query_values(self, *names: str) -> dict[str, str]:
        """Return the query's values with these names."""
        return {name: self.query[name] for name in names if name in self.query}

    @property
    def zone(self) -> tzinfo:
        """Return the time zone of the browser, UTC if it is not known."""
        name = unquote(self.cookies.get("moss_zone", ""))
        try:
            return ZoneInfo(name) if _ZONE.fullmatch(name) else UTC
        except (OSError, ValueError, ZoneInfoNotFoundError):  # not a name of this system, such as a folder
            return UTC

    @property
    def offset(self) -> int:
        """Return the number of rows before the requested page."""
        given = self.query.get("offset", "")
        return min(int(given), 10**9) if given.isascii() and given.isdigit() and len(given) < 12 else 0


class PageContext:
    """The pages of one store under one address."""

    def __init__(
        self,
        store: Store,
        *,
        base: str,
        form_token: Callable[[], str],
        read_only: bool,
        own_home: str = "",
        indexing: Indexing | None = None,
    ) -> None:
        self.store = store
        self.base = base
        self.own_home = own_home
        """The user's home if this is a demonstration; empty for every other store."""
        self.read_only = read_only
        self.indexing = indexing
        """Prepares texts for search by meaning in the background; None if that is not possible."""
        self.most_waiting = 0
        """Largest number of unprepared texts that the health page has shown since all were prepared."""
        self.health: dict[str, Any] | None = None
        """Result of the last health check; None before the first."""
        self._cache: dict[str, tuple[int, float, Any]] = {}
        self.background = Background()
        """Results that are computed on threads of their own."""
        self.sketches: Sketches = {}
        self._form_token = form_token
        self._templates = environment(base)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool without empty arguments and without a character budget, since pages have limits of their own."""
        sent = {name.rstrip("_"): value for name, value in arguments.items() if value not in (None, "")}
        operation = catalog.find(tool)
        if operation is not None and operation.budget_of is not None:
            sent.setdefault("max_chars", 0)
        return self.call_as_reader(tool, sent)

    def call_as_reader(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool in the name of the token that signed the browser in."""
        access = page_access()
        if access is None:
            return self.store.call(tool, arguments, is_load=False)
        return self.store.call(tool, arguments, actor=access.name, read_only=access.read_only, is_load=False)

    def cached_call(self, request: PageRequest | None, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool's answer for the frame of every page, cached until the store changes."""
        return self.cached(request, (tool, arguments), lambda: self.call(tool, **arguments))

    def cached_read(
        self, request: PageRequest | None, body: Callable[..., Result], *, what: str, **values: Any
    ) -> Result:
        """Return the result of a read that is no tool, cached until the store changes."""
        return self.cached(request, (what, values), lambda: self.store.read(body, what=what, **values))

    def cached(self, request: PageRequest | None, asked: tuple[Any, ...], read: Callable[[], Result]) -> Result:
        """Return a result for a name and its arguments, cached until the store changes."""
        key = repr((asked[0], sorted(asked[1].items())))
        seq, now = self.last_change(request), time.monotonic()
        cached = self._cache.get(key)
        if cached and cached[0] == seq and now - cached[1] < _CACHE_S:
            return cached[2]  # type: ignore[no-any-return]
        answer = read()
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        self._cache[key] = (seq, now, answer)
        return answer

    def last_change(self, request: PageRequest | None) -> int:
        """Return the number of the store's last change, asked for once in a request."""
        if request is None:
            return int(self.call("moss_changes")["seq"])
        if request.last_change is None:
            request.last_change = self.last_change(None)
        return request.last_change

    def clear_cache(self) -> None:
        """Discard the answers of `cached_call`."""
        self._cache.clear()

    def prepare(self) -> None:
        """Load the data and templates of the first page in advance."""
        for template in ("base.html", "parts.html", "changes.html"):
            self._templates.get_template(template)
        with contextlib.suppress(MossError):  # the page reports it
            prepare_frame(self)

    def page(
        self, request: PageRequest, template: str, *, family: str = "", status: int = 200, **context: Any
    ) -> Response:
        """Render a complete page: the template in its frame."""
        if self.indexing is not None:
            self.indexing.begin({})
        text = self._templates.get_template(template).render(
            visit=request,
            now=time.time(),
            family=family,
            read_only=self.read_only or ((access := page_access()) is not None and access.read_only),
            form_token=self._form_token(),
            shell=frame_of(self, request),
            demonstration=BANNER if self.own_home else "",
            **context,
        )
        if self.own_home:  # a message may contain the demonstration's folder
            text = text.replace(str(escape(self.store.config.home)), "the demonstration")
        return HTMLResponse(text, status)

    def error_page(self, request: PageRequest, error: MossError) -> Response:
        """Render the page for a refused request."""
        listed = next((one for one in LISTS if request.full_path.startswith(self.base + one["path"])), None)
        family = listed["name"] if listed else ""
        return self.page(request, "refused.html", family=family, status=error.status, error=error, list=listed)

    def to(self, path: str, **query: Any) -> Response:
        """Redirect the browser to a page after a form was accepted."""
        return RedirectResponse(self.base + path + query_of(**query), status_code=303)

    def paging(self, request: PageRequest, most: int = PAGE_ROWS) -> dict[str, int]:
        """Return limit and offset of the requested page."""
        return {"limit": most, "offset": request.offset}
