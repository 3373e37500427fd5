"""Extras: the check of their packages, and the command that installs one into the environment of this Moss."""

from __future__ import annotations

import os
import shlex
import sys

from moss_memory.errors import invalid_request

_INSTALL = "pip install 'moss-memory["


def with_working_install(text: str) -> str:
    """Return the text with `pip install 'moss-memory[…]'` replaced by a command that works here."""
    if _INSTALL not in text:
        return text
    before, _, rest = text.partition(_INSTALL)
    extra, bracket, after = rest.partition("]'")
    if not bracket:
        return text
    python = shlex.quote(sys.executable or "python3")
    return f"{before}{python} -m pip install {shlex.quote(f'{_source()}[{extra}]')}{with_working_install(after)}"


def _source() -> str:
    """Return the checkout that this Moss was installed from if it exists, else the name of the distribution."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlparse

    try:
        origin = json.loads(distribution("moss-memory").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "moss-memory"
    url = urlparse(origin.get("url", ""))
    folder = unquote(url.path)
    exists = url.scheme == "file" and os.path.exists(os.path.join(folder, "pyproject.toml"))
    return folder if exists else "moss-memory"


def require_extra(extra: str, packages: tuple[str, ...], *, purpose: str) -> None:
    """Raise `INVALID_REQUEST` with the command that installs the extra, if one of the packages is missing."""
    from importlib.util import find_spec

    absent = [name for name in packages if find_spec(name) is None]
    if absent:
        raise invalid_request(
            f"{purpose} needs {' and '.join(absent)}, which are not installed by default; install: "
            f"pip install 'moss-memory[{extra}]'"
        )
