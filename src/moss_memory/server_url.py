"""Where a store on a server is: its URL, which is told to people without the password that it may hold."""

from __future__ import annotations

import re

SCHEMES = ("postgresql://", "postgres://")
_USER = re.compile(r"^(\w+://)([^/?#@]*)@")
_QUERY = re.compile(r"([?&])(password|sslpassword|passfile|sslkey)=[^&#]*")


def is_url(text: str) -> bool:
    """Whether this names a server that Moss can keep a store on."""
    return text.startswith(SCHEMES)


def has_password(url: str) -> bool:
    """Whether a URL holds a password, as itself or among its options."""
    found = _USER.match(url)
    return (found is not None and ":" in found[2]) or any(
        option in ("password", "sslpassword") for _, option in _QUERY.findall(url)
    )


def without_password(url: str) -> str:
    """The URL as it may be shown: the password is left out."""
    bare = _USER.sub(lambda found: f"{found[1]}{found[2].partition(':')[0]}@", url)
    bare = _QUERY.sub(lambda found: found[0] if found[2] in ("passfile", "sslkey") else f"{found[1]}", bare)
    return re.sub(r"[?&]+$", "", re.sub(r"([?&])&+", r"\1", bare))
