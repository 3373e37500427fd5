"""Files of a git repository, read without running a program: bounded, and never blocking on a special file."""

from __future__ import annotations

import os
import stat

SMALL_BYTES = 64 * 1024
CONFIG_BYTES = 1 << 20
"""Larger files are not read."""


def read_file(path: str, limit: int = SMALL_BYTES, *, start: bool = False) -> bytes | None:
    """Return the content of a regular file; None if there is none, or it is special or larger than the limit.

    With `start`, return the first `limit` bytes of a larger file.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or (status.st_size > limit and not start):
            return None
        content = b""
        while len(content) <= limit and (part := os.read(fd, limit + 1 - len(content))):
            content += part
        return content[:limit] if start or len(content) <= limit else None
    except OSError:
        return None
    finally:
        os.close(fd)


def read_line(path: str) -> str:
    """Return the first line of a small file; empty if it cannot be read."""
    content = read_file(path)
    if content is None:
        return ""
    try:
        return os.fsdecode(content.partition(b"\n")[0]).strip()
    except ValueError:
        return ""


def is_object_id(text: str) -> bool:
    """Return True if a text is the id of an object, SHA-1 or SHA-256, and not all zeros."""
    return len(text) in (40, 64) and not text.strip("0123456789abcdef") and bool(text.strip("0"))
