"""The command by which clients start this Moss."""

from __future__ import annotations

import os
import shlex
import sys

from .clients import CLIENTS


def moss_for_clients(*, full: bool = False) -> str:
    """The command by which a client finds Moss: its name, or its full path where the PATH does not lead to it.

    `full` asks for the path in any case, for clients that do not know the PATH.
    """
    import shutil

    started = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), "moss")
    on_path = shutil.which("moss")
    if on_path:
        return os.path.abspath(on_path) if full else "moss"
    return started if os.path.basename(started) == "moss" and os.access(started, os.X_OK) else beside


def connecting_lines(*options: str) -> list[tuple[str, str]]:
    """Each client's name, and what a person types to connect it to this Moss."""
    moss = moss_for_clients()
    return [(client.name, shlex.join([moss, "connect", client.key, *options])) for client in CLIENTS.values()]


def is_this_moss(command: str) -> bool:
    """Whether a command starts this Moss and no other program."""
    return command in ("moss", moss_for_clients(), moss_for_clients(full=True))
