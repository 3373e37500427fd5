"""Counts of the source files that a call passes through, and of the changes from one file to another."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import moss_memory

PACKAGE = str(Path(moss_memory.__file__).parent)


class Walk:
    """The files of Moss that ran, in the order of their first call, and the number of switches between files."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.switches = 0
        self.calls = 0
        self._last = ""

    def record(self, action: Callable[[], object]) -> Walk:
        """Run an action and count its calls into the package."""
        sys.setprofile(self._profile)
        try:
            action()
        finally:
            sys.setprofile(None)
        return self

    async def record_task(self, action: Callable[[], Awaitable[object]]) -> Walk:
        """Run an action of the event loop and count its calls into the package."""
        sys.setprofile(self._profile)
        try:
            await action()
        finally:
            sys.setprofile(None)
        return self

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(PACKAGE):
            return
        name = path[len(PACKAGE) + 1 :]
        self.calls += 1
        self.files.setdefault(name)
        self.switches += name != self._last
        self._last = name
