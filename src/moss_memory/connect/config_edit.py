"""An edit of a client's configuration file that can be reverted byte for byte."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request

from .parse_error import ConfigParseError
from .replaced_entries import compute_change, load_change, save_change
from .settings_file import SettingsFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, TypeVar

    from .clients import Client
    from .replaced_entries import FileChange

    Result = TypeVar("Result")


class ConfigEdit:
    """The part of a file that Moss owns; subclasses define its content and format."""

    def __init__(self, client: Client, scope: str) -> None:
        self.client = client
        self.scope = scope
        self.path = self.find_path()
        self.file = self.convert_parse_errors(lambda: SettingsFile(self.path))

    def reload(self) -> Self:
        """Return the edit of the file as it is now on the disk."""
        return type(self)(self.client, self.scope)

    def find_path(self) -> str:
        raise NotImplementedError

    @property
    def undo_key(self) -> str:
        return self.file.real

    def find_in(self, text: str) -> Any:
        raise NotImplementedError

    def write_into(self, text: str, value: Any) -> str:
        """Return a text in which this value replaces the part of Moss."""
        raise NotImplementedError

    def remove_from(self, text: str) -> str:
        """Return a text without the part of Moss."""
        raise NotImplementedError

    def find_span(self, text: str) -> tuple[int, int] | None:
        return None

    def content(self, text: str) -> Any:
        """Return the parsed content of a text, without comments and white space."""
        raise NotImplementedError

    def is_present_in(self, text: str) -> bool:
        return self.find_in(text) is not None

    def apply_to(self, text: str) -> str:
        """Return a text with the part of Moss that the file has now."""
        return self.write_into(text, self.find_in(self.file.text))

    def convert_parse_errors(self, work: Callable[[], Result]) -> Result:
        """Return the result of `work`; convert a parse error to a refusal with the line."""
        try:
            return work()
        except ConfigParseError as problem:
            message = f"{self.path}, {problem}; the file was not changed; repair that line"
            raise invalid_request(message, line=problem.line) from None

    def restore_text(self) -> str | None:
        """Return the text of the file as it was before Moss, with later changes of others; None if there was no file.

        An entry that Moss replaced is restored.
        """
        text = self.file.text
        if not self.is_present_in(text):
            return text
        change = self._replaced()
        if change is not None:
            candidates = [*change.undo_in(text), self._with_source(text, change.alone)]
            undone = next((candidate for candidate in candidates if self._is_undone(candidate, change)), None)
            if undone is not None:
                return None if change.absent and not undone else undone
            value = self.find_in(change.alone)
            if value is not None:
                return self.convert_parse_errors(lambda: self.write_into(text, value))
        backup = self._find_backup()
        if backup is not None and not self.is_present_in(backup[1]):
            return backup[1]
        if text == self.apply_to(""):
            return None
        return self.convert_parse_errors(lambda: self.remove_from(text))

    def save_replaced(self, after: str) -> None:
        """Store the entry before Moss replaces it, unless the user has changed it since."""
        text = self.file.text
        saved_change = self._replaced()
        backup = self._find_backup()
        original: str | None = text if self.file.exists else None
        if saved_change is not None:
            original = self.restore_text() if self._is_as_written(saved_change) else text
        elif backup is not None and not self.is_present_in(backup[1]):
            original = self.restore_text()
        value = self.find_in(original or "")
        alone = "" if value is None else self._with_source(self.write_into("", value), original or "")
        wrote = self.write_into("", self.find_in(after))
        change = compute_change(original or "", after, alone=alone, wrote=wrote, absent=original is None)
        save_change(self.undo_key, change)

    def backup_path(self) -> str:
        """Return the path of a copy that equals the file before Moss, empty if there is none."""
        backup = self._find_backup() if self.is_present_in(self.file.text) else None
        return backup[0] if backup else ""

    def _replaced(self) -> FileChange | None:
        """Return the replaced entry, None if the file has it again or has nothing of Moss, so that it is outdated."""
        change = load_change(self.undo_key)
        if change is None:
            return None
        entry = self.find_in(self.file.text)
        try:
            return None if entry in (None, self.find_in(change.alone)) else change
        except ConfigParseError:
            return None

    def own_part(self, value: Any) -> Any:
        """Return the members of an entry that Moss sets, without members that its owner may add."""
        return value

    def _is_as_written(self, change: FileChange) -> bool:
        """Return True if the file has the entry that Moss wrote; members that its owner added do not count."""
        try:
            return bool(self.own_part(self.find_in(self.file.text)) == self.own_part(self.find_in(change.wrote)))
        except ConfigParseError:
            return False

    def _with_source(self, text: str, source: str) -> str:
        """Return a text with the part of Moss written as in `source`, to the byte; unchanged if that is impossible."""
        ours, theirs = self.find_span(text), self.find_span(source)
        if ours is None or theirs is None:
            return text
        result = text[: ours[0]] + source[theirs[0] : theirs[1]] + text[ours[1] :]
        try:
            return result if self.find_in(result) == self.find_in(source) else text
        except ConfigParseError:
            return text

    def _is_undone(self, text: str, change: FileChange) -> bool:
        """Return True if a text differs from the present one only in having the replaced entry."""
        try:
            if self.find_in(text) != self.find_in(change.alone):
                return False
            return bool(self.content(self.apply_to(text)) == self.content(self.file.text))
        except (ConfigParseError, MossError):
            return False

    def _find_backup(self) -> tuple[str, str] | None:
        """Return path and text of a copy that differs from the present file only in the part of Moss, None if none
        does."""
        backups = [backup for backup in self.file.backups() if self._is_text_before_moss(backup[1])]
        return min(backups, key=lambda backup: self.is_present_in(backup[1])) if backups else None

    def _is_text_before_moss(self, text: str) -> bool:
        """Return True if the present file equals that text with the part of Moss added."""
        try:
            return self.apply_to(text) == self.file.text
        except (ConfigParseError, MossError):
            return False
