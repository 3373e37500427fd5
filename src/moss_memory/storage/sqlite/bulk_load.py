"""Give a database that was filled under another name its final name."""

from __future__ import annotations

import os

from moss_memory.errors import MossError

from .backup import sync_folder

_LOG = "-wal"


def put_in_place(path: str, target: str) -> None:
    """Rename a closed database to its final name; refuse if that name is taken."""
    if os.path.lexists(target):
        raise MossError(
            "CONFLICT",
            f"{target} was created meanwhile; the loaded copy is at {path}",
            details={"file": target},
        )
    if os.path.lexists(path + _LOG):
        raise MossError("STORAGE_BUSY", f"{path} is still open in another process; run it again when that is over")
    os.rename(path, target)
    sync_folder(os.path.dirname(target))
