"""A store filled with a believable project, for looking around: nine weeks of three workspaces."""

from __future__ import annotations

from .filling import fill

__all__ = ["fill"]
