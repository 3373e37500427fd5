"""The command that starts this Moss."""

from __future__ import annotations

import os
import shlex
import sys

from .clients import CLIENTS

_MODULE = ["-m", "moss_memory"]
_NAMES = ("moss", "moss-memory")


def moss_for_clients() -> list[str]:
    """Return the words that start this Moss from any folder, with any PATH."""
    started = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), "moss")
    for path in (started, beside):
        if os.path.basename(path) == "moss" and is_program(path):
            return [path]
    return [sys.executable, *_MODULE] if sys.executable else ["moss"]


def moss_for_people() -> str:
    """Return the command that starts this Moss in this shell: its name if it is on the PATH."""
    import shutil

    words = moss_for_clients()
    on_path = shutil.which("moss")
    if on_path and os.path.realpath(on_path) == os.path.realpath(words[0]):
        return "moss"
    return shlex.join(words)


def stdio_connect_commands(*options: str) -> list[tuple[str, str]]:
    """Return the name of each client, and the command that connects it to this Moss."""
    moss = moss_for_people()
    return [(client.name, f"{moss} {shlex.join(['connect', client.key, *options])}") for client in CLIENTS.values()]


def moss_arguments(words: list[str]) -> list[str] | None:
    """Return the arguments of a Moss command, None if it runs another program."""
    if words and os.path.basename(words[0]) in _NAMES:
        return words[1:]
    return words[3:] if words[1:3] == _MODULE else None


def starts_this_moss(words: list[str]) -> bool:
    """Return True if a command starts this Moss and no other program."""
    command = moss_for_clients()
    return words[:1] == ["moss"] or words[: len(command)] == command or (len(command) == 1 and _is_on_path(words[:1]))


def is_program(path: str) -> bool:
    return os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)


def _is_on_path(words: list[str]) -> bool:
    import shutil

    program = shutil.which("moss")
    return program is not None and words == [os.path.abspath(program)]
