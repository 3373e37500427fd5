"""Export of a damaged store: readable rows are copied to a new store, which is exported; the rest is listed."""

from __future__ import annotations

import json
import os

from moss_memory.config import Config
from moss_memory.errors import MossError
from moss_memory.storage.files.safe_directory import SafeDirectory
from moss_memory.storage.files.sandbox import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Engine

UNREADABLE = "unreadable.jsonl"
_TOLD = 100


def salvage_to_folder(
    engine: Engine, config: Config, folder: str, call: CallContext, open_store: Any
) -> dict[str, Any]:
    """Export the readable rows and report the unreadable ones."""
    import tempfile  # once in a store's life, if ever

    if not engine.exists():
        raise MossError("NOT_FOUND", f"there is no store in {config.home}, so there is nothing to salvage")
    folder = real_path(folder, config.home)
    with tempfile.TemporaryDirectory(prefix="moss-salvage-") as home:
        lost_rows = engine.salvage(os.path.join(home, engine.files()[0]), call=call)
        with open_store(Config(home, config.values, config.sources, [])) as copy:
            answer: dict[str, Any] = copy.export_folder(folder, with_history=True, with_local=True)
    tree = SafeDirectory(folder)
    try:
        tree.write(UNREADABLE, "".join([json.dumps(row, ensure_ascii=False) + "\n" for row in lost_rows]).encode())
        tree.sync()
    finally:
        tree.close()
    return {**answer, "unreadable": len(lost_rows), "lost": lost_rows[:_TOLD]}
