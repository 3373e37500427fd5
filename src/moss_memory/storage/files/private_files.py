"""Folders that only their owner may enter, and files that only their owner may read."""

from __future__ import annotations

import os
import stat


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


def write_private(path: str, content: bytes) -> None:
    """Writes a file whole or not at all: for its owner only, or with the mode that it had."""
    temporary = f"{path}.{os.urandom(8).hex()}.part"  # another thread may write the same one
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
