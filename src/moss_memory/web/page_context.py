"""What every page has at hand: the store, its own address, templates, and the request being answered."""

from __future__ import annotations

import contextlib
import time
from urllib.parse import parse_qsl

from markupsafe import escape
from starlette.responses import HTMLResponse, RedirectResponse

from moss_memory.demo.demo_home import BANNER
from moss_memory.errors import MossError
from moss_memory.registry import catalog

from .page_frame import frame_of, prepare_frame
from .templating import environment, query_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from moss_memory.store import Store

PAGE_ROWS = 30
_KEPT = 100
_KEPT_S = 60.0
"""Figures older than this are counted again also in a store that rests: artifacts expire without a change."""


class PageRequest:
    """One request: what its path, its query and its form say."""

    __slots__ = ("form", "origin", "path", "query", "url")

    def __init__(self, request: Request, body: bytes = b"") -> None:
        self.path: dict[str, str] = {name: str(value) for name, value in request.path_params.items()}
        self.query: dict[str, str] = {name: value for name, value in request.query_params.items() if value}
        self.form: dict[str, str] = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        self.origin = f"{request.url.scheme}://{request.url.netloc}"
        self.url = request.url.path + (f"?{request.url.query}" if request.url.query else "")

    def asked(self, *names: str) -> dict[str, str]:
        """Those of the query's values that have one of these names."""
        return {name: self.query[name] for name in names if name in self.query}

    @property
    def offset(self) -> int:
        """How many rows of a list come before those that are asked for."""
        given = self.query.get("offset", "")
        return min(int(given), 10**9) if given.isascii() and given.isdigit() and len(given) < 12 else 0


class PageContext:
    """The pages of one store under one address."""

    def __init__(
        self, store: Store, *, base: str, form_token: Callable[[], str], read_only: bool, own_home: str = ""
    ) -> None:
        self.store = store
        self.base = base
        self.own_home = own_home
        """The home of the user to whom a demonstration is shown; empty for every other store."""
        self.read_only = read_only
        self.health: dict[str, Any] | None = None
        """What the last look over the store found; none before the first."""
        self._kept: dict[str, tuple[int, float, dict[str, Any]]] = {}
        self._form_token = form_token
        self._templates = environment(base)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool; what is none or empty is left out. Pages have limits of their own, no budget of characters."""
        sent = {name.rstrip("_"): value for name, value in arguments.items() if value not in (None, "")}
        operation = catalog.find(tool)
        if operation is not None and operation.budget_of is not None:
            sent.setdefault("max_chars", 0)
        return self.store.call(tool, sent)

    def figures(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool says of the whole store for the frame of every page, asked again when something has changed."""
        key = repr((tool, sorted(arguments.items())))
        seq, now = self.call("moss_changes")["seq"], time.monotonic()
        kept = self._kept.get(key)
        if kept and kept[0] == seq and now - kept[1] < _KEPT_S:
            return kept[2]
        answer = self.call(tool, **arguments)
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[key] = (seq, now, answer)
        return answer

    def forget(self) -> None:
        """Asks for every figure again, as after a change."""
        self._kept.clear()

    def prepare(self) -> None:
        """Reads what the first page will need, so that it comes as soon as the others."""
        for template in ("base.html", "parts.html", "overview.html"):
            self._templates.get_template(template)
        with contextlib.suppress(MossError):  # which the page will say
            prepare_frame(self)

    def page(
        self, visit: PageRequest, template: str, *, family: str = "", status: int = 200, **context: Any
    ) -> Response:
        """A whole page: the template in its frame."""
        text = self._templates.get_template(template).render(
            visit=visit,
            now=time.time(),
            family=family,
            read_only=self.read_only,
            form_token=self._form_token(),
            shell=frame_of(self, visit),
            demonstration=BANNER if self.own_home else "",
            **context,
        )
        if self.own_home:  # a message may name the folder, which is nobody's to use
            text = text.replace(str(escape(self.store.config.home)), "the demonstration")
        return HTMLResponse(text, status)

    def refused(self, visit: PageRequest, error: MossError) -> Response:
        """The page that says why something was refused."""
        return self.page(visit, "refused.html", status=error.status, error=error)

    def to(self, path: str, **query: Any) -> Response:
        """Sends the browser to a page, after a form was taken."""
        return RedirectResponse(self.base + path + query_of(**query), status_code=303)

    def rows(self, visit: PageRequest, most: int = PAGE_ROWS) -> dict[str, int]:
        """The limit and offset of the page that is asked for."""
        return {"limit": most, "offset": visit.offset}
