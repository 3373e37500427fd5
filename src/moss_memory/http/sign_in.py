"""Sign-in of browsers: a one-time link is exchanged for a cookie that stays valid after a restart.

GET on the link only shows a button, because mail scanners, chat previews and browsers fetch links by themselves; the
POST behind the button consumes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from .browser_cookie import COOKIE, KEPT_S, RENEW_S, BrowserKey, CookieContent, cookie_values
from .signed_out import SignedOut
from .token_registry import Access

Kept = TypeVar("Kept")

ACTOR = "browser"
"""The actor of changes that are made by a page."""
SIGN_IN = "/sign-in"
REQUESTED_PAGE = "moss_asked"
"""The cookie that names the page that was requested before the sign-in."""
LINK_S = 300
REQUESTED_PAGE_S = 600
MAX_SESSIONS = 64
_MAX_PAGE_CHARS = 2000
_BYTES = 32


@dataclass(slots=True)
class BrowserSession:
    """A browser that is signed in."""

    browser: bytes
    token: str
    """The hash of the named token whose link signed it in; empty for the owner of the home."""
    form_token: str
    access: Access | None = None
    """The access of the named token; None for the owner of the home."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    seen_s: float = 0.0


current_session: ContextVar[BrowserSession] = ContextVar("current_session")
"""The browser session of the current request."""


def page_access() -> Access | None:
    """Return the named token of the current page's reader, None for the owner of the home."""
    session = current_session.get(None)
    return None if session is None else session.access


class SignIn:
    """The links that are still valid, and the browsers that are signed in.

    Links are in memory, cookies are signed. Codes are compared as hashes, so the comparison time reveals nothing.
    """

    def __init__(
        self, key: BrowserKey, *, secure: bool, signed_out: str = "", clock_s: Callable[[], float] = time.time
    ) -> None:
        self._key = key
        self._secure = "; Secure" if secure else ""
        self._clock_s = clock_s
        self._links: dict[bytes, tuple[float, Access | None]] = {}
        self._requested_pages: dict[bytes, tuple[float, str]] = {}
        self._sessions: dict[bytes, BrowserSession] = {}
        self._signed_out = SignedOut(signed_out, clock_s)

    def new_link_code(self, access: Access | None = None) -> str:
        """Return the code of a new link, valid once and for five minutes; `access` is the token that requested it."""
        return _store_under_new_code(self._links, self._clock_s(), LINK_S, access)

    def is_link_valid(self, code: str) -> bool:
        return self._links.get(_hash(code), (0.0, None))[0] > self._clock_s()

    def consume(self, code: str) -> str | None:
        """Consume a link and return its `Set-Cookie` header; None if it is used or expired."""
        if not self.is_link_valid(code):
            return None
        _, access = self._links.pop(_hash(code))
        return self._header(self._key.new_cookie(self._clock_s(), token="" if access is None else access.key), KEPT_S)

    def page_cookie(self, page: str) -> str:
        """Return the `Set-Cookie` header that stores the page to open after the sign-in, without the secret path."""
        stored = page if len(page) <= _MAX_PAGE_CHARS else "/"
        code = _store_under_new_code(self._requested_pages, self._clock_s(), REQUESTED_PAGE_S, stored)
        lifetime = f"Path={SIGN_IN}; Max-Age={REQUESTED_PAGE_S}"
        return f"{REQUESTED_PAGE}={code}; {lifetime}; HttpOnly; SameSite=Strict{self._secure}"

    def requested_page(self, cookies: bytes | None) -> str:
        stored_pages = [
            self._requested_pages.get(_hash(value), (0.0, "/")) for value in cookie_values(cookies, REQUESTED_PAGE)
        ]
        return next((page for until, page in stored_pages if until > self._clock_s()), "/")

    def tokens(self) -> set[str]:
        return {session.token for session in self._sessions.values() if session.token}

    def revoke_token(self, token: str) -> None:
        self._links = {key: link for key, link in self._links.items() if link[1] is None or link[1].key != token}
        for session in [candidate for candidate in self._sessions.values() if candidate.token == token]:
            self._forget(session)

    def sign_out(self, session: BrowserSession) -> str:
        """Sign out a browser; return the `Set-Cookie` header that removes its cookie."""
        self._signed_out.add(session.browser)
        self._forget(session)
        return self._header("", 0)

    def session(self, cookies: bytes | None) -> BrowserSession | None:
        """Return the session of the browser that sent these cookies; None if it is not signed in.

        A server on another port of this machine may set a cookie of the same name, so any valid one counts.
        """
        content = self._content(cookies)
        if content is None:
            return None
        session = self._sessions.get(content.browser)
        if session is None:
            if len(self._sessions) >= MAX_SESSIONS:  # its streams end, and its next request opens it again
                self._forget(min(self._sessions.values(), key=lambda candidate: candidate.seen_s))
            session = BrowserSession(content.browser, content.token, self._key.make_form_token(content.browser))
            self._sessions[content.browser] = session
        session.seen_s = self._clock_s()
        return session

    def renewed(self, cookies: bytes | None) -> str | None:
        """Return the `Set-Cookie` header of a newer cookie, if the one that a browser sent is older than a day."""
        content = self._content(cookies)
        if content is None or self._clock_s() - content.made_s < RENEW_S:
            return None
        cookie = self._key.new_cookie(self._clock_s(), token=content.token, browser=content.browser)
        return self._header(cookie, KEPT_S)

    def _content(self, cookies: bytes | None) -> CookieContent | None:
        contents = (self._key.read_cookie(value, self._clock_s()) for value in cookie_values(cookies))
        valid = [content for content in contents if content is not None and content.browser not in self._signed_out]
        return max(valid, key=lambda content: content.made_s, default=None)

    def _header(self, value: str, kept_s: int) -> str:
        path = f"{self._key.base}/"
        return f"{COOKIE}={value}; Path={path}; Max-Age={kept_s}; HttpOnly; SameSite=Strict{self._secure}"

    def _forget(self, session: BrowserSession) -> None:
        session.ended.set()
        self._sessions.pop(session.browser, None)


def _store_under_new_code(entries: dict[bytes, tuple[float, Kept]], now_s: float, for_s: int, value: Kept) -> str:
    """Store a value for a time under a new code and return the code; the oldest of too many are dropped."""
    for key in [key for key, (until, _) in entries.items() if until <= now_s]:
        del entries[key]
    while len(entries) >= MAX_SESSIONS:
        del entries[next(iter(entries))]
    code = secrets.token_urlsafe(_BYTES)
    entries[_hash(code)] = now_s + for_s, value
    return code


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).digest()
