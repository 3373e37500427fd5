"""Fixtures: an empty archive for each interface, and one with a controlled clock."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from contract.records.archive import Archive
from support import direct_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door, StoreDoor


@pytest.fixture
def archive(call: Door) -> Iterator[Archive]:
    """Return an archive without records and user capabilities, once for `Store.call` and once for an MCP server."""
    forget(call.home)
    yield Archive(call)
    forget(call.home)


@pytest.fixture
def timed(door: StoreDoor) -> Archive:
    """Return an archive without records in a store with the fixture `clock`."""
    return Archive(door)


def forget(home: str) -> None:
    direct_store.forget(home)
    shutil.rmtree(os.path.join(home, "capabilities"), ignore_errors=True)
