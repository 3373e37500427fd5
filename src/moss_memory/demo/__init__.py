"""A store filled with a believable project, for looking around: nine weeks of three workspaces."""

from __future__ import annotations

from moss_memory.demo.seed import fill

__all__ = ["fill"]
