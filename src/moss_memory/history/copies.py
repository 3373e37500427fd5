"""Copies of a store in its own home: exports, backups, and old stores that were kept."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KEPT = ("moss.db.before-", "moss.db.v1-")
"""How the names of stores begin that Moss has kept when another took their place."""
_LIVE = ("moss.db", "moss.db-wal", "moss.db-shm")
_MANIFEST = "manifest.json"
_EXPORT = b'{"_moss_export"'
_APPLICATION = b"Moss"
"""What stands in a database of Moss where the file tells whose it is, at byte 68."""


def copies_in(home: str) -> list[str]:
    """The files in a home that may hold what a store held, in order."""
    found = [os.path.join(home, name) for name in _names(home) if _is_copy(name)]
    for name in _names(home):
        folder = os.path.join(home, name)
        if os.path.isdir(folder) and not os.path.islink(folder):
            found += _copies_below(folder, everything=name == "exports")
    return sorted(path for path in set(found) if os.path.isfile(path) and not os.path.islink(path))


def _copies_below(folder: str, *, everything: bool) -> Iterator[str]:
    """What lies in a folder of the home: all of the exports, else an exported folder, and backups."""
    if everything:
        yield from (os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names)
    else:
        yield from _written_by_export(folder)
        yield from (os.path.join(folder, name) for name in _names(folder) if _is_copy(name))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_copy(name: str) -> bool:
    return name not in _LIVE and (name.startswith(_KEPT) or name.endswith((".db", ".jsonl")))


def remove_own_copies(copies: list[str]) -> list[str]:
    """Removes those that Moss made: kept stores, backups, exports and exported folders; those that are left."""
    folders = {os.path.dirname(path) for path in copies if os.path.basename(path) == _MANIFEST}
    exported = {path for folder in folders for path in _written_by_export(folder)}
    left = []
    for path in copies:
        if path in exported or os.path.basename(path).startswith(_KEPT) or _begins_as_ours(path):
            os.unlink(path)
        else:
            left.append(path)
    for folder in {os.path.dirname(path) for path in exported}:
        _remove_empty(folder, folders)
    return left


def _written_by_export(folder: str) -> list[str]:
    """The files of a folder that `moss export --all` wrote, as its manifest says; none where there is no such one."""
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
    """Whether a file begins as an export of capsules does, or as a database of Moss."""
    try:
        with open(path, "rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(_EXPORT) or head[68:] == _APPLICATION


def _remove_empty(folder: str, upto: set[str]) -> None:
    """Removes a folder that nothing is left in, and those above it up to the exported one."""
    while not _names(folder):
        os.rmdir(folder)
        if folder in upto:
            return
        folder = os.path.dirname(folder)
