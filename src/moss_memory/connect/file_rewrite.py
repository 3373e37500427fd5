"""Rewrites a file and preserves its owner, group, mode, attributes and links."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = 0o600


def create_file(path: str, data: bytes, owner: os.stat_result | None = None) -> None:
    """Create a file for its owner alone, atomically; raise `FileExistsError` if the name is taken."""

    def prepare(fd: int) -> None:
        os.fchmod(fd, _PRIVATE)
        if owner is not None:
            with suppress(PermissionError):  # only root can change the owner; otherwise the copy belongs to the caller
                os.fchown(fd, owner.st_uid, owner.st_gid)

    temporary = _write_temporary(path, data, prepare)
    try:
        os.link(temporary, path, follow_symlinks=False)
    finally:
        os.unlink(temporary)


def rewrite_file(path: str, old: bytes, data: bytes) -> None:
    """Rewrite a file: by an atomic rename if that preserves its metadata, else in place."""
    status = os.stat(path)
    if status.st_nlink == 1 and _try_replace(path, data, status):
        return
    _write_in_place(path, old, data, status)


class _MetadataError(Exception):
    """The new file cannot have the metadata of the old one."""


def _try_replace(path: str, data: bytes, status: os.stat_result) -> bool:
    """Replace a file by a new one; return False if it cannot have the owner and attributes of the old one."""

    def prepare(fd: int) -> None:
        try:
            os.fchown(fd, status.st_uid, status.st_gid)
            os.fchmod(fd, stat.S_IMODE(status.st_mode))
            _copy_attributes(path, fd)
        except OSError:
            raise _MetadataError from None

    try:
        temporary = _write_temporary(path, data, prepare)
    except _MetadataError:
        return False
    try:
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True


def _copy_attributes(path: str, fd: int) -> None:
    """Copy the extended attributes of a file to an open file, access control lists included, and remove others."""
    if not hasattr(os, "listxattr"):  # macOS: Python has no functions for attributes
        raise _MetadataError
    source_attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    target_attributes = {name: os.getxattr(fd, name) for name in os.listxattr(fd)}
    for name, value in source_attributes.items():
        if target_attributes.get(name) != value:
            os.setxattr(fd, name, value)
    for name in target_attributes:
        if name not in source_attributes:
            os.removexattr(fd, name)


def _write_in_place(path: str, old_data: bytes, data: bytes, owner: os.stat_result) -> None:
    """Overwrite a file; on failure restore its old content, or leave a copy of it on the disk."""
    copy = f"{path}.{os.urandom(6).hex()}.tmp"
    create_file(copy, old_data, owner)
    try:
        _overwrite(path, data)
    except BaseException:
        try:
            _overwrite(path, old_data)
        except OSError as error:
            message = f"{path} could not be written, nor restored ({error.strerror}); its original content is in {copy}"
            raise MossError("INVALID_REQUEST", message, details={"file": path, "copy": copy}) from None
        os.unlink(copy)
        raise
    os.unlink(copy)


def _overwrite(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _write_all(fd, data)
        os.ftruncate(fd, len(data))
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_temporary(path: str, data: bytes, prepare: Callable[[int], None]) -> str:
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    fd = os.open(temporary, _MAKE, _PRIVATE)
    try:
        try:
            prepare(fd)
            _write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
