"""What one line of the table says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """How often something was tried, how often it failed, and what else is worth knowing."""

    tried: int
    failed: int
    note: str = ""
