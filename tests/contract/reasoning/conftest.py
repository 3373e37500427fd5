"""Fixtures: an empty workspace for each interface, and one with a controlled clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, forget_reasoning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door, StoreDoor


@pytest.fixture
def room(call: Door) -> Iterator[ReasoningTools]:
    """Return a workspace without branches, once for `Store.call` and once for an MCP server."""
    forget_reasoning(call.home)
    yield ReasoningTools(call)
    forget_reasoning(call.home)


@pytest.fixture
def timed(door: StoreDoor) -> ReasoningTools:
    """Return a workspace without branches in a store with the fixture `clock`."""
    return ReasoningTools(door)
