"""`moss index`: prepares everything that is stored for search by meaning."""

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
"""What stands for no folder: the model of the extra."""


class ProgressBar(Progress):
    """A bar on stderr that fills as the work goes on."""

    __slots__ = ()

    def text(self, done: int, total: int | None) -> str:
        """The bar, and the numbers behind it."""
        filled = BAR_CHARS * done // total if total else BAR_CHARS
        return f"[{'#' * filled}{'.' * (BAR_CHARS - filled)}] {super().text(done, total)}"


def index_store(home: str | None, *, rebuild: bool = False, model: str | None = None) -> dict[str, Any]:
    """Makes what is missing, showing how far it has come; what an interruption finds done stays done."""
    chosen = {} if model is None else {"model": choose_model(home, model)}
    bar = ProgressBar("index") if is_terminal(STDERR) else None
    with open_store(home) as store:
        try:
            return {**store.index(rebuild=rebuild, progress=bar), **chosen}
        except KeyboardInterrupt:
            raise MossError("CANCELLED", "interrupted; what was done is kept, `moss index` goes on") from None
        finally:
            if bar is not None:
                bar.clear()


def choose_model(home: str | None, model: str) -> str:
    """Writes the folder of a model that can be used into the user's configuration; its name."""
    from moss_memory.config import load_config
    from moss_memory.search.embedding.embedder import embedder
    from moss_memory.storage.files.json_files import read_object
    from moss_memory.storage.files.private_files import make_private_folder, write_private

    folder = "" if model == BUILT_IN else os.path.abspath(os.path.expanduser(model))
    name = embedder(folder).name
    config = load_config(home)  # refuses a file that it cannot read
    path = os.path.realpath(os.path.join(config.home, "config.json"))
    settings = read_object(path, what="settings") if os.path.lexists(path) else {}
    settings["semantic_model"] = folder
    make_private_folder(config.home)
    write_private(path, json.dumps(settings, ensure_ascii=False, indent=2).encode() + b"\n")
    return name
