"""Detects the temporary folder of a demonstration, which no client may use as its home."""

from __future__ import annotations

import os

from moss_memory.errors import MossError

PREFIX = "moss-demo-"
"""Prefix of a demonstration's folder in the system's temporary folder."""
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - compared with, nothing is made there


def refuse_demonstration(home: str) -> None:
    """Refuse the folder of a demonstration as a home, even if it no longer exists."""
    if os.path.basename(home).startswith(PREFIX) and _is_temporary(os.path.dirname(home)):
        raise MossError(
            "NOT_A_STORE",
            f"{home} is a demonstration, which is thrown away when it ends; nothing is read from it or stored in it. "
            "Use your own store: leave out `--home` and MOSS_HOME. `moss connect` with the name of a client, without "
            "both, connects it",
            details={"home": home},
        )


def _is_temporary(folder: str) -> bool:
    from tempfile import gettempdir

    return folder in {os.path.realpath(one) for one in (*_TEMPORARY, gettempdir())}
