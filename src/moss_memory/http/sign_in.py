"""Sign-in of browsers: a one-time link is exchanged for a cookie.

GET on the link only shows a button, because mail scanners, chat previews and browsers fetch links by themselves; the
POST behind the button consumes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .token_registry import Access

COOKIE = "moss"
ACTOR = "browser"
"""The actor of changes that are made by a page."""
LINK_S = 300
IDLE_S = 24 * 3600
MAX_SESSIONS = 64
_BYTES = 32


class BrowserSession:
    """A browser that is signed in."""

    __slots__ = ("access", "ended", "form_token", "seen_s")

    def __init__(self, seen_s: float, access: Access | None = None) -> None:
        self.seen_s = seen_s
        self.access = access
        """The named token whose link signed it in, None for the owner of the home."""
        self.ended = asyncio.Event()
        self.form_token = secrets.token_urlsafe(_BYTES)


current_session: ContextVar[BrowserSession] = ContextVar("current_session")
"""The browser session of the current request."""


def page_access() -> Access | None:
    """Return the named token of the current page's reader, None for the owner of the home."""
    session = current_session.get(None)
    return None if session is None else session.access


class SignIn:
    """Open links and signed-in browsers, both in memory only.

    Secrets are compared as hashes, so that the comparison time reveals nothing.
    """

    def __init__(self, *, base: str, secure: bool, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._base = base
        self._secure = secure
        self._clock_s = clock_s
        self._links: dict[bytes, tuple[float, Access | None]] = {}
        self._sessions: dict[bytes, BrowserSession] = {}

    def new_code(self, access: Access | None = None) -> str:
        """Return the secret of a new link, valid once and for five minutes; `access` is the token that asked for it."""
        now = self._clock_s()
        self._links = {key: link for key, link in self._links.items() if link[0] > now}
        while len(self._links) >= MAX_SESSIONS:
            del self._links[next(iter(self._links))]
        code = secrets.token_urlsafe(_BYTES)
        self._links[_hash(code)] = now + LINK_S, access
        return code

    def is_open(self, code: str) -> bool:
        """Return True if a link is still valid."""
        return self._links.get(_hash(code), (0.0, None))[0] > self._clock_s()

    def spend(self, code: str) -> str | None:
        """Consume a link and return its `Set-Cookie` header; None if it is used or expired."""
        if not self.is_open(code):
            return None
        _, access = self._links.pop(_hash(code))
        while len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].seen_s)]
        value = secrets.token_urlsafe(_BYTES)
        self._sessions[_hash(value)] = BrowserSession(self._clock_s(), access)
        return f"{COOKIE}={value}; Path={self._base}/; HttpOnly; SameSite=Strict{'; Secure' if self._secure else ''}"

    def tokens(self) -> set[str]:
        """Return the named tokens that have signed in a browser."""
        return {session.access.key for session in self._sessions.values() if session.access is not None}

    def end_of(self, token: str) -> None:
        """Sign out all browsers of a token and forget its links."""
        self._links = {key: link for key, link in self._links.items() if link[1] is None or link[1].key != token}
        for key, session in list(self._sessions.items()):
            if session.access is not None and session.access.key == token:
                session.ended.set()
                del self._sessions[key]

    def session(self, cookies: bytes | None) -> BrowserSession | None:
        """Return the session of the browser that sent these cookies; None if it is not signed in.

        A server on another port of this machine may set a cookie of the same name, so any valid one counts.
        """
        now = self._clock_s()
        for value in _cookie_values(cookies):
            session = self._sessions.get(_hash(value))
            if session is not None and session.seen_s + IDLE_S >= now:
                session.seen_s = now
                return session
        return None


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _cookie_values(cookies: bytes | None) -> list[str]:
    """Return the values of all cookies with our name."""
    parts = [part.strip() for part in (cookies or b"").decode("latin-1").split(";")]
    return [part.removeprefix(f"{COOKIE}=") for part in parts if part.startswith(f"{COOKIE}=")]
