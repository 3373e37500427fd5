"""A command line that cannot be meant: what is wrong with it, and the nearest thing that could be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Usage(Exception):  # noqa: N818 - it names the mistake, as people say it
    """The words typed make no command; exit 2."""

    def __init__(self, message: str, *, command: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.command = command


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that suggests the known word most like the one typed; empty when none is."""
    import difflib  # only a mistake needs it

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {found[0]}?" if found else ""
