"""A client's file: read whole, changed in one step, and kept beside as it was."""

from __future__ import annotations

import os
import stat

from moss_memory.errors import MossError, invalid

from .unreadable import Unreadable

_BOM = "\ufeff"
_BEFORE = ".before-moss"
_MOST_BYTES = 32 * 1024 * 1024


class SettingsFile:
    """The file at a path, or the one that a link there leads to; it may not be there yet."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.real = os.path.realpath(path)
        self._data = _read(path, self.real)
        self.text = "" if self._data is None else _decoded(self._data, path)
        """Its text without the mark of byte order that it may begin with."""

    @property
    def is_there(self) -> bool:
        """Whether there is a file."""
        return self._data is not None

    @property
    def backup(self) -> str:
        """Where the file is kept as it was."""
        return self.real + _BEFORE

    def before(self) -> str | None:
        """The text that was kept, if any."""
        try:
            data = _read(self.backup, os.path.realpath(self.backup))
            return None if data is None else _decoded(data, self.backup)
        except (MossError, Unreadable):
            return None

    def write(self, text: str, *, keep: bool) -> None:
        """Puts the text in the file's place, whole or not at all; `keep` leaves a copy of what was there."""
        mark = _BOM.encode() if self._data is not None and self._data.startswith(_BOM.encode()) else b""
        try:
            self._write(mark + text.encode(), keep=keep)
        except OSError as error:
            where = error.filename2 or error.filename
            why = f"{where}: {error.strerror}" if where else error.strerror
            raise invalid(f"{self.path} cannot be written ({why}); nothing was changed") from None

    def _write(self, data: bytes, *, keep: bool) -> None:
        mode = 0o600
        if self._data is None:
            os.makedirs(os.path.dirname(self.real), mode=0o700, exist_ok=True)
        else:
            status = os.stat(self.real)
            mode = stat.S_IMODE(status.st_mode)
            if not mode & 0o200:
                raise invalid(f"{self.path} may not be written (mode {mode:04o}); nothing was changed")
        if keep and self._data is not None:
            _replace(self.backup, self._data, 0o600)
        if _read(self.path, self.real) != self._data:
            raise MossError("CONFLICT", f"{self.path} was changed by another program just now; run this again")
        _replace(self.real, data, mode)

    def delete(self) -> None:
        """Takes the file away again."""
        os.unlink(self.real)

    def others_may_read(self) -> bool:
        """Whether someone else on this machine could see what stands in it."""
        return self.is_there and bool(os.stat(self.real).st_mode & 0o044)


def _read(path: str, real: str) -> bytes | None:
    """The bytes of a file, none where there is no file; refuses what is no plain file."""
    try:
        if not os.path.lexists(real):
            if os.path.lexists(path):
                raise invalid(f"{path} is a link that leads to nothing; nothing was changed")
            return None
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                raise invalid(f"{path} is no plain file of at most 32 MB; it is left alone")
            with os.fdopen(os.dup(fd), "rb") as file:
                return file.read()
        finally:
            os.close(fd)
    except OSError as error:
        raise invalid(f"{path} cannot be read ({error.strerror}); nothing was changed") from None


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _replace(path: str, data: bytes, mode: int) -> None:
    """Gives a file its content in one step, and its mode."""
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.fchmod(fd, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
