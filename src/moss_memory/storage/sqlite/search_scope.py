"""Translate the filters of a search to FTS5 queries and SQL."""

from __future__ import annotations

import functools

from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.search.expression import Operand
from moss_memory.search.hits import code_of, number_of, row_of
from moss_memory.search.request import SearchFilters, either

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.search.expression import Expression
    from moss_memory.search.request import SearchRequest

MARK = "\ue000"
DOCS = "select rowid from search_index where search_index match :moss_match"
GONE = f'(filter : "{MARK}gone")'


def json_list(numbers: Iterable[int]) -> str:
    """Return a list for `json_each`: one parameter, so that the statement stays the same and prepared."""
    return f"[{','.join(map(str, numbers))}]"


def rows_of(source: SearchSource) -> str:
    """Return SQL for the rows of one source among the documents in `:moss_docs`."""
    return f"(select {row_of('value')} from json_each(:moss_docs) where {code_of('value')} = {source.code})"


def render(node: Operand | Expression) -> str:
    """Return the node as an FTS5 query; words are quoted, so none of them can be an operator."""
    if isinstance(node, Operand):
        return f'"{" ".join(node.words)}"' + (" *" if node.prefix else "")
    parts = [render(part) if isinstance(part, Operand) else f"({render(part)})" for part in node.parts]
    return f" {node.operator} ".join(parts)


class Scope(SearchFilters):
    """The filters of one search, as FTS5 query and as SQL conditions."""

    def __init__(
        self,
        connection: apsw.Connection,
        request: SearchRequest,
        now: int,
        *,
        without: Operand | Expression | None = None,
    ) -> None:
        super().__init__(request, now)
        self.connection = connection
        self._unwanted = "" if without is None else _columns(render(without))

    @functools.cached_property
    def condition(self) -> str:
        """Return the filters that the index cannot check as SQL over `search_index`; empty if there are none."""
        residual = self.residual_conditions
        return either(residual, "search_index.rowid") if any(residual.values()) or self._has_other_sources() else ""

    def _has_other_sources(self) -> bool:
        """Return whether the index contains documents of other sources."""
        others = [f'"{MARK}t{source.name}"' for source in SEARCH_SOURCES.values() if source not in self.sources]
        return bool(others) and bool(self.rows(DOCS + " limit 1", moss_match=f"filter : ({' OR '.join(others)})"))

    def documents(self, number: str) -> str:
        """Return all filters as SQL over a column of document numbers."""
        condition = either(self.row_conditions, number)
        if self._unwanted:
            condition += (
                f" and {number} not in (select rowid from search_index where search_index match :moss_unwanted)"
            )
            self.parameters["moss_unwanted"] = self._unwanted
        return condition

    def among(self, docs: list[int]) -> set[int]:
        """Return the documents that pass the filters."""
        return self._select(docs, self.documents("value"))

    def half_scored(self, docs: list[int]) -> set[int]:
        """Return those of the documents that get half of their score."""
        conditions = self.half_score_conditions(docs)
        return self._select(docs, either(conditions, "value")) if conditions else set()

    def _select(self, docs: list[int], condition: str) -> set[int]:
        sql = f"select value from json_each(:moss_docs) where true{condition}"
        return {doc for (doc,) in self.rows(sql, moss_docs=json_list(docs))}

    def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
        """Return the last change of each document, comparable across sources; of each source the newest `most`."""
        found = {}
        listed = json_list(docs)
        for source in self.sources:
            sql = (
                f"select {number_of(source)}, updated_at, change_seq from {source.table}"
                f" where row_id in {rows_of(source)} order by updated_at desc, change_seq desc, row_id desc"
                " limit :moss_limit"
            )
            for doc, updated_at, change_seq in self.rows(sql, moss_docs=listed, moss_limit=most):
                found[doc] = (updated_at, change_seq, doc)
        return found

    def match(self, expression: str) -> str:
        """Return the FTS5 query for an expression and the indexed filters; the expression's phrases come first."""
        # Deleted rows are few, so to exclude them costs less than to require live ones.
        match = self.part(expression)
        without = [self._unwanted] if self._unwanted else []
        if self.live_only:
            without.append(GONE)
        return f"({match}) NOT ({' OR '.join(without)})" if without else match

    def part(self, expression: str) -> str:
        """Return the same without the exclusion of deleted documents."""
        inside = "" if self.workspace_norm is None else f' AND filter : "{MARK}w{self.workspace_norm.encode().hex()}"'
        return _columns(f"({expression})") + inside

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, with the parameters of the scope and more."""
        found: list[tuple[Any, ...]] = self.connection.execute(sql, {**self.parameters, **values}).fetchall()
        return found


def _columns(expression: str) -> str:
    """Restrict an expression to titles and texts if it could match a filter's mark; the restriction is slow."""
    return f"({{title body}} : ({expression}))" if MARK in expression else f"({expression})"
