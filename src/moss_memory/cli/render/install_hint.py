"""How an extra is installed beside this very Moss: by its own Python, from where it came."""

from __future__ import annotations

import os
import shlex
import sys

_SAID = "pip install 'moss-memory["


def with_working_install(text: str) -> str:
    """The text with a `pip install 'moss-memory[…]'` in it written so that it works here when it is typed."""
    if _SAID not in text:
        return text
    before, _, rest = text.partition(_SAID)
    extra, bracket, after = rest.partition("]'")
    if not bracket:
        return text
    python = shlex.quote(sys.executable or "python3")
    return f"{before}{python} -m pip install {shlex.quote(f'{_source()}[{extra}]')}{with_working_install(after)}"


def _source() -> str:
    """The checkout that this Moss was installed from, if it is still there, else the name of the distribution."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlparse

    try:
        told = json.loads(distribution("moss-memory").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "moss-memory"
    place = urlparse(told.get("url", ""))
    folder = unquote(place.path)
    is_there = place.scheme == "file" and os.path.exists(os.path.join(folder, "pyproject.toml"))
    return folder if is_there else "moss-memory"
