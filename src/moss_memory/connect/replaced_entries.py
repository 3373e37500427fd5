"""Entries that Moss replaced in clients' files, stored in the home folder for undo."""

from __future__ import annotations

import json
import os

from moss_memory.config import resolve_home
from moss_memory.errors import invalid_request

FOLDER = "connected"
_MAX_BYTES = 64 * 1024 * 1024


class FileChange:
    """The change that connecting made to a file: removed and added lines."""

    __slots__ = ("absent", "alone", "at", "new", "old", "wrote")

    def __init__(self, *, alone: str, absent: bool, at: int, old: str, new: str, wrote: str) -> None:
        self.alone = alone
        """The text of the replaced entry, empty if there was none."""
        self.absent = absent
        """True if there was no file."""
        self.at = at
        self.old = old
        self.new = new
        self.wrote = wrote
        """The text of the entry that Moss wrote."""

    def undo_in(self, text: str) -> list[str]:
        """Return the possible results of undoing the change: at its position, or at the only match."""
        results = []
        if text.startswith(self.new, self.at):
            results.append(text[: self.at] + self.old + text[self.at + len(self.new) :])
        if self.new and text.count(self.new) == 1:
            results.append(text.replace(self.new, self.old))
        return results


def compute_change(before: str, after: str, *, alone: str, wrote: str, absent: bool) -> FileChange:
    """Return the change from one text to another, in whole lines."""
    start = before.rfind("\n", 0, _equal_chars(before, after)) + 1
    tail_length = _equal_chars(before[start:][::-1], after[start:][::-1])
    end = after.find("\n", len(after) - tail_length)
    tail_length = 0 if end < 0 else len(after) - end - 1
    return FileChange(
        alone=alone,
        absent=absent,
        at=start,
        old=before[start : len(before) - tail_length],
        new=after[start : len(after) - tail_length],
        wrote=wrote,
    )


def _equal_chars(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))


def load_change(path: str) -> FileChange | None:
    try:
        with open(_path(path), "rb") as file:
            stored = json.loads(file.read(_MAX_BYTES))
        change = FileChange(**{name: stored[name] for name in FileChange.__slots__})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = (change.alone, change.old, change.new, change.wrote)
    is_whole = all(isinstance(text, str) for text in texts) and isinstance(change.at, int) and change.at >= 0
    return change if is_whole and isinstance(change.absent, bool) else None


def save_change(path: str, before: FileChange) -> None:
    from moss_memory.storage.files.private_files import make_private_folder, write_private

    record = _path(path)
    content = {"file": path, **{name: getattr(before, name) for name in FileChange.__slots__}}
    try:
        make_private_folder(os.path.dirname(record))
        write_private(record, json.dumps(content).encode())
    except OSError as error:
        raise invalid_request(f"{record} cannot be written ({error.strerror}); {path} was not changed") from None


def delete_change(path: str) -> None:
    try:
        os.unlink(_path(path))
    except FileNotFoundError:
        return


def _path(path: str) -> str:
    """Return the path of the stored change: always in the user's home, whichever store is connected."""
    from hashlib import sha256

    return os.path.join(resolve_home(), FOLDER, sha256(os.fsencode(path)).hexdigest()[:32] + ".json")
