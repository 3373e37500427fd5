"""A disk that records syncs, so that a power cut can be simulated at any moment of a run."""

from __future__ import annotations

import os
import random
from typing import Any

import apsw

SECTOR = 512


class Contents:
    """The durable content of one file, and its writes that are not yet synced."""

    def __init__(self) -> None:
        self.durable = bytearray()
        self.pending: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        for offset, data in self.pending:
            apply(self.durable, offset, data)
        self.pending.clear()

    def after_cut(self, chance: random.Random) -> bytes:
        """Return the content after a power cut: everything synced, and any part of the rest."""
        left = bytearray(self.durable)
        for offset, data in self.pending:
            fate = chance.random()
            if data is not None and fate < 0.2:
                data = data[: SECTOR * chance.randrange(1 + len(data) // SECTOR)]
            if fate < 0.6:
                apply(left, offset, data)
        return bytes(left)


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    """Apply one write, or a truncation if there is no data."""
    if data is None:
        del content[offset:]
        return
    content.extend(b"\0" * (offset - len(content)))
    content[offset : offset + len(data)] = data


class Disk(apsw.VFS):
    """Store the database's files on the real disk, and simulate power cuts for each."""

    def __init__(self, chance: random.Random, cut_chance: float) -> None:
        super().__init__("power-cut", "unix", makedefault=True)
        self.files: dict[str, Contents] = {}
        self.images: list[tuple[dict[str, bytes], Any]] = []
        self.promise: Any = None
        self._chance = chance
        self._cut_chance = cut_chance

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return DiskFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self.files.pop(os.path.basename(filename), None)

    def maybe_cut(self) -> None:
        """Simulate a power cut at random: store the image, with the promises made by this moment."""
        if self._chance.random() < self._cut_chance:
            image = {name: file.after_cut(self._chance) for name, file in self.files.items()}
            self.images.append((image, self.promise))


class DiskFile(apsw.VFSFile):
    """A file whose writes are durable only once they are synced."""

    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        self._contents = Contents()
        if path:
            self._contents = disk.files.setdefault(os.path.basename(path), self._contents)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.maybe_cut()
        super().xWrite(data, offset)
        self._contents.pending.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._contents.pending.append((newsize, None))

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.maybe_cut()
        super().xSync(flags)
        self._contents.sync()
