"""How models refuse a call."""

from __future__ import annotations

DAY = 86_400


class RefusedError(Exception):
    """The code with which the documents refuse a call."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
