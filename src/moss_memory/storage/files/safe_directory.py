"""A folder whose files are listed, read, written and removed without following links out of it."""

from __future__ import annotations

import fcntl
import functools
import os
import stat

from moss_memory.errors import MossError, invalid_request

from .private_files import make_private_folder
from .sandbox import (
    FOLDER_FLAGS,
    OPEN_ATTEMPTS,
    READ_FLAGS,
    open_plain,
    real_path,
    refuse_large,
    refuse_special,
    refusing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_UNFINISHED = ".moss-export.tmp"
_MAX_DEPTH = 16
_STORE_FILES = "moss."
"""The beginning of the names of the store's files in its home folder."""


class SafeDirectory:
    """An open folder; everything in it is opened relative to its descriptor, and no link is followed."""

    def __init__(self, path: str, *, home: str = "", create: bool = False, temporary: str = "") -> None:
        """Open a folder; `temporary` is the folder in it for files that are not complete, else they are beside."""
        self.path = real_path(path, home)
        self._home = home
        self._temporary = temporary
        with refusing(self.path):
            if create and not os.path.lexists(self.path):
                make_private_folder(self.path)
            self._root = os.open(self.path, FOLDER_FLAGS)
        self._folders: dict[str, int] = {"": self._root}
        self._written: list[str] = []
        self._changed: set[str] = set()
        self.skipped: set[str] = set()
        """Entries that `files` skipped: links and folders that are nested too deeply."""

    def close(self) -> None:
        for fd in self._folders.values():
            os.close(fd)
        self._folders.clear()

    def claim(self) -> None:
        """Lock the folder against other exports until it is closed."""
        try:
            fcntl.flock(self._root, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MossError("STORAGE_BUSY", f"another export or sync is writing to {self.path}; try again") from None

    def read(self, name: str, *, max_bytes: int | None = None) -> bytes | None:
        """Return the content of a file, or None if it is missing; refuse anything but a plain file with one link.

        It does not wait for a hard link that is being removed, as `open_plain` does, which takes four times as long.
        Instead it never opens a file of the store itself.
        """
        folder, _, last = name.rpartition("/")
        path = self._display_path(name)
        try:
            with refusing(path, missing_ok=True):
                folder_fd = self._folders.get(folder) or self._folder(folder)
                for _ in range(OPEN_ATTEMPTS):
                    status = os.stat(last, dir_fd=folder_fd, follow_symlinks=False)
                    if (status.st_dev, status.st_ino) in self._own_files:
                        raise invalid_request(f"{path} is a file of the store itself")
                    refuse_special(status, path, None)
                    if max_bytes is not None:
                        refuse_large(path, status.st_size, max_bytes)
                    fd = os.open(last, READ_FLAGS, dir_fd=folder_fd)
                    try:
                        if os.path.samestat(os.fstat(fd), status):
                            return _read_all(fd, status.st_size)
                    finally:
                        os.close(fd)
        except FileNotFoundError:
            return None
        raise invalid_request(f"{path} is replaced again and again; try when nothing writes to the folder")

    @functools.cached_property
    def _own_files(self) -> set[tuple[int, int]]:
        """Device and inode of the store's files: closing one that was opened here would drop SQLite's locks on it."""
        if not self._home or not os.path.isdir(self._home):
            return set()
        with os.scandir(self._home) as entries:
            statuses = [entry.stat(follow_symlinks=False) for entry in entries if entry.name.startswith(_STORE_FILES)]
        return {(status.st_dev, status.st_ino) for status in statuses}

    def _display_path(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _folder(self, name: str, *, create: bool = False) -> int:
        folder_fd = self._folders.get(name)
        if folder_fd is None:
            above, _, last = name.rpartition("/")
            parent_fd = self._folder(above, create=create)
            if create:
                self._make(last, parent_fd)
            folder_fd = os.open(last, FOLDER_FLAGS, dir_fd=parent_fd)
            if len(self._folders) > 64:
                self._forget_folders()
            self._folders[name] = folder_fd
        return folder_fd

    def _make(self, name: str, parent_fd: int) -> None:
        try:
            os.mkdir(name, 0o700, dir_fd=parent_fd)
        except FileExistsError:
            return  # an existing folder keeps its mode
        fd = os.open(name, FOLDER_FLAGS, dir_fd=parent_fd)
        os.fchmod(fd, 0o700)
        os.close(fd)

    def _forget_folders(self) -> None:
        for name in [name for name in self._folders if name]:
            os.close(self._folders.pop(name))

    def write(self, name: str, content: bytes) -> bool:
        """Write a file atomically unless it has this content already; return True if it was written.

        A new file has mode 0600; an existing one keeps its mode.
        """
        mode = 0o600
        with refusing(self._display_path(name)):
            if self.read(name) == content:
                return False
            folder, _, last = name.rpartition("/")
            folder_fd = self._folder(folder, create=True)
            if self.is_there(name):
                mode = stat.S_IMODE(os.stat(last, dir_fd=folder_fd, follow_symlinks=False).st_mode)
            temporary_fd = self._folder(self._temporary, create=True) if self._temporary else folder_fd
            fd = os.open(_UNFINISHED, _NEW_FLAGS, 0o600, dir_fd=temporary_fd)
            try:
                os.fchmod(fd, mode)
                view = memoryview(content)
                while view:
                    view = view[os.write(fd, view) :]
            finally:
                os.close(fd)
            os.rename(_UNFINISHED, last, src_dir_fd=temporary_fd, dst_dir_fd=folder_fd)
        self._written.append(name)
        return True

    def is_there(self, name: str) -> bool:
        folder, _, last = name.rpartition("/")
        try:
            with refusing(self._display_path(name), missing_ok=True):
                os.stat(last, dir_fd=self._folder(folder), follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Remove a file if it exists, and its folder if that is then empty."""
        folder, _, last = name.rpartition("/")
        try:
            with refusing(self._display_path(name), missing_ok=True):
                folder_fd = self._folder(folder)
                refuse_special(os.stat(last, dir_fd=folder_fd, follow_symlinks=False), self._display_path(name), None)
                os.unlink(last, dir_fd=folder_fd)
        except FileNotFoundError:
            return
        self._changed.add(self._remove_empty(folder))

    def _remove_empty(self, folder: str) -> str:
        """Remove a folder if it is empty, and so its parents; return the first one that is not."""
        if not folder or os.listdir(self._folder(folder)):
            return folder
        above, _, last = folder.rpartition("/")
        parent_fd = self._folder(above)
        os.close(self._folders.pop(folder))
        os.rmdir(last, dir_fd=parent_fd)
        self._changed.discard(folder)
        return self._remove_empty(above)

    def sync(self) -> None:
        """Make everything durable that was written since the last call."""
        for name in self._written:
            self._changed.add(name.rpartition("/")[0])
            path = self._display_path(name)
            with refusing(path, missing_ok=True):
                fd = open_plain(name.rpartition("/")[2], self._folder(name.rpartition("/")[0]), path, None)
            os.fsync(fd)
            os.close(fd)
        for folder in self._changed:
            while folder:
                os.fsync(self._folder(folder))
                folder = folder.rpartition("/")[0]
        os.fsync(self._root)
        self._written.clear()
        self._changed.clear()

    def files(self, suffix: str, under: str = "") -> Iterator[str]:
        """Yield the names of all files with a suffix below a folder, in order; skip hidden ones."""
        try:
            with refusing(self._display_path(under), missing_ok=True):
                folder_fd = self._folder(under)
        except FileNotFoundError:
            return
        for entry in sorted(os.listdir(folder_fd)):
            if entry.startswith("."):
                continue
            name = f"{under}/{entry}" if under else entry
            try:
                mode = os.stat(entry, dir_fd=self._folder(under), follow_symlinks=False).st_mode
            except FileNotFoundError:
                continue  # removed since it was listed
            if stat.S_ISDIR(mode) and name.count("/") < _MAX_DEPTH:
                yield from self.files(suffix, name)
            elif entry.endswith(suffix) and not stat.S_ISDIR(mode):
                yield name
            elif stat.S_ISDIR(mode) or stat.S_ISLNK(mode):
                self.skipped.add(name)


def _read_all(fd: int, size: int) -> bytes:
    """Return the content of an open file, usually by one call."""
    parts = []
    while part := os.read(fd, max(size + 1, 1 << 16)):
        parts.append(part)
        if len(part) == size:
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)
