"""Fixtures shared with the tests of tasks."""

from __future__ import annotations

from contract.tasks.conftest import desk, timed

__all__ = ["desk", "timed"]
