"""Vectors on PostgreSQL."""

from __future__ import annotations

from ...errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine import Call
    from .engine import PostgresEngine


def index(engine: PostgresEngine, call: Call, *, patience_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
    """Makes missing vectors; how many it made, and how many are still missing."""
    raise MossError("SEMANTIC_UNAVAILABLE", "search by meaning is not there on PostgreSQL yet; search by words")
