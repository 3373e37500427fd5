"""What Moss puts into a client's file, and how it is taken out again so that the file is as it was."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request

from .parse_error import ConfigParseError
from .replaced_entries import change_of, recall, remember
from .settings_file import SettingsFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .replaced_entries import Before

    Result = TypeVar("Result")


class ConfigEdit:
    """One thing of Moss in one file; what it is, and how it is written there, a kind of change says."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = self.readable(lambda: SettingsFile(path))

    def found_in(self, text: str) -> Any:
        """What a text has of it; None if nothing."""
        raise NotImplementedError

    def put_into(self, text: str, value: Any) -> str:
        """A text with this value in the place of what it has."""
        raise NotImplementedError

    def reverted(self, text: str) -> str:
        """A text with it, without it."""
        raise NotImplementedError

    def span(self, text: str) -> tuple[int, int] | None:
        """Where it stands in a text, if it stands in one piece."""
        return None

    def content(self, text: str) -> Any:
        """Everything that a text says, comments and spacing aside."""
        raise NotImplementedError

    def is_in(self, text: str) -> bool:
        """Whether a text has it."""
        return self.found_in(text) is not None

    def applied(self, text: str) -> str:
        """A text with what the file has of it now put in."""
        return self.put_into(text, self.found_in(self.file.text))

    def readable(self, work: Callable[[], Result]) -> Result:
        """What the work gives; a file that is not what it should be is refused with its line."""
        try:
            return work()
        except ConfigParseError as problem:
            message = f"{self.path}, {problem}; the file is left alone, repair that line"
            raise invalid_request(message, line=problem.line) from None

    def without(self) -> str | None:
        """The text of the file as it was before Moss, with what others changed since; none for no file.

        What was there in the place of Moss's own comes back.
        """
        text = self.file.text
        if not self.is_in(text):
            return text
        before = self._remembered()
        if before is not None:
            tried = [*before.undone_in(text), self._with_source(text, before.alone)]
            undone = next((one for one in tried if self._is_undone(one, before)), None)
            if undone is not None:
                return None if before.absent and not undone else undone
            value = self.found_in(before.alone)
            if value is not None:
                return self.readable(lambda: self.put_into(text, value))
        kept = self._kept_before()
        if kept is not None and not self.is_in(kept[1]):
            return kept[1]
        if text == self.applied(""):
            return None
        return self.readable(lambda: self.reverted(text))

    def remember(self, after: str) -> None:
        """Keep what the file has in the place of Moss's own, before it gets another text."""
        text = self.file.text
        before = self._remembered()
        kept = self._kept_before()
        original: str | None = text if self.file.is_there else None
        if before is not None or (kept is not None and not self.is_in(kept[1])):
            original = self.without()
        value = self.found_in(original or "")
        alone = "" if value is None else self._with_source(self.put_into("", value), original or "")
        remember(self.file.real, change_of(original or "", after, alone=alone, absent=original is None))

    def kept_copy(self) -> str:
        """The path of a copy that is the file before Moss, and so better than a newer one; empty if there is none."""
        kept = self._kept_before() if self.is_in(self.file.text) else None
        return kept[0] if kept else ""

    def _remembered(self) -> Before | None:
        """What was there before, unless the file has it again or has nothing of Moss: that was another time."""
        before = recall(self.file.real)
        if before is None:
            return None
        now = self.found_in(self.file.text)
        try:
            return None if now in (None, self.found_in(before.alone)) else before
        except ConfigParseError:
            return None

    def _with_source(self, text: str, source: str) -> str:
        """A text in which it is written as in another text, to the byte; the same text if it cannot be."""
        ours, theirs = self.span(text), self.span(source)
        if ours is None or theirs is None:
            return text
        written = text[: ours[0]] + source[theirs[0] : theirs[1]] + text[ours[1] :]
        try:
            return written if self.found_in(written) == self.found_in(source) else text
        except ConfigParseError:
            return text

    def _is_undone(self, text: str, before: Before) -> bool:
        """Whether a text is the present one with what was there before, and nothing else in it differs."""
        try:
            if self.found_in(text) != self.found_in(before.alone):
                return False
            return bool(self.content(self.applied(text)) == self.content(self.file.text))
        except (ConfigParseError, MossError):
            return False

    def _kept_before(self) -> tuple[str, str] | None:
        """The path and the text of a kept copy that is the present file but for Moss, one without Moss first."""
        found = [one for one in self.file.kept() if self._is_before(one[1])]
        return min(found, key=lambda one: self.is_in(one[1])) if found else None

    def _is_before(self, before: str) -> bool:
        """Whether the present file is that text with Moss put into it and nothing more."""
        try:
            return self.applied(before) == self.file.text
        except (ConfigParseError, MossError):
            return False
