"""Copies of a database beside itself, made by SQLite page by page: of a damaged one too, and never half there."""

from __future__ import annotations

import os
import time

import apsw

from moss_memory.errors import invalid_request

from .error_mapping import BUSY_TIMEOUT_MS
from .lock import is_alive

UNFINISHED = ".part"
_LEFTOVERS = tuple(UNFINISHED + part for part in ("", "-journal", "-wal", "-shm"))
RESTORED = "restored"
"""What follows the database's name in that of a copy which is being made to take its place; then its process."""
_KEPT = ("before", "v1")
"""What follows the database's name in those of copies that are kept; they are made under the write lock."""
under_way: set[str] = set()
"""The copies that this process is making to take a database's place."""
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def backup_file(path: str, label: str) -> str:
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


def leftovers(path: str) -> list[str]:
    """List the parts of copies beside a database whose process is gone, or did not finish them."""
    folder, name = os.path.split(path)
    found = []
    for entry in os.listdir(folder):
        label, _, rest = entry[len(name) + 1 :].partition("-")
        if not entry.startswith(name + ".") or label not in (RESTORED, *_KEPT) or UNFINISHED not in rest:
            continue
        if label in _KEPT or not _is_being_made(os.path.join(folder, entry), rest.partition(".")[0]):
            found.append(os.path.join(folder, entry))
    return sorted(found)


def _is_being_made(copy: str, maker: str) -> bool:
    """Whether a process is at work on a copy; in a container every one may have the number of the one before."""
    if maker == str(os.getpid()):
        return any(copy.startswith(one) for one in under_way)
    return maker.isascii() and maker.isdigit() and len(maker) < 10 and is_alive(int(maker))


def remove_leftovers(path: str) -> None:
    """Remove the parts of copies that killed processes left; the caller has the write lock."""
    for entry in leftovers(path):
        try:
            remove(entry)
        except OSError:
            continue  # a folder that cannot be written to, which whoever writes hears of


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


def reserve_path(path: str, home: str, database: str) -> None:
    """Makes the file of a copy, empty and private, so that it is never open to others and overwrites nothing."""
    folder, name = os.path.split(path)
    if name.startswith(database) and os.path.realpath(folder) == os.path.realpath(home):
        raise invalid_request(f"{path} belongs to the store itself; choose another name")
    try:
        create_private_file(path)
    except FileExistsError:
        raise invalid_request(f"{path} is there already; choose a new name, backups overwrite nothing") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise invalid_request(f"{path} cannot be made: {reason}") from None


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
