"""An empty workspace behind each door, and one whose time a test decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.reasoning.room import Room, forget_reasoning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door, StoreDoor


@pytest.fixture
def room(call: Door) -> Iterator[Room]:
    """A workspace without branches, once behind `Store.call` and once behind an MCP server."""
    forget_reasoning(call.home)
    yield Room(call)
    forget_reasoning(call.home)


@pytest.fixture
def timed(door: StoreDoor) -> Room:
    """A workspace without branches in a store that believes `clock`."""
    return Room(door)
