"""Where a store on a server is: its URL, which is told to people without what is secret in it."""

from __future__ import annotations

import re

SCHEMES = ("postgresql://", "postgres://")
_PARTS = re.compile(r"^(\w+://)(?:([^/@]*)@)?([^/?]*)(/[^?]*)?(?:\?(.*))?$", re.DOTALL)
"""Scheme, who, hosts, database and options, cut as the driver cuts them: what stands before an @ may hold a `?`."""
_PORT = re.compile(r"^(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?$")
_SECRETS = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")


def is_url(text: str) -> bool:
    """Whether this names a server that Moss can keep a store on."""
    return text.startswith(SCHEMES)


def is_well_formed(url: str) -> bool:
    """Whether a URL can be read in one way only; where a password with a `/` in it is not encoded, it cannot."""
    parts = _PARTS.match(url)
    if parts is None or not url.isprintable():
        return False
    _, _, hosts, database, options = parts.groups()
    return (
        "@" not in (database or "")
        and all(_PORT.match(host) for host in hosts.split(","))
        and all("=" in one and "@" not in one.partition("=")[2][1:] for one in _split(options))
    )


def has_password(url: str) -> bool:
    """Whether a URL holds a password, as itself or among its options."""
    parts = _PARTS.match(url)
    return parts is not None and (":" in (parts[2] or "") or any(map(_is_secret, _split(parts[5]))))


def without_password(url: str) -> str:
    """The URL as it may be shown: what is secret in it is left out."""
    parts = _PARTS.match(url)
    if parts is None or not is_well_formed(url):
        return f"{url.partition('://')[0]}://…" if is_url(url) else "…"
    scheme, who, hosts, database, options = parts.groups()
    shown = "&".join([one for one in _split(options) if not _is_secret(one)])
    user = "" if who is None else f"{who.partition(':')[0]}@"
    return f"{scheme}{user}{hosts}{database or ''}{f'?{shown}' if shown else ''}"


def _split(options: str | None) -> list[str]:
    return options.split("&") if options else []


def _is_secret(option: str) -> bool:
    name = option.partition("=")[0]
    if "%" in name:
        from urllib.parse import unquote  # hardly anybody writes a name so

        name = unquote(name)
    return name in _SECRETS
