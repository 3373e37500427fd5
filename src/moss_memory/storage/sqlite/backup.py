"""Copies of a database beside it, made page by page, also of a damaged one; a copy is complete or absent."""

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
"""The name of a copy that is to replace the database contains this label and the number of its process."""
_KEPT_LABELS = ("before", "v1")
"""Labels of the copies that are kept; they are made under the write lock."""
under_way: set[str] = set()
"""The replacement copies that this process is making."""
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def backup_file(path: str, label: str) -> str:
    """Copy the database to `<path>.<label>-<time>` and return that name; the caller holds the write lock.

    The copy is private, and durable before it has its name.
    """
    _remove_unfinished(path, label)
    target = free_name(f"{path}.{label}-{timestamp()}")
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


def timestamp() -> str:
    """Return the time as file names contain it."""
    return time.strftime("%Y-%m-%dT%H%M%S", time.gmtime())


def copy_pages(source: apsw.Connection, target: str) -> None:
    """Copy every page of a database into an empty file, durably."""
    copy = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        copy.execute("pragma synchronous = full")
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(-1)
    finally:
        copy.close()


def leftovers(path: str) -> list[str]:
    """List unfinished copies beside a database whose process has ended."""
    folder, name = os.path.split(path)
    paths = []
    for entry in os.listdir(folder):
        label, _, rest = entry[len(name) + 1 :].partition("-")
        if not entry.startswith(name + ".") or label not in (RESTORED, *_KEPT_LABELS) or UNFINISHED not in rest:
            continue
        if label in _KEPT_LABELS or not _is_being_made(os.path.join(folder, entry), rest.partition(".")[0]):
            paths.append(os.path.join(folder, entry))
    return sorted(paths)


def _is_being_made(copy: str, maker: str) -> bool:
    """Return True if a process is making a copy; in a container a new process may reuse an earlier one's number."""
    if maker == str(os.getpid()):
        return any(copy.startswith(prefix) for prefix in under_way)
    return maker.isascii() and maker.isdigit() and len(maker) < 10 and is_alive(int(maker))


def remove_leftovers(path: str) -> None:
    """Remove unfinished copies of killed processes; the caller holds the write lock."""
    for entry in leftovers(path):
        try:
            remove(entry)
        except OSError:
            continue  # the folder is not writable; the next write reports that


def _remove_unfinished(path: str, label: str) -> None:
    """Remove unfinished copies of killed processes; the write lock keeps others from making one."""
    folder, name = os.path.split(path)
    for entry in os.listdir(folder):
        if entry.startswith(f"{name}.{label}-") and entry.endswith(_LEFTOVERS):
            remove(os.path.join(folder, entry))


def free_name(wanted: str) -> str:
    """Return the name, with a number appended if it is taken."""
    name, number = wanted, 0
    while os.path.lexists(name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def reserve_path(path: str, home: str, database: str) -> None:
    """Create the file of a copy, empty and private; refuse to replace an existing file."""
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
    """Make a file and its name durable."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    sync_folder(os.path.dirname(path))


def create_private_file(path: str) -> None:
    """Create an empty private file; SQLite gives the other files of a database the same mode."""
    fd = os.open(path, _NEW_FLAGS, 0o600)
    os.fchmod(fd, 0o600)
    os.close(fd)


def sync_folder(folder: str) -> None:
    """Make created and removed names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
