"""The search request, the same for every engine."""

from __future__ import annotations

from moss_memory.rows.paging import MOST_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .query import Query


class SearchRequest:
    """One search: the query, the mode, the sources, the filters and the page. Never changed once made."""

    _ARGUMENTS = (
        "conditions", "include_deleted", "limit", "mode", "offset", "parameters", "query", "source_conditions",
        "sources", "workspace_norm",
    )  # fmt: skip
    __slots__ = (*_ARGUMENTS, "is_lexical", "top_k")

    def __init__(
        self,
        query: Query,
        *,
        mode: str = "keyword",
        sources: Sequence[str],
        workspace_norm: str | None = None,
        include_deleted: bool = False,
        conditions: Sequence[str] = (),
        source_conditions: dict[str, list[str]] | None = None,
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
        self.source_conditions = source_conditions or {}
        """More conditions, by the name of the source that they hold for."""
        self.parameters = parameters or {}
        self.limit = limit
        self.offset = offset
        self.top_k = min(offset + limit, MOST_ROWS)
        """The number of best hits that must be ranked for this page."""
        is_exact = mode == "both" and query.expression is not None
        self.is_lexical = mode == "keyword" or not query.meaning or is_exact
        """True if words alone answer it: operators are exact, and a query that only excludes has nothing to embed."""

    def replace(self, **changes: Any) -> SearchRequest:
        """Return a copy with some attributes changed."""
        return SearchRequest(**{name: getattr(self, name) for name in self._ARGUMENTS} | changes)
