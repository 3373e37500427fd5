"""Import and export files, opened so that no path, link or race leads out of the allowed folders."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time

from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import has_control

from .private_files import make_folder, make_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.config import Config

EXTENSION = ".jsonl"
_TEMPORARY = ".moss-export-"
_STALE_S = 86_400
OPEN_ATTEMPTS = 8
"""Attempts to open a file again that was replaced between stat and open, as exports do."""
_STABILITY_CHECKS = 3
"""Checks of an open file against its name, each time after pending changes of the folder."""
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOREIGN = re.compile(r"(?:^|[\\/])\.\.\\|\\\.\.(?:$|[\\/])")
_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def refuse_foreign(path: str) -> None:
    """Refuse a path that leaves its folder on other systems: files with such names may be read there."""
    if path.startswith("\\\\") or ("\\" in path and _FOREIGN.search(path)):
        raise invalid_request("a path must not contain '..\\' nor begin with '\\\\'", path="path")


def real_path(path: str, home: str = "") -> str:
    """Return the absolute path; refuse one below a symbolic link, unless it leads into the home folder.

    The last component may be a link: opening it refuses that.
    """
    if _is_blank_or_has_control(path):
        raise invalid_request("the path is blank or contains a control character")
    refuse_foreign(path)
    typed = os.path.normpath(_absolute(os.path.expanduser(path)))
    try:
        meant = _resolve_parents(typed)
    except ValueError:
        raise invalid_request("the path has characters that this system does not allow in names") from None
    if meant != typed and not (home and meant.startswith(os.path.join(home, ""))):
        raise invalid_request(_link_message(typed, meant))
    return meant


def _is_blank_or_has_control(path: str) -> bool:
    return not path.strip() or has_control(path)


def _resolve_parents(typed: str) -> str:
    return os.path.join(os.path.realpath(os.path.dirname(typed)), os.path.basename(typed))


def _link_message(typed: str, meant: str) -> str:
    return f"{typed} leads through a symbolic link; name the real folder, {meant}"


def locate(config: Config, path: str) -> tuple[str, str]:
    """Return the allowed folder and the file name of a caller's path; refuse every other path."""
    if _is_blank_or_has_control(path):
        raise invalid_request(
            "`path` is blank or contains a control character; give the name of a .jsonl file", path="path"
        )
    refuse_foreign(path)
    expanded = os.path.expanduser(path)
    name = os.path.basename(expanded)
    if not name.endswith(EXTENSION) or name == EXTENSION:
        raise invalid_request(f"`path` must name a file that ends in {EXTENSION}", path="path")
    if ".." in expanded.split("/"):
        raise invalid_request("`path` must not contain '..'", path="path")
    if "/" not in expanded:
        return config.exports, name
    typed = os.path.normpath(_absolute(os.path.dirname(expanded)))
    folder = _resolve_parents(typed)
    if folder in (config.exports, *config.allowed_paths):
        return folder, name
    if config.allow_unsafe_paths:
        if folder != typed:
            raise invalid_request(_link_message(typed, folder), path="path")
        return folder, name
    raise invalid_request(
        f"`path` must be a file directly in {config.exports} or in a folder listed under `allowed_paths` "
        "in the configuration; put the file there and give its bare name",
        path="path",
    )


def _absolute(path: str) -> str:
    if os.path.isabs(path):
        return path
    try:
        return os.path.join(os.getcwd(), path)
    except OSError:
        raise invalid_request("the current folder no longer exists; give an absolute path", path="path") from None


def open_folder(config: Config, folder: str, *, create: bool) -> int:
    """Return a descriptor of the folder; refuse a link in its place."""
    with refusing(folder):
        if create and not os.path.lexists(folder):
            if folder == config.exports:
                make_private_folder(config.home)
            elif not os.path.lexists(os.path.dirname(folder)):
                make_private_folder(os.path.dirname(folder))
            make_folder(folder)
        return os.open(folder, FOLDER_FLAGS)


