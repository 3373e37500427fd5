"""A command line that cannot be meant."""

from __future__ import annotations


class UsageError(Exception):
    """The words typed make no command; exit 2."""

    def __init__(self, message: str, *, command: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.command = command
