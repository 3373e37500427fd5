"""Pages of lists with an offset."""

from __future__ import annotations

from moss_memory.errors import invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_ROWS = 2**62
"""More than any table has; small enough for sums in 64 bits."""


class Page:
    """One page of an ordered list: at most `maximum` rows from `offset` on."""

    __slots__ = ("limit", "offset")

    def __init__(self, limit: int, offset: int, *, maximum: int) -> None:
        if limit < 1:
            raise invalid_request(f"`limit` is {limit}; ask for at least 1", path="limit")
        if offset < 0:
            raise invalid_request(f"`offset` is {offset}; the first row has offset 0", path="offset")
        self.limit = min(limit, maximum)
        self.offset = offset

    @property
    def end(self) -> int:
        return min(self.offset + self.limit, MOST_ROWS)

    def answer(self, *, returned: int, total: int) -> dict[str, Any]:
        """Return the `pagination` of a response."""
        has_more = self.offset + returned < total and returned > 0
        return {"limit": self.limit, "offset": self.offset, "has_more": has_more, "total": total}
