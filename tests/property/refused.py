"""The exception of a refused call in models."""

from __future__ import annotations

DAY = 86_400


class RefusedError(Exception):
    """A refusal with its error code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
