"""The command by which clients and people start this Moss."""

from __future__ import annotations

import os
import shlex
import sys

from .clients import CLIENTS

_MODULE = ["-m", "moss_memory"]
_NAMES = ("moss", "moss-memory")


def moss_for_clients() -> list[str]:
    """Return the words that start this Moss from any folder, in a shell or a desktop with any PATH."""
    started = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), "moss")
    for path in (started, beside):
        if os.path.basename(path) == "moss" and is_program(path):
            return [path]
    return [sys.executable, *_MODULE] if sys.executable else ["moss"]


def moss_for_people() -> str:
    """Return what a person types in this shell to start this Moss: its name if the PATH leads to it."""
    import shutil

    words = moss_for_clients()
    on_path = shutil.which("moss")
    if on_path and os.path.realpath(on_path) == os.path.realpath(words[0]):
        return "moss"
    return shlex.join(words)


def connecting_lines(*options: str) -> list[tuple[str, str]]:
    """Return each client's name, and the line that a person types to connect it to this Moss."""
    moss = moss_for_people()
    return [(client.name, f"{moss} {shlex.join(['connect', client.key, *options])}") for client in CLIENTS.values()]


def after_moss(words: list[str]) -> list[str] | None:
    """Return the words that follow a Moss at the beginning of a command; none if another program stands there."""
    if words and os.path.basename(words[0]) in _NAMES:
        return words[1:]
    return words[3:] if words[1:3] == _MODULE else None


def starts_this_moss(words: list[str]) -> bool:
    """Say whether a command starts this Moss and no other program."""
    mine = moss_for_clients()
    return words[:1] == ["moss"] or words[: len(mine)] == mine or (len(mine) == 1 and _is_on_path(words[:1]))


def is_program(path: str) -> bool:
    """Say whether an absolute path leads to a file that can be run."""
    return os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)


def _is_on_path(words: list[str]) -> bool:
    import shutil

    found = shutil.which("moss")
    return found is not None and words == [os.path.abspath(found)]
