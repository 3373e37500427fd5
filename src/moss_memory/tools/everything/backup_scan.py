"""Copies of a store in its own home: exports, backups, and old stores that were kept."""

from __future__ import annotations

import json
import os
import re
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DATABASE = "moss.db"
_COMPANIONS = ("-wal", "-shm", "-journal")
_LIVE = (_DATABASE, *(_DATABASE + part for part in _COMPANIONS))
_KEPT = (f"{_DATABASE}.before-", f"{_DATABASE}.v1-")
"""How the names of stores begin that Moss has kept when another took their place."""
_RESTORED = re.compile(r"moss\.db\.restored-([0-9]{1,9})\.part(?:-[0-9]+)?(?:-wal|-shm|-journal)?")
"""The copy that a restore prepares, with the number of its process; a restore that was killed leaves it."""
_TEMPORARY = ".moss-export"
"""How the names of files begin that an export has not finished."""
_STALE_S = 3600
"""An unfinished export that nobody wrote to for this long was killed."""
_MANIFEST = "manifest.json"
_EXPORT = b'{"_moss_export"'
_APPLICATION = b"Moss"
"""What stands in a database of Moss where the file tells whose it is, at byte 68."""
_HEAD_BYTES = 72


def copies_in(home: str) -> list[str]:
    """Return the files in a home, at any depth, that may hold what a store held, in order."""
    return sorted(_found(home))


def remove_own_copies(home: str, copies: list[str]) -> list[str]:
    """Remove those of the copies that Moss made and that nobody is writing; return the others."""
    folders = {os.path.dirname(path) for path in copies if os.path.basename(path) == _MANIFEST}
    exported = {path for folder in folders for path in _written_by_export(folder)}
    gone: set[str] = set()
    for path in sorted(path for path in copies if path.startswith(os.path.join(home, ""))):
        if not os.path.lexists(path) or (_may_go(path, exported, gone) and _is_removed(path)):
            gone.add(path)
    emptied = {os.path.dirname(path) for path in exported & gone}
    for folder in sorted(emptied, key=len, reverse=True):
        _remove_empty(folder, folders - {home})
    return [path for path in copies if path not in gone]


def _found(home: str) -> Iterator[str]:
    """Yield each copy in a home once."""
    live = _identity(os.path.join(home, _DATABASE))
    exports = os.path.join(home, "exports", "")
    exported: set[str] = set()
    for folder, _, names in os.walk(home):
        if _MANIFEST in names:
            exported.update(_written_by_export(folder))
        for name in names:
            path = os.path.join(folder, name)
            identity = _identity(path)
            if identity is None or identity == live or (folder == home and name in _LIVE):
                continue  # not a plain file, or the store itself: opening that would release its locks
            if path in exported or path.startswith(exports) or _is_named_as_copy(name) or _begins_as_ours(path):
                yield path


def _identity(path: str) -> tuple[int, int] | None:
    """Return what tells a plain file from every other one; none if it is none, or gone."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _is_named_as_copy(name: str) -> bool:
    for part in _COMPANIONS:
        name = name.removesuffix(part)
    return name.startswith((f"{_DATABASE}.", _TEMPORARY)) or name.endswith((".db", ".jsonl"))


def _is_removed(path: str) -> bool:
    """Remove a file; say whether it is gone."""
    try:
        os.unlink(path)
    except OSError:
        return not os.path.lexists(path)
    return True


def _may_go(path: str, exported: set[str], gone: set[str]) -> bool:
    """Say whether Moss made a copy and nobody is using it."""
    name = os.path.basename(path)
    if name in _LIVE:
        return False  # the store of another home that lies in this one
    restored = _RESTORED.fullmatch(name)
    if restored is not None:
        return not _is_running(int(restored[1]))
    if name.startswith(_TEMPORARY):
        return _is_stale(path)
    if path in exported or name.startswith(_KEPT):
        return True
    if name.endswith(_COMPANIONS):
        return path.rpartition("-")[0] in gone
    return not name.startswith(f"{_DATABASE}.") and _begins_as_ours(path)


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


def _written_by_export(folder: str) -> list[str]:
    """Return the files of a folder that `moss export --all` wrote, as its manifest says; none if it has no manifest."""
    manifest = os.path.join(folder, _MANIFEST)
    try:
        with open(manifest, "rb") as file:
            told = json.load(file)
        files = told["files"] if isinstance(told["format"], int) else {}
        return [manifest, *(os.path.join(folder, *name.split("/")) for name in files if _stays_inside(name))]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def _stays_inside(name: str) -> bool:
    return not name.startswith("/") and not {"..", ""} & set(name.split("/"))


def _begins_as_ours(path: str) -> bool:
    """Say whether a file begins as an export of capsules does, or as a database of Moss."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return False
    return head.startswith(_EXPORT) or head[68:] == _APPLICATION


def _remove_empty(folder: str, upto: set[str]) -> None:
    """Remove a folder that nothing is left in, and those above it up to the exported one."""
    while any(folder == top or folder.startswith(os.path.join(top, "")) for top in upto):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass  # removed with another one below it
        except OSError:
            return
        folder = os.path.dirname(folder)
