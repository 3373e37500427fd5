"""`moss adopt`: imports the data of another memory, file by file."""

from __future__ import annotations

from moss_memory.cli.render.output import progress_for
from moss_memory.errors import MossError
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def adopt(home: str | None, *, source: str, path: str | None = None, **options: Any) -> dict[str, Any]:
    """Import a source; after an interruption the imported files stay and the next run imports the rest."""
    if path is None:
        from moss_memory.transfer.importers.native_memory import native_memory_folder

        path = native_memory_folder(source)
    progress = progress_for("adopt")
    try:
        with Store(load_settings(home), actor="cli") as store:
            return store.adopt(source, path, progress=progress, **options)
    except KeyboardInterrupt:
        raise MossError("CANCELLED", "interrupted; imported files stay, run it again for the rest") from None
    finally:
        if progress is not None:
            progress.clear()
