"""These tests use the same desk as those of tasks: thinking is often about one."""

from __future__ import annotations

from contract.tasks.conftest import desk, timed

__all__ = ["desk", "timed"]
