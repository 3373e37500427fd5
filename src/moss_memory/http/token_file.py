"""The file with the bearer token: created once, readable only by its owner."""

from __future__ import annotations

import os
import secrets
import stat

from moss_memory.errors import MossError, invalid_request
from moss_memory.storage.files.private_files import make_private_folder

FILE = "token"
_BYTES = 32
_MIN_CHARS = 43
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def token_path(home: str) -> str:
    return os.path.join(home, FILE)


def load_token(home: str) -> str:
    """Return the 256-bit token of the store in `home`, creating it if missing; refuse a file that others can read."""
    path = token_path(home)
    try:
        if not os.path.lexists(path):
            _create(home, path)
        return _read(path)
    except OSError as error:
        raise invalid_request(
            f"the token file {path} cannot be used ({error.strerror}); remove it, or repair its folder"
        ) from None


def _create(home: str, path: str) -> None:
    """Create the file atomically; if two servers start together the first one's token stays."""
    make_private_folder(home)
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    fd = os.open(temporary, _CREATE_FLAGS, 0o600)
    try:
        os.fchmod(fd, 0o600)
        os.write(fd, secrets.token_urlsafe(_BYTES).encode() + b"\n")
        os.fsync(fd)
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        os.close(fd)
        os.unlink(temporary)


def _read(path: str) -> str:
    fd = os.open(path, _READ_FLAGS)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise invalid_request(f"{path} is no file of yours; remove it, and a new token is made")
        if status.st_mode & 0o077:
            mode = stat.S_IMODE(status.st_mode)
            raise invalid_request(
                f"{path} has mode {mode:04o}, so others may have read the token; remove it, and a new one is made"
            )
        token = os.read(fd, 1000).decode("ascii", "replace").strip()
    finally:
        os.close(fd)
    if len(token) < _MIN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise MossError("INVALID_REQUEST", f"{path} holds no token of 256 bits; remove it, and a new one is made")
    return token
