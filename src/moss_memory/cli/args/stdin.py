"""Text from stdin or a file: bounded, strict UTF-8, with a timeout for a silent pipe."""

from __future__ import annotations

import os
import stat

from moss_memory.errors import MossError, invalid_request

TEXT_MAX_BYTES = 8 * 1024 * 1024
PIPE_TIMEOUT_S = 2.0
"""Timeout for the first byte of an optional text."""

_CHUNK = 65_536


def read_text(path: str) -> str:
    """Return the text of a file; `-` is stdin."""
    if path == "-":
        return read_stdin()
    from moss_memory.storage.files.sandbox import refuse_foreign  # imported only if a file is read

    refuse_foreign(path)
    try:
        fd = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    try:
        return _decode(_read_all(fd, path), path)
    finally:
        os.close(fd)


def read_stdin() -> str:
    """Return all text of stdin, empty if there is no stdin."""
    return _decode(_read_all(0, "stdin"), "stdin")


def is_silent() -> bool:
    """Return True if stdin is a pipe in which nothing arrives within the timeout."""
    import select

    try:
        is_file = stat.S_ISREG(os.fstat(0).st_mode)
    except OSError:
        return False
    return not is_file and not select.select((0,), (), (), PIPE_TIMEOUT_S)[0]


def _read_all(fd: int, source: str) -> bytes:
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(fd, _CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if size > TEXT_MAX_BYTES:
                raise invalid_request(f"{source} holds more than {TEXT_MAX_BYTES} bytes; send less")
    except OSError as error:
        if fd == 0 and error.errno == 9:
            return b""
        raise _unreadable(source, error) from None
    return b"".join(chunks)


def _decode(content: bytes, source: str) -> str:
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise invalid_request(f"{source} is not valid UTF-8 (byte {error.start}); convert it first") from None


def _unreadable(source: str, error: Exception) -> MossError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return invalid_request(f"{source} cannot be read: {reason}")
