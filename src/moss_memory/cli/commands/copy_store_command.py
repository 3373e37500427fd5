"""`moss migrate`: copies the whole store to another engine and compares row by row."""

from __future__ import annotations

from moss_memory.cli.render.output import progress_for
from moss_memory.errors import MossError
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def copy_whole_store(home: str | None, *, to: str, dry_run: bool = False) -> dict[str, Any]:
    """Copy the store; after an interruption the next run continues."""
    progress = progress_for("migrate")
    try:
        with Store(load_settings(home), actor="cli") as store:
            return store.migrate(to, dry_run=dry_run, progress=progress)
    except KeyboardInterrupt:
        raise MossError("CANCELLED", "interrupted; run the same command again to continue") from None
    finally:
        if progress is not None:
            progress.clear()
