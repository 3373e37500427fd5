"""Copies of a store in its home folder: exports, backups and replaced stores."""

from __future__ import annotations

import json
import os
import re
import stat
import time

_DATABASE = "moss.db"
_COMPANIONS = ("-wal", "-shm", "-journal")
_LIVE = (_DATABASE, *(_DATABASE + part for part in _COMPANIONS))
_REPLACED = (f"{_DATABASE}.before-", f"{_DATABASE}.v1-", f"{_DATABASE}-wal.replaced-")
"""Prefixes of the names of replaced stores and logs."""
_RESTORED = re.compile(r"moss\.db\.restored-([0-9]{1,9})\.part(?:-[0-9]+)?(?:-wal|-shm|-journal)?")
"""The temporary copy of a restore, with the id of its process; a killed restore leaves it."""
_TEMPORARY = ".moss-export"
"""The prefix of the names of unfinished exports."""
_STALE_S = 3600
"""The time without writes after which an unfinished export counts as killed."""
_MANIFEST = "manifest.json"
_EXPORT = b'{"_moss_export"'
_APPLICATION = b"Moss"
"""The application id of a SQLite database of Moss, at byte 68."""
_HEAD_BYTES = 72


def copies_in(home: str) -> list[str]:
    """Return the files in a home, at any depth, that may be copies of a store, sorted."""
    live = _identity(os.path.join(home, _DATABASE))
    exports = os.path.join(home, "exports", "")
    exported: set[str] = set()
    copies = []
    for folder, _, names in os.walk(home):
        if _MANIFEST in names:
            exported.update(_exported_files(folder))
        for name in names:
            path = os.path.join(folder, name)
            identity = _identity(path)
            if identity is None or identity == live or (folder == home and name in _LIVE):
                continue  # not a regular file, or the store itself: closing that would release its locks
            if path in exported or path.startswith(exports) or _is_named_as_copy(name) or _has_moss_header(path):
                copies.append(path)
    return sorted(copies)


def remove_own_copies(home: str, copies: list[str]) -> list[str]:
    """Remove the copies that Moss made and that are not in use; return the others."""
    folders = {os.path.dirname(path) for path in copies if os.path.basename(path) == _MANIFEST}
    exported = {path for folder in folders for path in _exported_files(folder)}
    gone: set[str] = set()
    for path in sorted(path for path in copies if path.startswith(os.path.join(home, ""))):
        if not os.path.lexists(path) or (_is_removable(path, exported, gone) and _remove(path)):
            gone.add(path)
    emptied = {os.path.dirname(path) for path in exported & gone}
    for folder in sorted(emptied, key=len, reverse=True):
        _remove_empty(folder, folders - {home})
    return [path for path in copies if path not in gone]


def _identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of a regular file; None if it is missing or another kind of file."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _is_named_as_copy(name: str) -> bool:
    for part in _COMPANIONS:
        name = name.removesuffix(part)
    return name.startswith((f"{_DATABASE}.", _TEMPORARY, *_REPLACED)) or name.endswith((".db", ".jsonl"))


def _remove(path: str) -> bool:
    """Remove a file; return True if it no longer exists."""
    try:
        os.unlink(path)
    except OSError:
        return not os.path.lexists(path)
    return True


def _is_removable(path: str, exported: set[str], gone: set[str]) -> bool:
    """Return True if Moss made this copy and it is not in use."""
    name = os.path.basename(path)
    if name in _LIVE:
        return False  # the store of a home inside this one
    restored = _RESTORED.fullmatch(name)
    if restored is not None:
        return not _is_running(int(restored[1]))
    if name.startswith(_TEMPORARY):
        return _is_stale(path)
    if path in exported or name.startswith(_REPLACED):
        return True
    if name.endswith(_COMPANIONS):
        return path.rpartition("-")[0] in gone
    return not name.startswith(f"{_DATABASE}.") and _has_moss_header(path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_stale(path: str) -> bool:
    try:
        return time.time() - os.lstat(path).st_mtime > _STALE_S
    except OSError:
        return False


def _exported_files(folder: str) -> list[str]:
    """Return the files in the manifest of `moss export --all` in a folder; empty if it has no manifest."""
    manifest = os.path.join(folder, _MANIFEST)
    try:
        with open(manifest, "rb") as file:
            content = json.load(file)
        files = content["files"] if isinstance(content["format"], int) else {}
        inside = [name for name in files if not name.startswith("/") and not {"..", ""} & set(name.split("/"))]
        return [manifest, *(os.path.join(folder, *name.split("/")) for name in inside)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def _has_moss_header(path: str) -> bool:
    """Return True if a file has the header of a capsule export or of a database of Moss."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return False
    return head.startswith(_EXPORT) or head[68:] == _APPLICATION


def _remove_empty(folder: str, upto: set[str]) -> None:
    """Remove an empty folder and its empty parents up to the exported one."""
    while any(folder == top or folder.startswith(os.path.join(top, "")) for top in upto):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass  # already removed
        except OSError:
            return
        folder = os.path.dirname(folder)
