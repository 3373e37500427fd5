"""Fixtures of the connect tests: a command line with its own home folder."""

from __future__ import annotations

from interfaces.cli.conftest import cli

__all__ = ["cli"]
