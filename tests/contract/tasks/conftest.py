"""Fixtures: an empty workspace behind each door, and one with a test clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.tasks.task_tools import TaskTools
from support import direct_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door, StoreDoor


@pytest.fixture
def desk(call: Door) -> Iterator[TaskTools]:
    """Return an empty workspace, once behind `Store.call` and once behind an MCP server."""
    direct_store.forget(call.home)
    yield TaskTools(call)
    direct_store.forget(call.home)


@pytest.fixture
def timed(door: StoreDoor) -> TaskTools:
    """Return an empty workspace in a store that uses `clock`."""
    return TaskTools(door)
