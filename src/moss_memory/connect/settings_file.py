"""A client's configuration file: read at once, written atomically, with a backup."""

from __future__ import annotations

import os
import stat

from moss_memory.errors import MossError, invalid_request

from .file_rewrite import create_file, rewrite_file
from .parse_error import ConfigParseError

_BOM = "\ufeff"
_BEFORE = ".before-moss"
_MAX_BYTES = 32 * 1024 * 1024


class SettingsFile:
    """The file at a path, or at the target of a link; it may not exist."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.real = os.path.realpath(path)
        self._data = _read(path, self.real)
        self.text = "" if self._data is None else _decode(self._data, path)
        """Its text without a byte order mark."""
        self.backup = ""
        """The path of the backup, empty if there is none."""

    @property
    def exists(self) -> bool:
        return self._data is not None

    def backups(self) -> list[tuple[str, str]]:
        """Return path and text of each readable backup."""
        folder, name = os.path.split(self.real)
        try:
            paths = [os.path.join(folder, entry) for entry in os.listdir(folder) if entry.startswith(name + _BEFORE)]
        except OSError:
            return []
        backups = []
        for path in sorted(paths):
            try:
                data = _read(path, os.path.realpath(path))
                backups.append((path, _decode(data or b"", path)))
            except (MossError, ConfigParseError):
                continue
        return backups

    def write(self, text: str, *, keep: bool) -> None:
        """Write the text atomically; `keep` keeps a backup of the old content."""
        mark = _BOM.encode() if self._data is not None and self._data.startswith(_BOM.encode()) else b""
        try:
            self._write(mark + text.encode(), keep=keep)
        except OSError as error:
            path = error.filename2 or error.filename
            reason = f"{path}: {error.strerror}" if path else error.strerror
            raise invalid_request(f"{self.path} cannot be written ({reason}); nothing was changed") from None

    def _write(self, data: bytes, *, keep: bool) -> None:
        if self._data is None:
            os.makedirs(os.path.dirname(self.real), mode=0o700, exist_ok=True)
            try:
                create_file(self.real, data)
            except FileExistsError:
                raise self._changed_meanwhile() from None
            return
        status = os.stat(self.real)
        mode = stat.S_IMODE(status.st_mode)
        if not mode & 0o200:
            raise invalid_request(f"{self.path} may not be written (mode {mode:04o}); nothing was changed")
        if keep:
            self.backup = self._keep(self._data, status)
        if _read(self.path, self.real) != self._data:
            raise self._changed_meanwhile()
        rewrite_file(self.real, self._data, data)

    def _changed_meanwhile(self) -> MossError:
        return MossError("CONFLICT", f"{self.path} was changed by another program just now; run this again")

    def _keep(self, data: bytes, owner: os.stat_result) -> str:
        """Keep a backup under the first free name and return its path; an equal one is reused."""
        number = 1
        while True:
            path = self.real + _BEFORE + (f"-{number}" if number > 1 else "")
            try:
                create_file(path, data, owner)
                return path
            except FileExistsError:
                if _has_content(path, data):
                    return path
            number += 1

    def delete(self) -> None:
        os.unlink(self.real)

    def others_may_read(self) -> bool:
        return self.exists and bool(os.stat(self.real).st_mode & 0o044)


def _read(path: str, real: str) -> bytes | None:
    """Return the bytes of a file, None if it does not exist; refuse other kinds of files."""
    try:
        if not os.path.lexists(real):
            if os.path.lexists(path):
                raise invalid_request(f"{path} is a link that has no target; nothing was changed")
            return None
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
                raise invalid_request(f"{path} is not a plain file of at most 32 MB; it was not changed")
            with os.fdopen(os.dup(fd), "rb") as file:
                return file.read()
        finally:
            os.close(fd)
    except OSError as error:
        raise invalid_request(f"{path} cannot be read ({error.strerror}); nothing was changed") from None


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise ConfigParseError("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _has_content(path: str, data: bytes) -> bool:
    try:
        return _read(path, path) == data
    except MossError:
        return False