def open_plain(name: str, folder_fd: int, shown: str, argument: str | None = "path") -> int:
    """Return a descriptor of a regular file with one link for reading; refuse everything else.

    The opened file must be the one that was checked: a hard link that was removed meanwhile leaves a file with one
    link.
    """
    for _ in range(OPEN_ATTEMPTS):
        # Before the open: opening a pipe blocks, and closing a hard link to the database drops SQLite's locks on it.
        checked = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        refuse_special(checked, shown, argument)
        fd = os.open(name, READ_FLAGS, dir_fd=folder_fd)
        opened = os.fstat(fd)
        if _is_plain(opened) and _is_untouched(checked, opened) and _is_stable(name, folder_fd, opened):
            return fd
        os.close(fd)
    raise _not_plain(shown, argument)


def _is_stable(name: str, folder_fd: int, opened: os.stat_result) -> bool:
    """Return True if a file keeps its name and has no other, in repeated checks.

    During an unlink the link count is already decremented while the name is still found: if that process is stopped, a
    hard link looks like a file of its own.
    """
    for _ in range(_STABILITY_CHECKS):
        _await_changes(folder_fd)
        try:
            status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if not _is_plain(status) or not _is_untouched(opened, status):
            return False
    return True


def _await_changes(folder_fd: int) -> None:
    """Wait for pending changes of the folder: the lookup of an unknown name needs the folder's lock in the kernel."""
    with contextlib.suppress(FileNotFoundError):
        os.stat(f".moss-{os.urandom(8).hex()}", dir_fd=folder_fd, follow_symlinks=False)


def _is_untouched(before: os.stat_result, after: os.stat_result) -> bool:
    """Return True if both are the same file, unchanged; a changed link count is a change."""
    return os.path.samestat(before, after) and before.st_ctime_ns == after.st_ctime_ns


class ImportFile:
    """A regular file with one link, opened for reading inside an allowed folder."""

    def __init__(self, config: Config, path: str) -> None:
        folder, name = locate(config, path)
        self.path = os.path.join(folder, name)
        folder_fd = open_folder(config, folder, create=False)
        try:
            with refusing(self.path):
                self._fd = open_plain(name, folder_fd, self.path)
        finally:
            os.close(folder_fd)
        self.size_bytes = os.fstat(self._fd).st_size

    def read(self) -> bytes:
        """Return the content, at most the size that the file had when it was opened."""
        parts = []
        remaining = self.size_bytes
        while remaining > 0:
            part = os.read(self._fd, min(remaining, 1 << 20))
            if not part:
                break
            parts.append(part)
            remaining -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        os.close(self._fd)


