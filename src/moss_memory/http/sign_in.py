"""How a browser gets in: a link that works once, and the cookie it is exchanged for.

The link's GET only shows a button, because mail scanners, chat previews and browsers fetch links by themselves; the
POST behind the button spends it.
"""

from __future__ import annotations

import hashlib
import secrets
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

COOKIE = "moss"
LINK_S = 300
IDLE_S = 24 * 3600
MOST = 64
_BYTES = 32


class BrowserSession:
    """A browser that is signed in."""

    __slots__ = ("form_token", "seen_s")

    def __init__(self, seen_s: float) -> None:
        self.seen_s = seen_s
        self.form_token = secrets.token_urlsafe(_BYTES)


class SignIn:
    """The links that were given out and the browsers that are signed in; both end with the process.

    What is compared with what a caller sends are hashes, so that the time it takes tells nothing.
    """

    def __init__(self, *, base: str, secure: bool, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._base = base
        self._secure = secure
        self._clock_s = clock_s
        self._links: dict[bytes, float] = {}
        self._visitors: dict[bytes, BrowserSession] = {}

    def new_code(self) -> str:
        """The secret of a new link, which works once and for five minutes."""
        now = self._clock_s()
        self._links = {key: until for key, until in self._links.items() if until > now}
        while len(self._links) >= MOST:
            del self._links[next(iter(self._links))]
        code = secrets.token_urlsafe(_BYTES)
        self._links[_hashed(code)] = now + LINK_S
        return code

    def is_open(self, code: str) -> bool:
        """Whether a link still works."""
        return self._links.get(_hashed(code), 0.0) > self._clock_s()

    def spend(self, code: str) -> str | None:
        """The `Set-Cookie` that a link is exchanged for; none when it was spent or is too old."""
        if not self.is_open(code):
            return None
        del self._links[_hashed(code)]
        while len(self._visitors) >= MOST:
            del self._visitors[min(self._visitors, key=lambda key: self._visitors[key].seen_s)]
        value = secrets.token_urlsafe(_BYTES)
        self._visitors[_hashed(value)] = BrowserSession(self._clock_s())
        return f"{COOKIE}={value}; Path={self._base}/; HttpOnly; SameSite=Strict{'; Secure' if self._secure else ''}"

    def visitor(self, cookies: bytes | None) -> BrowserSession | None:
        """The browser that sent these cookies, if it is signed in.

        A server on another port of this machine may have set a cookie of the same name, so any that is valid counts.
        """
        now = self._clock_s()
        for value in _values_of(cookies):
            found = self._visitors.get(_hashed(value))
            if found is not None and found.seen_s + IDLE_S >= now:
                found.seen_s = now
                return found
        return None


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _values_of(cookies: bytes | None) -> list[str]:
    """The values of all cookies of our name."""
    parts = [part.strip() for part in (cookies or b"").decode("latin-1").split(";")]
    return [part.removeprefix(f"{COOKIE}=") for part in parts if part.startswith(f"{COOKIE}=")]
