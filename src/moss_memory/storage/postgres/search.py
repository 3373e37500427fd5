"""Searching by words on PostgreSQL."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...query.hits import Hits
    from ...query.request import Request
    from .transaction import PostgresTransaction


def by_words(tx: PostgresTransaction, request: Request) -> Hits:
    """One page of what the words find, in an order that never changes."""
    raise NotImplementedError("nothing is searched on PostgreSQL yet")
