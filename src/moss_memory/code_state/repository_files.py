"""Files of a git repository, read without running a program: bounded, and never blocking on a special file."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    Signature = tuple[int, int, int, int] | None

SMALL_BYTES = 64 * 1024
CONFIG_BYTES = 1 << 20
PACKED_REFS_BYTES = 32 << 20
"""Larger files are not read."""
_DEEPEST_REF = 5
"""The maximum length of a chain of symbolic references."""
_REF_MAX_CHARS = 1_000


class UnreadableRepository(Exception):  # noqa: N818
    """Why a repository counts as none."""


def signature(path: str) -> Signature:
    """Return the identity of a file's content as far as its status shows; None if there is no file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


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
    """Return whether a text is the id of an object, SHA-1 or SHA-256, and not all zeros."""
    return len(text) in (40, 64) and not text.strip("0123456789abcdef") and bool(text.strip("0"))


def is_reference(name: str) -> bool:
    """Return whether a name is one of a reference that can be a file below the repository."""
    parts = name.split("/")
    return (
        parts[0] == "refs"
        and len(parts) > 2
        and len(name) <= _REF_MAX_CHARS
        and all(part and not part.startswith(".") and not part.endswith(".lock") for part in parts)
        and name.isprintable()
    )


class References:
    """The references of a repository: those of one work tree in `own`, all others in `common`."""

    def __init__(self, own: str, common: str) -> None:
        self._own = own
        self._common = common
        self.read: dict[str, Signature] = {}
        """The files that were read or missed: the answer is the same as long as they are."""

    def resolve(self, name: str) -> tuple[str, str]:
        """Return the last name that a reference leads to and its object id, each empty if it is unknown."""
        for _ in range(_DEEPEST_REF):
            line = self._loose(name)
            if not line.startswith("ref:"):
                return name, line if is_object_id(line) else self._packed(name)
            name = line[4:].strip()
            if not is_reference(name):
                return "", ""
        return "", ""

    def _loose(self, name: str) -> str:
        is_own = name == "HEAD" or name.startswith(("refs/bisect/", "refs/worktree/", "refs/rewritten/"))
        path = os.path.join(self._own if is_own else self._common, name)
        self.read[path] = signature(path)  # before it is read: a change meanwhile is seen later
        return read_line(path)

    def _packed(self, name: str) -> str:
        if name == "HEAD":
            return ""
        path = os.path.join(self._common, "packed-refs")
        self.read[path] = signature(path)
        content = read_file(path, PACKED_REFS_BYTES) or b""
        wanted = b" " + os.fsencode(name) + b"\n"
        at = (content + b"\n").find(wanted)
        begin = content.rfind(b"\n", 0, at) + 1
        found = content[begin:at].decode("ascii", "replace") if at >= 0 else ""
        return found if is_object_id(found) else ""
