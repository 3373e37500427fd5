"""Search by words on PostgreSQL: read the postings of the words, and compute bm25 as FTS5 does.

The same numbers are added in the same order, so that scores are equal to the last bit and ties are the same.
`PostgresFilters` has the filters of a search and the documents within them.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.search.expression import positive_operands
from moss_memory.search.ranking import BM25_MAX_PER_IDF, SHARE_WEIGHT, Word, best_page
from moss_memory.search.request import (
    Document,
    Hit,
    Hits,
    SearchFilters,
    any_source,
    rows_in_source,
    source_codes,
    sql_number,
)
from moss_memory.search.tokens import WordRange, forms_of

from .index_reader import IndexReader, MatchEvaluator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.search.expression import Expression, Operand
    from moss_memory.search.query import Query
    from moss_memory.search.request import SearchRequest

    from .index_reader import Weights
    from .posting_blocks import Numbers
    from .transaction import PostgresTransaction

MANY = 1000
"""Above this many candidates the excluded documents are read instead of the included ones."""

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6


def search_by_words(tx: PostgresTransaction, request: SearchRequest) -> Hits:
    """Return one page of hits by words, in a stable order."""
    query = request.query
    index = IndexReader(tx)
    if query.expression is None:
        filters = PostgresFilters(tx, request, index, without=query.unwanted)
        words = PostgresWordQuery(index, query)
        positions, scores = words.scores(filters)
        forms, operands = words.forms(), []
    else:
        filters = PostgresFilters(tx, request, index)
        matched = MatchEvaluator(index, query.expression)
        positions = filters.filter_mask(matched.mask)
        if query.excludes:
            return _search_all_except(filters, index.all.docs[positions].tolist(), request)
        scores = bm25(index, matched.phrases)[positions]
        forms, operands = [], positive_operands(query.expression)

    def find_best(most: int) -> tuple[list[tuple[float, int]], int]:
        top = top_positions(scores, most)
        return list(zip(scores[top].tolist(), index.all.docs[positions[top]].tolist(), strict=True)), len(positions)

    page, total = best_page(find_best, request, filters)
    return Hits([Hit(Document.of(doc), score) for score, doc in page], total, forms, operands)


class PostgresFilters(SearchFilters):
    """The filters of one search, as conditions on the documents of the index."""

    _number = "number"

    def __init__(
        self,
        tx: PostgresTransaction,
        request: SearchRequest,
        index: IndexReader,
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
        return list(self._tx.rows(sql, {**self.parameters, **values}))

    def filter_mask(self, mask: Numbers) -> Numbers:
        """Return the positions of the documents of a mask that are within the filters."""
        positions = np.flatnonzero(mask if self.unwanted is None else mask & ~self.unwanted)
        documents = self._index.all
        if self.live_only:
            positions = positions[documents.live[positions] == 1]
        if self.workspace_norm is not None:
            positions = positions[documents.is_in(self.workspace_norm, positions)]
        if len(self.sources) < len(SEARCH_SOURCES):
            positions = positions[_are_of(self.sources, documents.docs[positions])]
        residual = {source: condition for source, condition in self.residual_conditions.items() if condition}
        outside = self._outside(residual, documents.docs[positions]) if residual else []
        return positions[~np.isin(documents.docs[positions], outside)] if len(outside) else positions

    def _outside(self, residual: dict[SearchSource, str], docs: Numbers) -> Numbers | list[int]:
        """Return those of the documents that do not meet the conditions that the index cannot check."""
        docs = docs[_are_of(residual, docs)]
        if not len(docs):
            return docs
        if len(docs) > MANY and not self._has_conditions:
            parts = [f"select {sql_number(source)} from {source.table} where not {source.alive}" for source in residual]
            return [doc for (doc,) in self.rows(" union all ".join(parts))]
        condition = any_source(residual, "number")
        sql = f"select number from unnest(cast(:moss_docs as bigint[])) as given (number) where true{condition}"
        # As text: the driver would inspect every number of a list.
        inside = self.rows(sql, moss_docs=f"{{{','.join(map(str, docs.tolist()))}}}")
        return docs[~np.isin(docs, [doc for (doc,) in inside])]

    def document_condition(self, number: str) -> str:
        condition = any_source(self.row_conditions, number)
        if self.unwanted is not None:
            condition += f" and not ({number} = any(:moss_unwanted))"
            self.parameters["moss_unwanted"] = self._index.all.docs[self.unwanted].tolist()
        return condition

    def _select(self, docs: list[int], condition: str) -> set[int]:
        sql = f"select number from unnest(:moss_docs) as given (number) where true{condition}"
        return {doc for (doc,) in self.rows(sql, moss_docs=docs)}

    def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
        statements = []
        for source in self.sources:
            if rows := rows_in_source(source, docs):
                sql = (
                    f"select {sql_number(source)}, updated_at, change_seq from {source.table} where row_id = any(:rows)"
                    " order by updated_at desc, change_seq desc, row_id desc limit :most"
                )
                statements.append((sql, {"rows": rows, "most": most}))
        return {row[0]: (*row[1:], row[0]) for rows in self._tx.together(*statements) for row in rows}


def _are_of(sources: Iterable[SearchSource], docs: Numbers) -> Numbers:
    """Return a mask of the documents that belong to one of the sources."""
    is_one = np.zeros(16, dtype=bool)
    is_one[[source.code for source in sources]] = True
    mask: Numbers = is_one[source_codes(docs)]
    return mask


def top_positions(scores: Numbers, most: int) -> Numbers:
    """Return the positions of the `most` best scores, and of all that tie with the last of them."""
    if len(scores) <= most:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -most)[-most])


def bm25(index: IndexReader, phrases: Iterable[tuple[int, Weights]]) -> Numbers:
    """Return the bm25 of every document as FTS5 computes it, given the document count and weights of each phrase."""
    scores = np.zeros(len(index.all))
    for hits, (positions, weights) in phrases:
        idf = math.log((index.documents - hits + 0.5) / (hits + 0.5))
        if idf <= 0:
            idf = _LEAST_IDF
        norm = _K1 * (1 - _B + _B * index.all.lengths[positions] / index.average)
        scores[positions] += idf * ((weights * (_K1 + 1.0)) / (weights + norm))
    return scores


class PostgresWordQuery:
    """A natural question looked up in the index: its words in all their forms, the rarest first."""

    def __init__(self, index: IndexReader, query: Query) -> None:
        self._index = index
        spans = [WordRange(word, stem) for word, stem in zip(query.words, query.stems, strict=True)]
        index.load_terms([(span.beginning, span.end) for span in spans], query.words)
        forms = forms_of(spans, [index.between((span.beginning, span.end)) for span in spans])
        postings = index.read([number for rows in forms for _, number in rows])
        words: list[tuple[Word, list[Weights]]] = []
        for span, rows in zip(spans, forms, strict=True):
            form_rows = [(form, number, weights) for form, number in rows if len((weights := postings.of(number))[0])]
            word = Word(span, [(form, len(weights[0])) for form, _, weights in form_rows], index.documents)
            merged = [postings.any_of([number for _, number, _ in form_rows])] if word.is_single else None
            words.append((word, [weights for _, _, weights in form_rows] if merged is None else merged))
        self.weight = 0.0
        """The sum of the idf of all words, including those in no document."""
        for word, _ in words:
            self.weight += word.idf
        self.weight = self.weight or 1.0
        self._words = sorted([entry for entry in words if entry[0].forms], key=lambda entry: entry[0].document_count)

    def forms(self) -> list[str]:
        """Return every form of every word that is in the index."""
        return [form for word, _ in self._words for form in word.forms]

    def scores(self, filters: PostgresFilters) -> tuple[Numbers, Numbers]:
        """Return the positions of the documents within the filters that contain any of the words, and their scores."""
        positions, scores, shares = self._bm25_and_shares(filters)
        return positions, SHARE_WEIGHT * shares + scores

    def match_all(self, filters: PostgresFilters) -> list[tuple[int, float, float]]:
        """Return each document within the filters that contains any of the words: `(doc, scaled bm25, share)`."""
        positions, scores, shares = self._bm25_and_shares(filters)
        return list(zip(self._index.all.docs[positions].tolist(), scores.tolist(), shares.tolist(), strict=True))

    def _bm25_and_shares(self, filters: PostgresFilters) -> tuple[Numbers, Numbers, Numbers]:
        """Return the positions of matches within the filters, their bm25 by its upper bound, and their shares."""
        contained = np.zeros((max(len(self._words), 1), len(self._index.all)), dtype=bool)
        for row, (_, forms) in zip(contained, self._words, strict=False):
            for positions, _ in forms:
                row[positions] = True
        inside = filters.filter_mask(np.logical_or.reduce(contained))
        phrases = [(len(weights[0]), weights) for _, forms in self._words for weights in forms]
        scores = bm25(self._index, phrases)[inside] * (1 / (BM25_MAX_PER_IDF * self.weight))
        return inside, scores, self._shares(contained[:, inside])

    def _shares(self, contained: Numbers) -> Numbers:
        """Return the share of each document, summed in the order of the words, so that equal shares are identical."""
        if contained.all():
            return np.full(contained.shape[1], self._share([True] * len(contained)))
        inverse, first = np.zeros(contained.shape[1], dtype=np.int64), np.zeros(0, dtype=np.int64)
        for eight in np.packbits(contained, axis=0):
            _, first, inverse = np.unique(inverse * 256 + eight, return_index=True, return_inverse=True)
        return np.array([self._share(pattern) for pattern in contained[:, first].T.tolist()], dtype=np.float64)[inverse]

    def _share(self, contained: list[bool]) -> float:
        return (
            sum([word.idf for contains, (word, _) in zip(contained, self._words, strict=False) if contains])
            / self.weight
        )


def _search_all_except(filters: PostgresFilters, matched: list[int], request: SearchRequest) -> Hits:
    """Return one page of all documents within the filters except these, newest first."""
    parts = [
        f"select {sql_number(source)} as doc, updated_at, change_seq from {source.table}"
        f" where {condition} and not ({sql_number(source)} = any(:moss_docs))"
        for source, condition in filters.row_conditions.items()
    ]
    source = " union all ".join(parts)
    total: int = filters.rows(f"select count(*) from ({source}) as found", moss_docs=matched)[0][0]
    rows = filters.rows(
        f"select doc from ({source}) as found order by updated_at desc, change_seq desc, doc desc"
        " limit :moss_limit offset :moss_offset",
        moss_docs=matched,
        moss_limit=request.limit,
        moss_offset=request.offset,
    )
    return Hits([Hit(Document.of(doc), 0.0) for (doc,) in rows], total)
