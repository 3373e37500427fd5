"""Folders and files that are accessible only to their owner."""

from __future__ import annotations

import os
import stat
from _io import FileIO

_OPEN_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


def make_private_folder(path: str) -> None:
    """Make a folder and its missing parents with mode 0700, whatever the umask.

    Existing folders keep their mode.
    """
    missing = [path]
    tried_again = ""
    while missing:
        try:
            make_folder(missing[-1])
            missing.pop()
        except FileNotFoundError:
            parent = os.path.dirname(missing[-1]) or os.curdir
            if not os.path.lexists(parent):
                missing.append(parent)
            elif tried_again == missing[-1]:
                raise  # the parent exists and still nothing can be made in it, as in /proc
            else:
                tried_again = missing[-1]  # another process made the parent meanwhile


def make_folder(path: str) -> None:
    """Make a folder with mode 0700, whatever the umask, unless it exists."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return  # another process made it first
    os.chmod(path, 0o700)


def write_private(path: str, content: bytes) -> None:
    """Write a file atomically, with mode 0600 or with the mode of the file that it replaces."""
    temporary = f"{path}.{os.urandom(8).hex()}.part"  # another thread may write the same file
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


def write_new_private(path: str, suffix: str, content: bytes) -> str:
    """Write a new file with mode 0600 and return its path: `path` with the suffix, else with a number before it."""
    temporary = f"{path}.{os.urandom(8).hex()}.part"
    write_private(temporary, content)
    try:
        number = 1
        while True:
            new = f"{path}{suffix}" if number == 1 else f"{path}~{number}{suffix}"
            try:
                os.link(temporary, new)  # unlike a rename, it never replaces the file of another process
                return new
            except FileExistsError:
                number += 1
    finally:
        os.unlink(temporary)


def open_private(path: str) -> FileIO:
    """Open a file as it is; create it if it is missing, private whatever the umask."""
    while True:
        try:
            return open_owned(path, _OPEN_FLAGS, "r+b")
        except FileNotFoundError:
            pass
        try:
            file = open_owned(path, _OPEN_FLAGS | os.O_CREAT | os.O_EXCL, "r+b")
        except FileExistsError:
            continue  # another process was quicker
        os.fchmod(file.fileno(), 0o600)
        return file


def open_owned(path: str, flags: int, mode: str) -> FileIO:
    """Open a file so that no interrupt can lose the descriptor before an object owns it."""
    # `map` makes both calls without a step of Python between them.
    return next(map(FileIO, map(os.open, (path,), (flags,), (0o600,)), (mode,)))
