"""`moss index`: prepares everything that is stored for search by meaning."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.store import open_store

from ..showing.output import STDERR, Progress, is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BAR_CHARS = 24


class Bar(Progress):
    """A bar on stderr that fills as the work goes on."""

    __slots__ = ()

    def text(self, done: int, total: int | None) -> str:
        """The bar, and the numbers behind it."""
        filled = BAR_CHARS * done // total if total else BAR_CHARS
        return f"[{'#' * filled}{'.' * (BAR_CHARS - filled)}] {super().text(done, total)}"


def index_store(home: str | None, *, rebuild: bool = False) -> dict[str, Any]:
    """Makes what is missing, showing how far it has come; what an interruption finds done stays done."""
    bar = Bar("index") if is_terminal(STDERR) else None
    with open_store(home) as store:
        try:
            return store.index(rebuild=rebuild, progress=bar)
        except KeyboardInterrupt:
            raise MossError("CANCELLED", "interrupted; what was done is kept, `moss index` goes on") from None
        finally:
            if bar is not None:
                bar.clear()
