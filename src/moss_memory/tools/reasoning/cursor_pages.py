"""Pages of rows that are numbered by seq, newest first; a cursor is the seq at which a page ends."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget

LAST_SEQ = 2**63 - 1


class Rows(list["dict[str, Any]"]):
    """The rows of one page, newest first, with a flag for older ones."""

    __slots__ = ("more",)

    def __init__(self, rows: list[dict[str, Any]], *, more: bool) -> None:
        super().__init__(rows)
        self.more = more


class CursorPage:
    """A page of rows that are numbered by seq, starting at a cursor."""

    __slots__ = ("cursor", "limit")

    def __init__(self, cursor: int | None, limit: int, *, maximum: int = 200) -> None:
        self.cursor = cursor
        self.limit = min(limit, maximum)

    def before(self) -> int:
        """Return the exclusive upper bound of the seqs of a page of the newest rows."""
        return LAST_SEQ if self.cursor is None else self.cursor

    def rows(self, found: list[dict[str, Any]]) -> Rows:
        """Return the rows of the page; one row more than its limit shows that there are older ones."""
        return Rows(found[: self.limit], more=len(found) > self.limit)

    def pagination(self, count: int, next_cursor: int | None) -> dict[str, Any]:
        """Return the pagination object; None as next cursor marks the last page."""
        more = {} if next_cursor is None else {"next_cursor": next_cursor}
        return {"cursor": self.cursor, **more, "has_more": next_cursor is not None, "limit": self.limit, "count": count}

    def pagination_of(self, rows: Rows, kept: list[Any], *, number: str = "seq") -> dict[str, Any]:
        """Return the pagination object after the kept rows; `number` is the field with the seq."""
        if not rows.more and len(kept) == len(rows):
            return self.pagination(len(kept), None)
        return self.pagination(len(kept), int(kept[-1][number]) if kept else int(rows[0][number]) + 1)


def fit_page(
    budget: Budget,
    page: CursorPage,
    rows: Rows,
    fields: dict[str, Any],
    name: str,
    *,
    number: str = "seq",
    oldest_first: bool = False,
    hide_number: bool = False,
) -> dict[str, Any]:
    """Return fields of a response with the rows that fit the budget under a name, and their pagination."""

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        shown = kept_rows[::-1] if oldest_first else kept_rows
        if hide_number:
            shown = [{key: value for key, value in row.items() if key != number} for row in shown]
        pagination = page.pagination_of(rows, kept_rows, number=number)
        return {**fields, name: shown, "pagination": pagination, "truncated": False}

    return budget.fit(rows, build)
