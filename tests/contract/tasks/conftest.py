"""Fixtures: an empty workspace behind each door, and one with a test clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.tasks.desk import Desk
from support import beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door, StoreDoor


@pytest.fixture
def desk(call: Door) -> Iterator[Desk]:
    """Return an empty workspace, once behind `Store.call` and once behind an MCP server."""
    beside.forget(call.home)
    yield Desk(call)
    beside.forget(call.home)


@pytest.fixture
def timed(door: StoreDoor) -> Desk:
    """Return an empty workspace in a store that uses `clock`."""
    return Desk(door)
