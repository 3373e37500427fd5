"""`moss backup`: a copy of the whole store in one file, made while others write."""

from __future__ import annotations

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.storage.engine import ErrorTranslation, open_engine
from moss_memory.storage.files.sandbox import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def back_up(home: str | None, path: str) -> dict[str, Any]:
    """Write a snapshot of the store to a new file that only its owner may read; leave no file on an error."""
    config = load_config(home)
    target = real_path(path, config.home)
    engine = open_engine(config)
    try:
        if not engine.exists():
            raise MossError("NOT_FOUND", f"there is no store in {config.home} yet, so there is nothing to back up")
        with ErrorTranslation(engine, "backup"):
            size_bytes = engine.copy_to(target)
    except MossError as error:
        if error.code == "STORAGE_FULL":
            raise MossError("STORAGE_FULL", f"no space is left for {target}; nothing was kept of it") from error
        raise
    finally:
        engine.close()
    return {"path": target, "bytes": size_bytes}
