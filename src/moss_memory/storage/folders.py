"""Folders that only their owner may enter."""

from __future__ import annotations

import os


def make_private_folder(path: str) -> None:
    """Makes a folder that only its owner may enter, whatever the umask, and those missing above it.

    An own one that is there and was left open is closed.
    """
    missing = [path]
    while missing:
        try:
            _make(missing[-1])
            missing.pop()
        except FileNotFoundError:
            parent = os.path.dirname(missing[-1]) or os.curdir
            if os.path.lexists(parent):
                raise  # it is there and still nothing can be made in it, as in /proc
            missing.append(parent)


def _make(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        status = os.stat(path)
        shared_on_purpose = status.st_mode & 0o1000 or status.st_uid != os.geteuid()
        if status.st_mode & 0o077 and not shared_on_purpose:
            os.chmod(path, status.st_mode & 0o700)  # one made read-only stays so
        return
    os.chmod(path, 0o700)
