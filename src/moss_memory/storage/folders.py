"""Folders that only their owner may enter."""

from __future__ import annotations

import os


def make_private_folder(path: str) -> None:
    """Makes a folder that only its owner may enter, whatever the umask, and those missing above it.

    What is there already is left as it is: its mode is its owner's business.
    """
    missing = [path]
    tried_again = ""
    while missing:
        try:
            _make(missing[-1])
            missing.pop()
        except FileNotFoundError:
            parent = os.path.dirname(missing[-1]) or os.curdir
            if not os.path.lexists(parent):
                missing.append(parent)
            elif tried_again == missing[-1]:
                raise  # it is there and still nothing can be made in it, as in /proc
            else:
                tried_again = missing[-1]  # somebody else made the parent in between


def _make(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    os.chmod(path, 0o700)
