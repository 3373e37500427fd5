"""What Moss puts into a client's file, and how it is taken out again so that the file is as it was."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid

from .settings_file import SettingsFile
from .unreadable import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Result = TypeVar("Result")


class Change:
    """One thing of Moss in one file; what it is, and how it is written there, a kind of change says."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = self.readable(lambda: SettingsFile(path))

    def is_in(self, text: str) -> bool:
        """Whether a text has it."""
        raise NotImplementedError

    def as_found(self, text: str) -> str:
        """A text without it, with what the file has of it now put in."""
        raise NotImplementedError

    def taken_out(self, text: str) -> str:
        """A text with it, without it."""
        raise NotImplementedError

    def readable(self, work: Callable[[], Result]) -> Result:
        """What the work gives; a file that is not what it should be is refused with its line."""
        try:
            return work()
        except Unreadable as problem:
            message = f"{self.path}, {problem}; the file is left alone, repair that line"
            raise invalid(message, line=problem.line) from None

    def without(self) -> str | None:
        """The text of the file without Moss: as it was before where nothing else changed since; none for no file."""
        text = self.file.text
        if not self.is_in(text):
            return text
        before = self.file.before()
        if before is not None and self._is_before(before) and not self.is_in(before):
            return before
        if text == self.as_found(""):
            return None
        return self.readable(lambda: self.taken_out(text))

    def keeps_before(self) -> bool:
        """Whether what is kept beside the file is still the file before Moss, and so better than a newer copy.

        It may hold an entry of its owner's, which Moss changed and takes out: then it is all that is left of that.
        """
        before = self.file.before()
        return before is not None and self.is_in(self.file.text) and self._is_before(before)

    def _is_before(self, before: str) -> bool:
        """Whether the present file is that text with Moss put into it and nothing more."""
        try:
            return self.as_found(before) == self.file.text
        except (Unreadable, MossError):
            return False
