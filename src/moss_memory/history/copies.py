"""Copies of a store in its own home: exports, backups, and old stores that were kept."""

from __future__ import annotations

import os

_KEPT = ("moss.db.before-", "moss.db.v1-")
"""How the names of stores begin that Moss has kept when another took their place."""
_LIVE = ("moss.db", "moss.db-wal", "moss.db-shm")
_EXPORT = b'{"_moss_export"'


def copies_in(home: str) -> list[str]:
    """The files in a home that may hold what a store held, in order."""
    exports = os.path.join(home, "exports")
    found = [os.path.join(folder, name) for folder, _, names in os.walk(exports) for name in names]
    if os.path.isdir(home):
        found += [os.path.join(home, name) for name in os.listdir(home) if _is_copy(name)]
    return sorted(path for path in found if os.path.isfile(path) and not os.path.islink(path))


def _is_copy(name: str) -> bool:
    return name not in _LIVE and (name.startswith(_KEPT) or name.endswith((".db", ".jsonl")))


def remove_own_copies(copies: list[str]) -> list[str]:
    """Removes those that Moss made: kept stores, and files that begin as its exports do; those that are left."""
    left = []
    for path in copies:
        if os.path.basename(path).startswith(_KEPT) or _is_export(path):
            os.unlink(path)
        else:
            left.append(path)
    return left


def _is_export(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_EXPORT)) == _EXPORT
    except OSError:
        return False
