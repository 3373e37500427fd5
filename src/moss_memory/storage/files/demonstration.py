"""Detects the temporary folder of a demonstration, which no client may use as its home."""

from __future__ import annotations

import os

from moss_memory.errors import MossError

PREFIX = "moss-demo-"
"""Prefix of a demonstration's folder in the system's temporary folder."""
BANNER = "Demonstration, thrown away when the server stops"
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - compared with, nothing is made there


def refuse_demonstration(home: str) -> None:
    """Refuse the folder of a demonstration as a home, even if it no longer exists."""
    if not os.path.basename(home).startswith(PREFIX):
        return
    from tempfile import gettempdir

    if os.path.dirname(home) in {os.path.realpath(folder) for folder in (*_TEMPORARY, gettempdir())}:
        raise MossError(
            "NOT_A_STORE",
            f"{home} is a demonstration, which is thrown away when it ends; nothing is read from it or stored in it. "
            "Use your own store: leave out `--home` and MOSS_HOME. `moss connect` with the name of a client, without "
            "both, connects it",
            details={"home": home},
        )
