"""The URL of a store on a server, and its form without secrets for messages."""

from __future__ import annotations

import re

SCHEMES = ("postgresql://", "postgres://")
_PARTS = re.compile(r"^(\w+://)(?:([^/@]*)@)?([^/?]*)(/[^?]*)?(?:\?(.*))?$", re.DOTALL)
"""Scheme, user, hosts, database and options, split as the driver does: the part before an @ may contain a `?`."""
_PORT = re.compile(r"^(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?$")
_SECRETS = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")


def is_url(text: str) -> bool:
    return text.startswith(SCHEMES)


def is_well_formed(url: str) -> bool:
    """Return True if a URL is unambiguous; a password with an unencoded `/` makes it ambiguous."""
    parts = _PARTS.match(url)
    if parts is None or not url.isprintable():
        return False
    _, _, hosts, database, options = parts.groups()
    return (
        "@" not in (database or "")
        and all(_PORT.match(host) for host in hosts.split(","))
        and all("=" in option and "@" not in option.partition("=")[2][1:] for option in _split(options))
    )


def has_password(url: str) -> bool:
    """Return True if a URL contains a password, before the host or among its options."""
    parts = _PARTS.match(url)
    return parts is not None and (":" in (parts[2] or "") or any(map(_is_secret, _split(parts[5]))))


def without_password(url: str) -> str:
    parts = _PARTS.match(url)
    if parts is None or not is_well_formed(url):
        return f"{url.partition('://')[0]}://…" if is_url(url) else "…"
    scheme, user, hosts, database, options = parts.groups()
    public = "&".join([option for option in _split(options) if not _is_secret(option)])
    name = "" if user is None else f"{user.partition(':')[0]}@"
    return f"{scheme}{name}{hosts}{database or ''}{f'?{public}' if public else ''}"


def _split(options: str | None) -> list[str]:
    return options.split("&") if options else []


def _is_secret(option: str) -> bool:
    name = option.partition("=")[0]
    if "%" in name:
        from urllib.parse import unquote  # an encoded name is rare

        name = unquote(name)
    return name in _SECRETS
