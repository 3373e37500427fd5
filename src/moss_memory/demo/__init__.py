"""The demonstration: a store with nine weeks of an invented project in four workspaces."""

from __future__ import annotations

from moss_memory.demo.seed import fill

__all__ = ["fill"]
