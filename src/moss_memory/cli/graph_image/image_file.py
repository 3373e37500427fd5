"""The image file: private, written atomically, never through a link."""

from __future__ import annotations

import os
import stat

from moss_memory.errors import MossError, invalid_request
from moss_memory.storage.files.sandbox import real_path

_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ImageFile:
    """An image file; it may replace an earlier image, nothing else."""

    def __init__(self, path: str) -> None:
        self.path = real_path(path)
        self._folder, self._name = os.path.split(self.path)
        self._refuse_special()

    def _refuse_special(self) -> None:
        """Refuse a file that cannot be written, before any work is done."""
        if not os.path.isdir(self._folder):
            raise MossError("NOT_FOUND", f"the folder {self._folder} does not exist; make it first")
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise self._refusal(error) from None
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise invalid_request(f"{self.path} is not a plain file with a single link; choose another name")

    def write(self, content: bytes) -> None:
        """Write the content to a temporary file and rename it; change nothing on an error."""
        temporary = os.path.join(self._folder, f".moss-draw-{os.urandom(8).hex()}.tmp")
        try:
            fd = os.open(temporary, _NEW_FLAGS, 0o600)
        except OSError as error:
            raise self._refusal(error) from None
        try:
            _fill(fd, content)
            self._refuse_special()
            os.rename(temporary, self.path)
        except BaseException as error:
            os.unlink(temporary)
            if isinstance(error, OSError):
                raise self._refusal(error) from None
            raise

    def _refusal(self, error: Exception) -> MossError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return invalid_request(f"{self.path} cannot be written: {reason}")


def _fill(fd: int, content: bytes) -> None:
    try:
        os.fchmod(fd, 0o600)
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
    finally:
        os.close(fd)
