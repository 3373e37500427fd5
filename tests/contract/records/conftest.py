"""An empty archive behind each door, and one whose time a test decides."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from contract.records.archive import Archive
from support import beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door, StoreDoor


@pytest.fixture
def archive(call: Door) -> Iterator[Archive]:
    """No record and no capability of the user's, once behind `Store.call` and once behind an MCP server."""
    forget(call.home)
    yield Archive(call)
    forget(call.home)


@pytest.fixture
def timed(door: StoreDoor) -> Archive:
    """No record in a store that believes `clock`."""
    return Archive(door)


def forget(home: str) -> None:
    beside.forget(home)
    shutil.rmtree(os.path.join(home, "capabilities"), ignore_errors=True)
