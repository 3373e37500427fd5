"""The filters of a search on PostgreSQL, and the documents within them."""

from __future__ import annotations

import functools

import numpy as np

from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.search.hits import codes_of, number_of, rows_of
from moss_memory.search.request import SearchFilters, either

from .posting_lists import MatchEvaluator

MANY = 1000
"""Above this many candidates the excluded documents are read instead of the included ones."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.search.expression import Expression, Operand
    from moss_memory.search.request import SearchRequest

    from .posting_lists import Index
    from .postings import Numbers
    from .transaction import PostgresTransaction


class Scope(SearchFilters):
    """The filters of one search, as conditions on the documents of the index."""

    def __init__(
        self,
        tx: PostgresTransaction,
        request: SearchRequest,
        index: Index,
        *,
        without: Operand | Expression | None = None,
    ) -> None:
        super().__init__(request, tx.now)
        self._tx = tx
        self._index = index
        self._without = without
        self._has_conditions = bool(request.conditions or request.source_conditions)

    @functools.cached_property
    def unwanted(self) -> Numbers | None:
        """The mask of documents that match a negated part of the query; None if it has none."""
        return None if self._without is None else MatchEvaluator(self._index, self._without).mask

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with the parameters of the filters and these, and return its rows."""
        return list(self._tx.rows(sql, {**self.parameters, **values}))

    def filter_mask(self, mask: Numbers) -> Numbers:
        """Return the positions of the documents of a mask that are within the filters."""
        at = np.flatnonzero(mask if self.unwanted is None else mask & ~self.unwanted)
        documents = self._index.all
        if self.live_only:
            at = at[documents.live[at] == 1]
        if self.workspace_norm is not None:
            at = at[documents.is_in(self.workspace_norm, at)]
        if len(self.sources) < len(SEARCH_SOURCES):
            at = at[_are_of(self.sources, documents.docs[at])]
        residual = {source: condition for source, condition in self.residual_conditions.items() if condition}
        outside = self._outside(residual, documents.docs[at]) if residual else []
        return at[~np.isin(documents.docs[at], outside)] if len(outside) else at

    def _outside(self, residual: dict[SearchSource, str], docs: Numbers) -> Numbers | list[int]:
        """Return those of the documents that do not meet the conditions that the index cannot check."""
        docs = docs[_are_of(residual, docs)]
        if not len(docs):
            return docs
        if len(docs) > MANY and not self._has_conditions:
            parts = [f"select {number_of(source)} from {source.table} where not {source.alive}" for source in residual]
            return [doc for (doc,) in self.rows(" union all ".join(parts))]
        condition = either(residual, "number")
        sql = f"select number from unnest(cast(:moss_docs as bigint[])) as given (number) where true{condition}"
        # As text: the driver would inspect every number of a list.
        inside = self.rows(sql, moss_docs=f"{{{','.join(map(str, docs.tolist()))}}}")
        return docs[~np.isin(docs, [doc for (doc,) in inside])]

    def documents(self, number: str) -> str:
        """Return all filters as SQL over a column of document numbers."""
        condition = either(self.row_conditions, number)
        if self.unwanted is not None:
            condition += f" and not ({number} = any(:moss_unwanted))"
            self.parameters["moss_unwanted"] = self._index.all.docs[self.unwanted].tolist()
        return condition

    def among(self, docs: list[int]) -> set[int]:
        """Return those of the documents that are within the filters."""
        return self._select(docs, self.documents("number"))

    def half_scored(self, docs: list[int]) -> set[int]:
        """Return those of the documents that get half of their score."""
        conditions = self.half_score_conditions(docs)
        return self._select(docs, either(conditions, "number")) if conditions else set()

    def _select(self, docs: list[int], condition: str) -> set[int]:
        sql = f"select number from unnest(:moss_docs) as given (number) where true{condition}"
        return {doc for (doc,) in self.rows(sql, moss_docs=docs)}

    def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
        """Return the last change of documents, comparable across sources; at most the newest N of each source."""
        statements = []
        for source in self.sources:
            if rows := rows_of(source, docs):
                sql = (
                    f"select {number_of(source)}, updated_at, change_seq from {source.table} where row_id = any(:rows)"
                    " order by updated_at desc, change_seq desc, row_id desc limit :most"
                )
                statements.append((sql, {"rows": rows, "most": most}))
        return {row[0]: (*row[1:], row[0]) for rows in self._tx.together(*statements) for row in rows}


def _are_of(sources: Iterable[SearchSource], docs: Numbers) -> Numbers:
    """Return a mask of the documents that belong to one of the sources."""
    is_one = np.zeros(16, dtype=bool)
    is_one[[source.code for source in sources]] = True
    found: Numbers = is_one[codes_of(docs)]
    return found
