"""The result of a trial, which is one line of the table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """The number of attempts, the number of failures, and further facts."""

    tried: int
    failed: int
    note: str = ""
