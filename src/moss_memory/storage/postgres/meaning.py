"""Searching by meaning on PostgreSQL."""

from __future__ import annotations

from ...errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...query.hits import Hits
    from ...query.request import Request
    from .engine import PostgresEngine
    from .transaction import PostgresTransaction


def by_meaning(engine: PostgresEngine, tx: PostgresTransaction, request: Request) -> Hits:
    """One page of what is near in meaning."""
    raise MossError("SEMANTIC_UNAVAILABLE", "search by meaning is not there on PostgreSQL yet; search by words")
