"""What a commit does for the search: nothing yet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .transaction import PostgresWrite


def index_changes(tx: PostgresWrite, docs: list[int]) -> None:
    """Brings the index up to date with these documents, before the transaction commits."""
