"""How the folder of a demonstration is known: it is thrown away, so no client may keep anything in it."""

from __future__ import annotations

import os

from moss_memory.errors import MossError

PREFIX = "moss-demo-"
"""How the name of a demonstration's folder begins, in the system's folder for temporary files."""
BANNER = "Demonstration, thrown away when the server stops"
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - compared with, nothing is made there


def refuse_demonstration(home: str) -> None:
    """Refuse the folder of a demonstration as a home, whether it is still there or not."""
    if os.path.basename(home).startswith(PREFIX) and _is_temporary(os.path.dirname(home)):
        raise MossError(
            "NOT_A_STORE",
            f"{home} is a demonstration, which is thrown away when it ends; nothing is read from it or stored in it. "
            "Connect the client to your own store: run `moss connect` with its name, without `--home` and without "
            "MOSS_HOME",
            details={"home": home},
        )


def _is_temporary(folder: str) -> bool:
    from tempfile import gettempdir

    return folder in {os.path.realpath(one) for one in (*_TEMPORARY, gettempdir())}
