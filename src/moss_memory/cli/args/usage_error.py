"""The error for an invalid command line."""

from __future__ import annotations


class UsageError(Exception):
    """An invalid command line; exit code 2."""

    def __init__(self, message: str, *, command: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.command = command
