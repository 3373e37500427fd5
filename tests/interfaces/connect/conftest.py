"""A command line in a home folder of its own."""

from __future__ import annotations

from interfaces.cli.conftest import cli

__all__ = ["cli"]
