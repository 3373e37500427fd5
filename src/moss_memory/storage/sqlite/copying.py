"""Copies of a database beside itself, made by SQLite page by page: of a damaged one too, and never half there."""

from __future__ import annotations

import os
import time

import apsw

from ...errors import invalid
from .failures import BUSY_TIMEOUT_MS

UNFINISHED = ".part"
_LEFTOVERS = tuple(UNFINISHED + part for part in ("", "-journal", "-wal", "-shm"))
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def keep_copy(path: str, label: str) -> str:
    """Copies the database to `<path>.<label>-<time>` and answers that name; the caller has the write lock.

    The copy is private, and durable before it has its name.
    """
    _sweep(path, label)
    target = free_name(f"{path}.{label}-{now_shown()}")
    unfinished = target + UNFINISHED
    create_private_file(unfinished)
    try:
        source = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            source.set_busy_timeout(BUSY_TIMEOUT_MS)
            copy_pages(source, unfinished)
        finally:
            source.close()
        os.rename(unfinished, target)
    except BaseException:
        remove(unfinished)
        raise
    sync_folder(os.path.dirname(path))
    return target


def now_shown() -> str:
    """The time as it stands in the names of files."""
    return time.strftime("%Y-%m-%dT%H%M%S", time.gmtime())


def copy_pages(source: apsw.Connection, target: str) -> None:
    """Writes every page of a database over an empty file, durably."""
    copy = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        copy.execute("pragma synchronous = full")
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(-1)
    finally:
        copy.close()


def _sweep(path: str, label: str) -> None:
    """Removes copies that a killed process has not finished; nobody else is at one while the caller has the lock."""
    folder, name = os.path.split(path)
    for entry in os.listdir(folder):
        if entry.startswith(f"{name}.{label}-") and entry.endswith(_LEFTOVERS):
            remove(os.path.join(folder, entry))


def free_name(wanted: str) -> str:
    """The name, or with a number where it is taken."""
    name, number = wanted, 0
    while os.path.lexists(name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def claim(path: str, home: str, database: str) -> None:
    """Makes the file of a copy, empty and private, so that it is never open to others and overwrites nothing."""
    folder, name = os.path.split(path)
    if name.startswith(database) and os.path.realpath(folder) == os.path.realpath(home):
        raise invalid(f"{path} belongs to the store itself; choose another name")
    try:
        create_private_file(path)
    except FileExistsError:
        raise invalid(f"{path} is there already; choose a new name, backups overwrite nothing") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise invalid(f"{path} cannot be made: {reason}") from None


def make_durable(path: str) -> None:
    """Makes a file and its name survive a power cut."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    sync_folder(os.path.dirname(path))


def create_private_file(path: str) -> None:
    """Makes an empty file that only its owner may read; SQLite gives what belongs to a database the same mode."""
    fd = os.open(path, _NEW_FLAGS, 0o600)
    os.fchmod(fd, 0o600)
    os.close(fd)


def sync_folder(folder: str) -> None:
    """Makes names that were given or taken in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove(path: str) -> None:
    """Removes a file if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
