"""What stood in a client's file before Moss was connected, kept in the home so that it can be put back."""

from __future__ import annotations

import json
import os

from moss_memory.config import resolve_home
from moss_memory.errors import invalid_request

FOLDER = "connected"
_MOST_BYTES = 64 * 1024 * 1024


class Before:
    """The change that connecting made to a file, as the lines that went and the lines that came."""

    __slots__ = ("absent", "alone", "at", "new", "old")

    def __init__(self, *, alone: str, absent: bool, at: int, old: str, new: str) -> None:
        self.alone = alone
        """What was there, as a text with nothing else in it; empty if nothing was."""
        self.absent = absent
        """Whether there was no file."""
        self.at = at
        self.old = old
        self.new = new

    def undone_in(self, text: str) -> list[str]:
        """Return the texts that taking the change back may give: in its place, or in the only place that has it."""
        found = []
        if text.startswith(self.new, self.at):
            found.append(text[: self.at] + self.old + text[self.at + len(self.new) :])
        if self.new and text.count(self.new) == 1:
            found.append(text.replace(self.new, self.old))
        return found


def change_of(before: str, after: str, *, alone: str, absent: bool) -> Before:
    """Return the change from one text to another, in whole lines."""
    start = before.rfind("\n", 0, _equal_chars(before, after)) + 1
    rest = _equal_chars(before[start:][::-1], after[start:][::-1])
    end = after.find("\n", len(after) - rest)
    rest = 0 if end < 0 else len(after) - end - 1
    return Before(
        alone=alone,
        absent=absent,
        at=start,
        old=before[start : len(before) - rest],
        new=after[start : len(after) - rest],
    )


def _equal_chars(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def recall(path: str) -> Before | None:
    """Return what is remembered of a file; none if nothing is, or if it cannot be read."""
    try:
        with open(_place(path), "rb") as file:
            told = json.loads(file.read(_MOST_BYTES))
        before = Before(**{name: told[name] for name in Before.__slots__})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = (before.alone, before.old, before.new)
    is_whole = all(isinstance(one, str) for one in texts) and isinstance(before.at, int) and before.at >= 0
    return before if is_whole and isinstance(before.absent, bool) else None


def remember(path: str, before: Before) -> None:
    """Keep what was in a file, for its owner alone."""
    from moss_memory.storage.files.private_files import make_private_folder, write_private

    place = _place(path)
    content = {"file": path, **{name: getattr(before, name) for name in Before.__slots__}}
    try:
        make_private_folder(os.path.dirname(place))
        write_private(place, json.dumps(content).encode())
    except OSError as error:
        raise invalid_request(f"{place} cannot be written ({error.strerror}); {path} was not changed") from None


def forget(path: str) -> None:
    """Remove what is remembered of a file."""
    try:
        os.unlink(_place(path))
    except FileNotFoundError:
        return


def _place(path: str) -> str:
    """Return the file that remembers a client's file: always in the user's own home, whichever store is connected."""
    from hashlib import sha256

    return os.path.join(resolve_home(), FOLDER, sha256(os.fsencode(path)).hexdigest()[:32] + ".json")
