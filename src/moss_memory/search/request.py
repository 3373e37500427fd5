"""A search request and the page of hits that answers it: how it is run, and its filters as SQL conditions.

Every engine extends `SearchFilters`. Documents of all sources share one index, in which each has a number.
"""

from __future__ import annotations

import functools

from moss_memory.errors import MossError
from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.rows.paging import MOST_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.storage.engine import ReadTransaction, Row

    from .expression import Operand
    from .query import Query
    from .snippet import Matcher


_NAMES = {source.code: source.name for source in SEARCH_SOURCES.values()}


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
        self.is_lexical = mode == "keyword" or not query.embedded_text or is_exact
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


class Document:
    """One row of one source; `number` is its id in the index, which all sources share."""

    __slots__ = ("row", "source")

    def __init__(self, source: str, row: int) -> None:
        self.source = source
        self.row = row

    @classmethod
    def of(cls, number: int) -> Document:
        """Return the document with this number."""
        return cls(_NAMES[number & 15], number >> 4)

    @property
    def number(self) -> int:
        """The id of the document in the index."""
        return self.row << 4 | SEARCH_SOURCES[self.source].code


class Hit:
    """One document of a search result; scores are comparable across sources, higher is better."""

    __slots__ = ("document", "offset", "score")

    def __init__(self, document: Document, score: float, offset: int = 0) -> None:
        self.document = document
        self.score = score
        self.offset = offset
        """The offset of the most similar chunk in its text; 0 if vectors were not searched."""


class Hits:
    """One page of hits in final order, the total of all pages, and the words that its documents contain."""

    __slots__ = ("_matcher", "degraded", "items", "operands", "pending", "relaxed", "total", "words")

    def __init__(
        self,
        items: list[Hit],
        total: int,
        words: Iterable[str] = (),
        operands: Iterable[Operand] = (),
        *,
        pending: int = 0,
    ) -> None:
        self.items = items
        self.total = total
        self.words = words
        """The searched words of a question, in every form."""
        self.operands = operands
        """The phrases, prefixes and words of an expression."""
        self._matcher: Matcher | None = None
        self.pending = pending
        """The number of documents within the filters that have no vector yet."""
        self.degraded = False
        """True if vectors were requested and only words could be searched."""
        self.relaxed = False
        """True if the expression had no hits and its words were searched as a natural question."""

    def rows(self, source: str) -> list[int]:
        """Return the rows of one source on this page."""
        return [hit.document.row for hit in self.items if hit.document.source == source]

    @property
    def matcher(self) -> Matcher:
        """The finder of the searched words in texts."""
        if self._matcher is None:
            from .snippet import Matcher  # a search without hits needs no regular expressions

            self._matcher = Matcher(self.words, self.operands)
        return self._matcher

    def remarks(self) -> dict[str, Any]:
        """Return the fields of an answer beside its hits; empty if none applies."""
        remarks = {"degraded": self.degraded, "relaxed": self.relaxed, "pending": self.pending}
        return {name: value for name, value in remarks.items() if value}


class SearchFilters:
    """The filters of one search as conditions on the tables of its sources; each engine extends it."""

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

    def among(self, docs: list[int]) -> set[int]:
        return self._select(docs, self.document_condition(self._number))

    def half_scored(self, docs: list[int]) -> set[int]:
        """Return those of the documents that get half of their score."""
        codes = {doc & 15 for doc in docs}
        halved = {source: source.half_score for source in self.sources if source.half_score and source.code in codes}
        return self._select(docs, any_source(halved, self._number)) if halved else set()

    _number: str
    """The column of document numbers in the condition of `_select`."""

    def _select(self, docs: list[int], condition: str) -> set[int]:
        """Return those of the documents that meet a condition."""
        raise NotImplementedError

    def rows(self, sql: str, **values: Any) -> list[Row]:
        """Run a statement with the parameters of the filters and these, and return its rows."""
        raise NotImplementedError

    def document_condition(self, number: str) -> str:
        """Return all filters as SQL over a column of document numbers, to be added to a condition."""
        raise NotImplementedError

    def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
        """Return the last change of documents, comparable across sources; at most the newest N of each source."""
        raise NotImplementedError


def any_source(conditions: dict[SearchSource, str], number: str) -> str:
    """Return SQL that is true if a document is of one of the sources and its row meets that source's condition."""
    choices = []
    for source, condition in conditions.items():
        choice = f"{sql_code(number)} = {source.code}"
        if condition:
            row = f"{source.table}.row_id = {sql_row(number)}"
            choice += f" and exists (select 1 from {source.table} where {row} and {condition})"
        choices.append(choice)
    return " and (" + " or ".join(choices) + ")"


def sql_number(source: SearchSource, row: str = "row_id") -> str:
    return f"{row} * 16 + {source.code}"


def sql_row(number: str) -> str:
    """Return SQL for the row of a document, given SQL for its number."""
    return f"{number} >> 4"


def sql_code(number: str) -> str:
    """Return SQL for the code of a document's source, given SQL for its number."""
    return f"{number} & 15"


def rows_in_source(source: SearchSource, numbers: Iterable[int]) -> list[int]:
    """Return the rows of the documents of one source, given document numbers."""
    return [number >> 4 for number in numbers if number & 15 == source.code]


def source_codes(numbers: Any) -> Any:
    """Return the source codes of an array of document numbers."""
    return numbers & 15