class ExportFile:
    """A file that gets its name when it is complete, or never."""

    def __init__(self, config: Config, path: str | None, *, default_stem: str) -> None:
        if path is None:
            folder, self._name = config.exports, ""
        else:
            folder, self._name = locate(config, path)
        self._folder = folder
        self._folder_fd = open_folder(config, folder, create=True)
        self._temporary = f"{_TEMPORARY}{os.urandom(8).hex()}.tmp"
        self._fd = -1
        try:
            self._sweep()
            if path is None:
                self._reserve(default_stem)
            else:
                self._refuse_existing()
                self._fd = self._make_temporary()
            os.fchmod(self._fd, 0o600)
        except BaseException:
            self.abort()
            raise
        self.size_bytes = 0

    @property
    def path(self) -> str:
        return os.path.join(self._folder, self._name)

    def write(self, data: bytes) -> None:
        self.size_bytes += len(data)
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def finish(self) -> None:
        """Make the content durable and give it its name atomically."""
        os.fsync(self._fd)
        os.rename(self._temporary, self._name, src_dir_fd=self._folder_fd, dst_dir_fd=self._folder_fd)
        os.fsync(self._folder_fd)
        self._close()

    def abort(self) -> None:
        self._remove(self._temporary)
        self._close()

    def _remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._folder_fd)
        except OSError:
            return  # not there, or removed with its folder

    def _sweep(self) -> None:
        """Remove temporary files of killed exports that are older than a day."""
        for name in os.listdir(self._folder_fd):
            if name.startswith(_TEMPORARY) and name.endswith(".tmp"):
                try:
                    status = os.stat(name, dir_fd=self._folder_fd, follow_symlinks=False)
                except FileNotFoundError:
                    continue  # another export has just finished
                if time.time() - status.st_mtime > _STALE_S:
                    self._remove(name)

    def _make_temporary(self) -> int:
        return os.open(self._temporary, _NEW_FLAGS, 0o600, dir_fd=self._folder_fd)

    def _reserve(self, stem: str) -> None:
        """Reserve the first free name, so that two exports within one second never conflict.

        The temporary file is the reservation: its creator keeps the name, if it is free then, until the rename.
        """
        for number in range(10_000):
            self._name = f"{stem}-{number}{EXTENSION}" if number else stem + EXTENSION
            self._temporary = f"{_TEMPORARY}{self._name}.tmp"
            try:
                self._fd = self._make_temporary()
            except FileExistsError:
                continue
            try:
                os.stat(self._name, dir_fd=self._folder_fd, follow_symlinks=False)
            except FileNotFoundError:
                return
            os.close(self._fd)
            self._fd = -1
            self._remove(self._temporary)
        self._temporary = ""
        raise invalid_request(f"{self._folder} is full of exports of this second; give a `path`", path="path")

    def _refuse_existing(self) -> None:
        try:
            with refusing(self.path, missing_ok=True):
                status = os.stat(self._name, dir_fd=self._folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        refuse_special(status, self.path)

    def _close(self) -> None:
        for fd in (self._fd, self._folder_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._folder_fd = -1


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def refuse_special(status: os.stat_result, path: str, argument: str | None = "path") -> None:
    if not _is_plain(status):
        raise _not_plain(path, argument)


@contextlib.contextmanager
def refusing(path: str, *, missing_ok: bool = False) -> Iterator[None]:
    """Translate an error of the path; let errors of the disk pass, and a missing file if `missing_ok`."""
    try:
        yield
    except OSError as error:
        if missing_ok and isinstance(error, FileNotFoundError):
            raise
        raise _refusal(error, path) or error from None


def _refusal(error: OSError, path: str) -> MossError | None:
    """Return the refusal for an error of the path; None for an error of the disk."""
    if isinstance(error, FileNotFoundError):
        return MossError("NOT_FOUND", f"{path} does not exist")
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return invalid_request(
            f"{path} leads through a symbolic link or a file; name the real folder and file", path="path"
        )
    if error.errno in (errno.ENXIO, errno.ENODEV, errno.EISDIR):
        return _not_plain(path)
    if error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ):
        return invalid_request(
            "`path` is too long or has characters that this system does not allow in names", path="path"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return invalid_request(f"{path} may not be opened by this user; check its permissions", path="path")
    return None


def refuse_large(path: str, size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise MossError(
            "FILE_TOO_LARGE",
            f"{path} has {size_bytes} bytes, the limit is {max_bytes}; "
            "`moss import --max-bytes` or `import_max_bytes` in the configuration raise it",
            details={"max_bytes": max_bytes, "actual_bytes": size_bytes},
        )


def large_warning(what: str, size_bytes: int, max_bytes: int) -> str:
    """Return a warning if a written file is too large to be imported with these settings; else an empty text."""
    if size_bytes <= max_bytes:
        return ""
    return (
        f"{what} is larger than import_max_bytes ({max_bytes}); to restore it use "
        f"`moss import --max-bytes {size_bytes}` or raise import_max_bytes in the configuration"
    )


def _not_plain(path: str, argument: str | None = "path") -> MossError:
    details = {} if argument is None else {"path": argument}
    return invalid_request(f"{path} is not a plain file with a single link; links and devices are refused", **details)
