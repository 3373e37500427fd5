"""The search request, the same for every engine: how it is run, and its filters as SQL conditions."""

from __future__ import annotations

import functools

from moss_memory.errors import MossError
from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.rows.paging import MOST_ROWS

from .hits import code_of, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.storage.engine import ReadTransaction

    from .hits import Hits
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


def search(tx: ReadTransaction, request: SearchRequest) -> Hits:
    """Return one page of hits; every hit is on exactly one page.

    The total of `semantic` counts the documents that are similar enough, at most 500; that of `both` counts all
    documents found by words or by meaning. If an expression of enough words has no hits, its words are searched as a
    natural question and the answer is `relaxed`. If no model is installed, `semantic` is refused, and `both` searches
    by words and is `degraded`.
    """
    hits = _search_or_degrade(tx, request)
    relaxed = request.query.relaxed
    if hits.total or relaxed is None or request.mode == "semantic":
        return hits
    hits = _search_or_degrade(tx, request.replace(query=relaxed))
    hits.relaxed = True
    return hits


def _search_or_degrade(tx: ReadTransaction, request: SearchRequest) -> Hits:
    try:
        return tx.search(request)
    except MossError as error:
        if request.mode != "both" or error.code != "SEMANTIC_UNAVAILABLE":
            raise
    hits = tx.search(request.replace(mode="keyword"))
    hits.degraded = True
    return hits


class SearchFilters:
    """The filters of one search as conditions on the tables of its sources."""

    def __init__(self, request: SearchRequest, now: int) -> None:
        self.sources = [SEARCH_SOURCES[source] for source in request.sources]
        self.workspace_norm = request.workspace_norm
        self.live_only = not request.include_deleted
        self._conditions = [f"({condition})" for condition in request.conditions]
        self._source_conditions = request.source_conditions
        self.parameters: dict[str, Any] = {
            **request.parameters,
            "moss_now": now,
            "moss_workspace": request.workspace_norm,
        }

    @functools.cached_property
    def residual_conditions(self) -> dict[SearchSource, str]:
        """The conditions that the index cannot check, by source; empty if a source has none."""
        return {
            source: " and ".join(
                [*self._conditions, *self._source_conditions.get(source.name, ()), *filter(None, [source.alive])]
            )
            for source in self.sources
        }

    @functools.cached_property
    def row_conditions(self) -> dict[SearchSource, str]:
        """All filters as a condition on the columns of a source's table, by source."""
        shared = [] if self.workspace_norm is None else ["workspace_norm = :moss_workspace"]
        if self.live_only:
            shared.append("deleted_at is null")
        return {
            source: " and ".join([residual, *shared] if residual else shared) or "true"
            for source, residual in self.residual_conditions.items()
        }

    def half_score_conditions(self, docs: list[int]) -> dict[SearchSource, str]:
        """Return the conditions for half of the score, of the sources of these documents."""
        codes = {doc & 15 for doc in docs}
        return {source: source.half_score for source in self.sources if source.half_score and source.code in codes}


def either(conditions: dict[SearchSource, str], number: str) -> str:
    """Return SQL that is true if a document is of one of the sources and its row meets that source's condition."""
    choices = []
    for source, condition in conditions.items():
        choice = f"{code_of(number)} = {source.code}"
        if condition:
            row = f"{source.table}.row_id = {row_of(number)}"
            choice += f" and exists (select 1 from {source.table} where {row} and {condition})"
        choices.append(choice)
    return " and (" + " or ".join(choices) + ")"
