"""`moss index`: creates the missing vectors of all texts."""

from __future__ import annotations

import json
import os

from moss_memory.cli.render.output import STDERR, Progress, is_terminal
from moss_memory.errors import MossError
from moss_memory.store import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BAR_CHARS = 24
BUILT_IN = "built-in"
"""The value of `--model` for the built-in model."""


class ProgressBar(Progress):
    """A progress bar on stderr."""

    __slots__ = ()

    def text(self, done: int, total: int | None) -> str:
        filled = BAR_CHARS * done // total if total else BAR_CHARS
        return f"[{'#' * filled}{'.' * (BAR_CHARS - filled)}] {super().text(done, total)}"


def index_store(home: str | None, *, rebuild: bool = False, model: str | None = None) -> dict[str, Any]:
    """Save the chosen model, then create missing vectors with a progress bar; an interrupt keeps the finished ones."""
    chosen = {} if model is None else {"model": save_model_choice(home, model)}
    bar = ProgressBar("index") if is_terminal(STDERR) else None
    with open_store(home, actor="cli") as store:
        try:
            return {**store.index(rebuild=rebuild, progress=bar), **chosen}
        except KeyboardInterrupt:
            raise MossError("CANCELLED", "interrupted; the finished vectors are kept, `moss index` continues") from None
        finally:
            if bar is not None:
                bar.clear()


def save_model_choice(home: str | None, model: str) -> str:
    """Write the folder of a usable model into the user's configuration; return the name of the model."""
    from moss_memory.config import load_config
    from moss_memory.search.embedding.embedder import embedder
    from moss_memory.storage.files.json_files import read_object
    from moss_memory.storage.files.private_files import make_private_folder, write_private

    folder = "" if model == BUILT_IN else os.path.abspath(os.path.expanduser(model))
    name = embedder(folder).name
    config = load_config(home)  # refuses an unreadable file
    path = os.path.realpath(os.path.join(config.home, "config.json"))
    settings = read_object(path, what="settings") if os.path.lexists(path) else {}
    settings["semantic_model"] = folder
    make_private_folder(config.home)
    write_private(path, json.dumps(settings, ensure_ascii=False, indent=2).encode() + b"\n")
    return name
