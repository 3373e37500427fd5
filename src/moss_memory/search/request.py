"""What is asked of a search, whichever engine answers it."""

from __future__ import annotations

from moss_memory.rows.paging import MOST_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .query import Query


class SearchRequest:
    """One search: the query, how to look, where, within which filters, and which page. Frozen once made."""

    __slots__ = ("conditions", "include_deleted", "limit", "mode", "offset", "parameters", "query", "sources",
                 "workspace_norm")  # fmt: skip

    def __init__(
        self,
        query: Query,
        *,
        mode: str = "keyword",
        sources: Sequence[str],
        workspace_norm: str | None = None,
        include_deleted: bool = False,
        conditions: Sequence[str] = (),
        parameters: dict[str, Any] | None = None,
        limit: int,
        offset: int = 0,
    ) -> None:
        self.query = query
        self.mode = mode
        """`keyword`, `semantic` or `both`."""
        self.sources = sources
        self.workspace_norm = workspace_norm
        self.include_deleted = include_deleted
        self.conditions = conditions
        """Conditions on columns of the sources' tables, all of which must hold, with named `parameters`."""
        self.parameters = parameters or {}
        self.limit = limit
        self.offset = offset

    @property
    def top_k(self) -> int:
        """How many of the best must be known for this page."""
        return min(self.offset + self.limit, MOST_ROWS)

    @property
    def is_lexical(self) -> bool:
        """Whether words alone answer it: operators are meant exactly, and what only excludes has no meaning."""
        exact = self.query.expression is not None
        return self.mode == "keyword" or not self.query.meaning or (self.mode == "both" and exact)

    def replace(self, **changes: Any) -> SearchRequest:
        """A copy with some things changed."""
        return SearchRequest(**{name: getattr(self, name) for name in self.__slots__} | changes)
