"""The path of the pages and the cookie of a signed-in browser, both from a key in the home folder.

A browser sends a cookie to every port of a host, but only to the path to which it is bound. The path has 128 bits
computed from this key, so no other server receives the cookie; and both are the same after a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

COOKIE = "moss"
KEPT_S = 30 * 24 * 3600
"""Time for which a cookie is accepted after it was made."""
RENEW_S = 24 * 3600
"""The age at which a browser gets a new cookie."""

_FORMAT = 1
_TIME_BYTES = 5
_RANDOM_BYTES = 16
_HEAD_BYTES = 1 + _TIME_BYTES + _RANDOM_BYTES
_TOKEN_BYTES = 32
_MAC_BYTES = 32


@dataclass(slots=True)
class CookieContent:
    """The content of a cookie: a browser, the time at which the cookie was made, and the hash of a token."""

    browser: bytes
    """Random bytes; a renewed cookie has the same."""
    made_s: int
    token: str
    """The hash of the named token; empty for the owner of the home."""


class BrowserKey:
    """The key of the pages; `secret` is the token of the home."""

    def __init__(self, secret: str) -> None:
        self._key = hmac.digest(secret.encode(), b"moss pages", "sha256")
        self.base = "/" + self._mac(b"path", b"")[:16].hex()
        """The path of the pages."""

    def new_cookie(self, now_s: float, *, token: str = "", browser: bytes = b"") -> str:
        """Return the value of a cookie that was made now; `browser` renews the cookie of a known one."""
        content = b"".join((
            bytes((_FORMAT,)),
            int(now_s).to_bytes(_TIME_BYTES, "big"),
            browser or secrets.token_bytes(_RANDOM_BYTES),
            bytes.fromhex(token),
        ))  # fmt: skip
        return (content + self._mac(b"cookie", content)).hex()

    def read_cookie(self, value: str, now_s: float) -> CookieContent | None:
        """Return the content of a cookie that this key has signed in the last 30 days, None for any other text."""
        if len(value) not in (2 * (_HEAD_BYTES + _MAC_BYTES), 2 * (_HEAD_BYTES + _TOKEN_BYTES + _MAC_BYTES)):
            return None
        try:
            signed = bytes.fromhex(value)
        except ValueError:
            return None
        content, mac = signed[:-_MAC_BYTES], signed[-_MAC_BYTES:]
        if not hmac.compare_digest(self._mac(b"cookie", content), mac) or content[0] != _FORMAT:
            return None
        made_s = int.from_bytes(content[1 : 1 + _TIME_BYTES], "big")
        if now_s - made_s >= KEPT_S:
            return None
        return CookieContent(content[1 + _TIME_BYTES : _HEAD_BYTES], made_s, content[_HEAD_BYTES:].hex())

    def make_form_token(self, browser: bytes) -> str:
        """Return the token of the forms of a browser."""
        return self._mac(b"form", browser).hex()

    def _mac(self, purpose: bytes, content: bytes) -> bytes:
        return hmac.digest(self._key, purpose + b"\0" + content, "sha256")


def public_id(base: str) -> str:
    """Return a hash of the path of the pages, used as its key in localStorage: others may know it."""
    return "moss." + hashlib.sha256(base.encode()).hexdigest()[:16]


def cookie_values(cookies: bytes | None, name: str = COOKIE) -> list[str]:
    parts = [part.strip() for part in (cookies or b"").decode("latin-1").split(";")]
    return [part.removeprefix(f"{name}=") for part in parts if part.startswith(f"{name}=")]
