"""State shared by all pages: store, base address, templates; and the parsed request."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from moss_memory.errors import MossError
from moss_memory.http.sign_in import page_access
from moss_memory.mcp.background_index import BackgroundIndexer
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation
from moss_memory.storage.files.demonstration import BANNER
from moss_memory.store import Store

from .background import BackgroundCache
from .page_frame import LISTS, build_frame, prepare_frame
from .templating import make_environment, query_of

ListItem = TypeVar("ListItem")
Result = TypeVar("Result")

PAGE_ROWS = 30
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")
_MAX_OFFSET = 10**9
_MAX_CACHED = 100
_CACHE_S = 60.0
"""Figures older than this are counted again also in an unchanged store: artifacts expire without a change."""


def parse_number(given: str | None) -> int | None:
    """Return a number in a query, a form or a cookie; None if it has another form or more than 18 digits."""
    return int(given) if given and given.isascii() and given.isdigit() and len(given) <= 18 else None


class PageRequest:
    """One request: path parameters, query and form."""

    __slots__ = ("cookies", "form", "full_path", "last_change", "origin", "path_parameters", "query", "url")

    def __init__(self, request: Request, body: bytes = b"") -> None:
        self.path_parameters: dict[str, str] = {name: str(value) for name, value in request.path_params.items()}
        self.query: dict[str, str] = {
            name: value.replace("\0", "\ufffd") for name, value in request.query_params.items() if value
        }
        """The values of the query that are not empty; PostgreSQL takes no NUL, and no stored text has one."""
        self.form: dict[str, str] = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        self.cookies: dict[str, str] = request.cookies
        self.full_path = request.url.path
        self.origin = f"{request.url.scheme}://{request.url.netloc}"
        self.last_change: int | None = None
        """Number of the store's last change, once a page has read it."""
        self.url = request.url.path + (f"?{request.url.query}" if request.url.query else "")

    def query_values(self, *names: str) -> dict[str, str]:
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
        return min(parse_number(self.query.get("offset")) or 0, _MAX_OFFSET)

    def slice(self, rows: list[ListItem], limit: int = PAGE_ROWS) -> tuple[list[ListItem], dict[str, Any]]:
        """Return the rows of the requested page, and its pagination."""
        page_rows = rows[self.offset : self.offset + limit]
        has_more = self.offset + len(page_rows) < len(rows)
        return page_rows, {"offset": self.offset, "limit": limit, "has_more": has_more, "total": len(rows)}


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
        indexing: BackgroundIndexer | None = None,
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
        self.background = BackgroundCache()
        """Results that are computed on threads of their own."""
        self.sketches: dict[tuple[str, int], tuple[int, ...]] = {}
        """Sketches of texts, by which near-duplicates are found."""
        self._form_token = form_token
        self._templates = make_environment(base)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool without empty arguments and without a character budget, since pages have limits of their own."""
        sent_arguments = {name.rstrip("_"): value for name, value in arguments.items() if value not in (None, "")}
        operation = catalog.find(tool)
        if operation is not None and operation.budget_of is not None:
            sent_arguments.setdefault("max_chars", 0)
        return self.call_as_reader(operation or tool, sent_arguments)

    def call_as_reader(self, tool: str | Operation, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool in the name of the token that signed the browser in."""
        access = page_access()
        if access is None:
            return self.store.call(tool, arguments, is_load=False)
        return self.store.call(tool, arguments, actor=access.name, read_only=access.read_only, is_load=False)

    def cached_call(self, request: PageRequest | None, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool's answer for the frame of every page, cached until the store changes."""
        return self.cached(request, tool, arguments, lambda: self.call(tool, **arguments))

    def cached_read(
        self, request: PageRequest | None, body: Callable[..., Result], *, what: str, **values: Any
    ) -> Result:
        return self.cached(request, what, values, lambda: self.store.read(body, what=what, **values))

    def cached(
        self, request: PageRequest | None, name: str, arguments: dict[str, Any], read: Callable[[], Result]
    ) -> Result:
        """Return a result for a name and its arguments, cached until the store changes."""
        key = repr((name, sorted(arguments.items())))
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
        """Return the number of the store's last change, read once in a request."""
        if request is None:
            return int(self.call("moss_changes")["seq"])
        if request.last_change is None:
            request.last_change = self.last_change(None)
        return request.last_change

    def clear_cache(self) -> None:
        self._cache.clear()

    def preload(self) -> None:
        """Load the data and templates of the first page in advance."""
        for template in ("base.html", "parts.html", "changes.html"):
            self._templates.get_template(template)
        with contextlib.suppress(MossError):  # the page reports it
            prepare_frame(self)

    def page(
        self, request: PageRequest, template: str, *, family: str = "", status: int = 200, **context: Any
    ) -> Response:
        if self.indexing is not None:
            self.indexing.begin({})
        text = self._templates.get_template(template).render(
            request=request,
            now=time.time(),
            family=family,
            read_only=self.read_only or ((access := page_access()) is not None and access.read_only),
            form_token=self._form_token(),
            frame=build_frame(self, request),
            demonstration=BANNER if self.own_home else "",
            **context,
        )
        if self.own_home:  # a message may contain the demonstration's folder
            text = text.replace(str(escape(self.store.config.home)), "the demonstration")
        return HTMLResponse(text, status)

    def error_page(self, request: PageRequest, error: MossError) -> Response:
        listed = next((entry for entry in LISTS if request.full_path.startswith(self.base + entry["path"])), None)
        family = listed["name"] if listed else ""
        return self.page(request, "refused.html", family=family, status=error.status, error=error, list=listed)

    def redirect(self, path: str, **query: Any) -> Response:
        """Redirect the browser to a page after a form was accepted."""
        return RedirectResponse(self.base + path + query_of(**query), status_code=303)

    def paging(self, request: PageRequest, most: int = PAGE_ROWS) -> dict[str, int]:
        return {"limit": most, "offset": request.offset}
