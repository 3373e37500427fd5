"""The search index of SQLite: one FTS5 index over all tools, with exact order and exact totals, and the vectors.

`search_by_words` is the search by words alone. `SqliteSearchIndex` is the index as `search.ranking` reads it: filters,
words and vectors. `SqliteFilters` are the filters of a search as FTS5 queries and SQL; `SqliteWordQuery` looks up words
within them.

FTS5 finds the words of a document quickly, its bm25 slowly, and bm25 has an upper bound for each form that a document
contains. So the documents with the most words are scored first, and those whose bound is below the best of these never
are. A search is several statements: run it inside one read transaction.
"""

from __future__ import annotations

import functools
import json
import math

from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.search.expression import Operand, positive_operands
from moss_memory.search.ranking import BM25_MAX_PER_IDF, SHARE_WEIGHT, TITLE_WEIGHT, Word, best_page
from moss_memory.search.request import Document, Hit, Hits, SearchFilters, any_source, sql_code, sql_number, sql_row
from moss_memory.search.tokens import WordRange, forms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    import apsw

    from moss_memory.search.embedding_queue import VectorEngine
    from moss_memory.search.expression import Expression
    from moss_memory.search.query import Query
    from moss_memory.search.request import SearchRequest
    from moss_memory.search.vectors import ChunkVectors, VectorRows
    from moss_memory.storage.engine import ReadTransaction

    from .engine import SqliteEngine
    from .transaction import SqliteTransaction

MARK = "\ue000"
DOCS = "select rowid from search_index where search_index match :moss_match"
GONE = f'(filter : "{MARK}gone")'

_FEW_MATCHES = 200
"""Up to this number of matches, filters are checked in the tables and not in the index, and each form is scored by
itself: the bm25 of a document is the sum."""

_SCORED_MAX = 2000
"""Up to this number, every document is scored: each further scan counts all words again."""

_MEMORY_MAX = 250_000
"""About the maximum number in memory, whatever the size of the store."""

_SPARE = 200
"""Documents scored at first in addition to those needed."""

_END = (1 << 63) - 1
_ROUNDING = 1e-9
_BM25 = f"bm25(search_index, {TITLE_WEIGHT}, 1.0, 0.0)"
_COUNT = "select count(*) from search_index where search_index match :moss_match"
_SCORED = f"select rowid, {_BM25} from search_index where search_index match :moss_match"
# The sign keeps SQLite from a lookup for each document: one scan of the index that computes bm25 only if it is
# needed takes a tenth of the time.
_AMONG = " and +search_index.rowid in (select value from json_each(:moss_docs))"
_BOUND = f" and {_BM25} <= :moss_bound"
_WITHIN = " and search_index.rowid between :moss_low and :moss_high"
_FORMS_IN = (
    "select form.key, search_index.rowid from json_each(:moss_forms) as form cross join search_index"
    " where search_index match form.value"
)
_SCORED_FORMS = _FORMS_IN.replace("search_index.rowid", f"search_index.rowid, {_BM25}")
_TERMS = "select term, doc from search_terms where term >= ? and term < ?"


class SqliteSearchIndex:
    """The index of one transaction, for a search by vectors with or without words."""

    def __init__(self, engine: SqliteEngine, tx: SqliteTransaction) -> None:
        self.engine: VectorEngine = engine
        self.tx: ReadTransaction = tx
        self.call = tx.call
        self.identity: object = engine.readers.identity
        self._connection = tx.connect()
        self.vector_rows: VectorRows = SqliteVectors(self._connection)

    def begin(self) -> None:
        """Read a row: the snapshot begins with the first one."""
        self._connection.execute("select seq from unembedded limit 1").fetchone()

    def filters(self, request: SearchRequest) -> SqliteFilters:
        return SqliteFilters(self._connection, request, self.tx.now, without=request.query.unwanted)

    def word_query(self, query: Query) -> SqliteWordQuery:
        return SqliteWordQuery(self._connection, query)

    def find_by_words(self, request: SearchRequest) -> Hits:
        return search_by_words(self._connection, request, self.tx.now)


class SqliteVectors:
    """The vectors of a database. Writers are serialized, so numbers rise in the order of commits."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._last_seq = 0

    def state(self) -> tuple[int, int]:
        """Return the last number that was assigned, and the number of vectors."""
        row = self._connection.execute(
            "select coalesce((select seq from sqlite_sequence where name = 'vectors'), 0),"
            " (select count(*) from vectors)"
        ).fetchone() or (0, 0)
        self._last_seq, count = row
        return self._last_seq, count

    def since(self, seen: int, model: str, size: int) -> Iterator[tuple[int, int, bytes | None]]:
        """Yield the vectors with a larger number."""
        if self._last_seq <= seen:
            return iter(())
        rows: Iterator[tuple[int, int, bytes | None]] = self._connection.execute(
            "select seq, doc, iif(model = :model and length(vector) > 0 and length(vector) % :size = 0, vector, null)"
            " from vectors where seq > :seq order by seq",
            {"model": model, "size": size, "seq": seen},
        )
        return rows

    def numbers(self) -> list[int]:
        return [seq for (seq,) in self._connection.execute("select seq from vectors")]

    def seen_by(self, seen: int, parts: list[ChunkVectors]) -> list[ChunkVectors]:
        """Return the chunks that are in this transaction's snapshot."""
        if self._last_seq >= seen:
            return list(parts)
        return [part.select(part.seqs <= self._last_seq) for part in parts]


def search_by_words(connection: apsw.Connection, request: SearchRequest, now: int) -> Hits:
    """Return one page of the lexical hits in a stable order, without documents that have expired by `now`."""
    query = request.query
    if query.expression is None:
        filters = SqliteFilters(connection, request, now, without=query.unwanted)
        words = SqliteWordQuery(connection, query)
        page, total = best_page(lambda most: words.best(filters, most), request, filters)
        return Hits([Hit(Document.of(doc), score) for score, doc in page], total, words.forms())
    filters = SqliteFilters(connection, request, now)
    expression = render(query.expression)
    if query.excludes:
        return _search_all_except(filters, expression, request)
    match = filters.match(expression)
    count = _count(filters, match)
    page, total = best_page(
        lambda most: ([(-bm25, doc) for doc, bm25 in _top(filters, match, most)], count), request, filters
    )
    items = [Hit(Document.of(doc), score) for score, doc in page]
    return Hits(items, total, operands=positive_operands(query.expression))


def json_list(numbers: Iterable[int]) -> str:
    """Return a list for `json_each`: one parameter, so that the statement stays the same and prepared."""
    return f"[{','.join(map(str, numbers))}]"


def render(node: Operand | Expression) -> str:
    """Return the node as an FTS5 query; words are quoted, so none of them can be an operator."""
    if isinstance(node, Operand):
        return f'"{" ".join(node.words)}"' + (" *" if node.prefix else "")
    parts = [render(part) if isinstance(part, Operand) else f"({render(part)})" for part in node.parts]
    return f" {node.operator} ".join(parts)


class SqliteFilters(SearchFilters):
    """The filters of one search, as FTS5 query and as SQL conditions."""

    _number = "value"

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
        return any_source(residual, "search_index.rowid") if any(residual.values()) or self._has_other_sources() else ""

    def _has_other_sources(self) -> bool:
        """Return True if the index contains documents of other sources."""
        marks = [f'"{MARK}t{source.name}"' for source in SEARCH_SOURCES.values() if source not in self.sources]
        return bool(marks) and bool(self.rows(DOCS + " limit 1", moss_match=f"filter : ({' OR '.join(marks)})"))

    def document_condition(self, number: str) -> str:
        condition = any_source(self.row_conditions, number)
        if self._unwanted:
            condition += (
                f" and {number} not in (select rowid from search_index where search_index match :moss_unwanted)"
            )
            self.parameters["moss_unwanted"] = self._unwanted
        return condition

    def _select(self, docs: list[int], condition: str) -> set[int]:
        sql = f"select value from json_each(:moss_docs) where true{condition}"
        return {doc for (doc,) in self.rows(sql, moss_docs=json_list(docs))}

    def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
        changes_by_doc = {}
        listed = json_list(docs)
        row, code = sql_row("value"), sql_code("value")
        for source in self.sources:
            sql = (
                f"select {sql_number(source)}, updated_at, change_seq from {source.table}"
                f" where row_id in (select {row} from json_each(:moss_docs) where {code} = {source.code})"
                " order by updated_at desc, change_seq desc, row_id desc limit :moss_limit"
            )
            for doc, updated_at, change_seq in self.rows(sql, moss_docs=listed, moss_limit=most):
                changes_by_doc[doc] = (updated_at, change_seq, doc)
        return changes_by_doc

    def match(self, expression: str) -> str:
        """Return the FTS5 query for an expression and the indexed filters; the expression's phrases come first."""
        # Deleted rows are few, so to exclude them costs less than to require live ones.
        match = self.workspace_match(expression)
        without = [self._unwanted] if self._unwanted else []
        if self.live_only:
            without.append(GONE)
        return f"({match}) NOT ({' OR '.join(without)})" if without else match

    def workspace_match(self, expression: str) -> str:
        """Return the FTS5 query for an expression and the workspace, also matching deleted and unwanted documents."""
        inside = "" if self.workspace_norm is None else f' AND filter : "{MARK}w{self.workspace_norm.encode().hex()}"'
        return _columns(f"({expression})") + inside

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.connection.execute(sql, {**self.parameters, **values}).fetchall()
        return rows


def _columns(expression: str) -> str:
    """Restrict an expression to titles and texts if it could match a filter's mark; the restriction is slow."""
    return f"({{title body}} : ({expression}))" if MARK in expression else f"({expression})"


class _Form:
    """One form of a word of a question in the index."""

    __slots__ = ("bm25_bound", "expression", "text", "word")

    def __init__(self, text: str, word: Word, document_count: int, documents: int) -> None:
        self.text = text
        self.word = word
        self.expression = f'"{text}"' + (" *" if word.is_single else "")
        self.bm25_bound = max(math.log((documents - document_count + 0.5) / (document_count + 0.5)), 1e-6)
        """The upper bound of its bm25 in a document, divided by `BM25_MAX_PER_IDF`."""


class SqliteWordQuery:
    """A natural-language question: its words, in any form, the rarest first.

    The order is the same for every page, and so are the sums of bm25. The forms in a document are a number with a bit
    for each form.
    """

    def __init__(self, connection: apsw.Connection, query: Query) -> None:
        documents = _documents(connection)
        forms: list[_Form] = []
        self.weight = 0.0
        """The weight of all words, also of those in no document."""
        spans = [WordRange(word, stem) for word, stem in zip(query.words, query.stems, strict=True)]
        terms = [connection.execute(_TERMS, (span.beginning, span.end)).fetchall() for span in spans]
        rows = forms_of(spans, terms)
        query_words = [Word(span, word_rows, documents) for span, word_rows in zip(spans, rows, strict=True)]
        for word, word_rows in zip(query_words, rows, strict=True):
            self.weight += word.idf
            if word.is_single:  # bm25 treats all words with this prefix as one form
                word_rows = [(form, max(count for _, count in word_rows)) for form in word.forms]
            forms += [_Form(form, word, count, documents) for form, count in word_rows]
        self.weight = self.weight or 1.0
        self._forms = sorted(forms, key=lambda form: form.word.document_count)
        self._words = {form.word for form in forms}
        self._match_bound = sum(word.document_count for word in self._words)
        # Flat, because FTS5 scans one OR faster than an OR of ORs.
        self._expression = " OR ".join([form.expression for form in self._forms])
        self._bounds: dict[int, tuple[float, float]] = {}

    def forms(self) -> list[str]:
        return [form.text for form in self._forms]

    def best(self, filters: SqliteFilters, most: int) -> tuple[list[tuple[float, int]], int]:
        """Return the best documents as `(score, doc)`, with all ties of the last, and the number of all matches."""
        if not self._forms:
            return [], 0
        if self._match_bound <= _FEW_MATCHES:
            scored, forms_in = self._score_by_forms(filters)
            return self._scores_of(scored, forms_in), len(scored)
        if self._match_bound <= _SCORED_MAX:
            scored = filters.rows(_SCORED + filters.condition, moss_match=filters.match(self._expression))
            forms_in = self.forms_in(filters) if len(self._words) > 1 else {}
            return self._scores_of(scored, forms_in), len(scored)
        match = filters.match(self._expression)
        total = _count(filters, match)
        if len(self._words) == 1:
            return self._scores_of(_top(filters, match, most), {}), total
        ranked: list[tuple[float, int]] = []
        for low, high in self._parts(filters):
            self._add_best(ranked, filters, most, match, low, high)
        return ranked, total

    def _score_by_forms(self, filters: SqliteFilters) -> tuple[list[tuple[int, float]], dict[int, int]]:
        """Return every matching document within the filters with its bm25, and the forms in each."""
        sql = _SCORED_FORMS + filters.document_condition("search_index.rowid")
        scored: dict[int, float] = {}
        forms_in: dict[int, int] = {}
        for form, doc, bm25 in filters.rows(sql, moss_forms=self._matches(filters)):
            scored[doc] = scored.get(doc, 0.0) + bm25
            forms_in[doc] = forms_in.get(doc, 0) | 1 << form
        return list(scored.items()), forms_in

    def _scores_of(self, scored: Sequence[tuple[Any, ...]], forms_in: dict[int, int]) -> list[tuple[float, int]]:
        """Return `(score, doc)` of each document, unsorted, given its bm25, which FTS5 returns negated."""
        scale = -1 / (BM25_MAX_PER_IDF * self.weight)
        if not forms_in:  # one word, which all documents contain: the mask of its first form is used
            share = SHARE_WEIGHT * self._share_and_bound(1)[0]
            return [(share + bm25 * scale, doc) for doc, bm25 in scored]
        measure = self._share_and_bound
        return [(SHARE_WEIGHT * measure(forms_in.get(doc, 1))[0] + bm25 * scale, doc) for doc, bm25 in scored]

    def _share_and_bound(self, forms: int) -> tuple[float, float]:
        """Return the share of the weight of the words in a document, and the upper bound of its score."""
        share_and_bound = self._bounds.get(forms)
        if share_and_bound is None:
            words: dict[Word, float] = {}
            most, remaining = 0.0, forms
            while remaining:
                form = self._forms[(remaining & -remaining).bit_length() - 1]
                remaining &= remaining - 1
                words[form.word] = form.word.idf
                most += form.bm25_bound
            share = sum(words.values()) / self.weight
            share_and_bound = self._bounds[forms] = share, SHARE_WEIGHT * share + most / self.weight + _ROUNDING
        return share_and_bound

    def forms_in(self, filters: SqliteFilters, low: int = 0, high: int = _END) -> dict[int, int]:
        """Return the forms in each matching document, also outside the filters."""
        rows = filters.connection.execute(
            _FORMS_IN if high == _END else _FORMS_IN + _WITHIN,
            {"moss_forms": self._matches(filters), "moss_low": low, "moss_high": high},
        )
        forms_by_doc: dict[int, int] = {}
        get_forms = forms_by_doc.get
        for form, doc in rows:
            forms_by_doc[doc] = get_forms(doc, 0) | 1 << form
        return forms_by_doc

    def _matches(self, filters: SqliteFilters) -> str:
        return json.dumps([filters.workspace_match(form.expression) for form in self._forms], ensure_ascii=False)

    def match_all(self, filters: SqliteFilters) -> list[tuple[int, float, float]]:
        """Return every matching document within the filters as `(doc, bm25, share)`.

        `bm25` is divided by its upper bound; `share` is the part of the words' weight in the document.
        """
        if not self._forms:
            return []
        scored = filters.rows(_SCORED + filters.condition, moss_match=filters.match(self._expression))
        forms_in = self.forms_in(filters)
        scale = -1 / (BM25_MAX_PER_IDF * self.weight)
        return [(doc, bm25 * scale, self._share_and_bound(forms_in[doc])[0]) for doc, bm25 in scored]

    def _parts(self, filters: SqliteFilters) -> Iterator[tuple[int, int]]:
        """Yield ranges of documents to be processed one after the other."""
        parts = -(-self._match_bound // _MEMORY_MAX)
        if parts == 1:
            yield 0, _END
            return
        last: int = filters.rows("select max(id) from search_index_docsize")[0][0]
        for part in range(parts):
            yield last * part // parts + 1, last * (part + 1) // parts

    def _add_best(
        self, ranked: list[tuple[float, int]], filters: SqliteFilters, most: int, match: str, low: int, high: int
    ) -> None:
        """Add the best documents of a range; drop those that are no longer among the best."""
        forms_in = self.forms_in(filters, low, high)
        groups: dict[int, list[int]] = {}
        for doc, forms in forms_in.items():
            groups.setdefault(forms, []).append(doc)
        remaining = sorted(groups, key=self._share_and_bound)
        size = most + _SPARE
        while remaining:
            least = ranked[most - 1][0] if len(ranked) >= most else -math.inf
            remaining = [forms for forms in remaining if self._share_and_bound(forms)[1] >= least]
            share = self._share_and_bound(remaining[-1])[0] if remaining else 0.0
            docs: list[int] = []
            while remaining and len(docs) < size:
                group = groups[remaining[-1]]
                space = size - len(docs)
                docs += group[:space]
                groups[remaining[-1]] = group[space:]
                if len(group) <= space:
                    remaining.pop()
            bound = (SHARE_WEIGHT * share - least + _ROUNDING) * BM25_MAX_PER_IDF * self.weight
            rows = filters.rows(
                _SCORED + _AMONG + filters.condition + _BOUND,
                moss_match=match,
                moss_docs=json_list(docs),
                moss_bound=bound,
            )
            ranked += self._scores_of(rows, forms_in)
            ranked.sort(reverse=True)
            while len(ranked) > most and ranked[-1][0] < ranked[most - 1][0]:
                ranked.pop()
            size *= 100


def _documents(connection: apsw.Connection) -> int:
    """Return the number of documents in the index, from the record that bm25 uses.

    A count takes a tenth of a millisecond for every hundred thousand.
    """
    row: Any = connection.execute("select block from search_index_data where id = 1").fetchone()
    number = 0
    for byte in row[0] if row else b"":
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number


def _count(filters: SqliteFilters, match: str) -> int:
    total: int = filters.rows(_COUNT + filters.condition, moss_match=match)[0][0]
    return total


def _top(filters: SqliteFilters, match: str, most: int) -> list[tuple[Any, ...]]:
    """Return the best documents by bm25 as `(doc, bm25)`, with all ties of the last."""
    limit = most + _SPARE
    rows = filters.rows(
        f"{_SCORED}{filters.condition} order by 2 limit :moss_limit", moss_match=match, moss_limit=limit
    )
    last = rows[most - 1][1] if len(rows) == limit else math.inf
    if rows and rows[-1][1] == last:  # more may tie with it than were requested
        return filters.rows(_SCORED + filters.condition + _BOUND, moss_match=match, moss_bound=last)
    return rows


def _search_all_except(filters: SqliteFilters, expression: str, request: SearchRequest) -> Hits:
    """Return every document within the filters that the expression does not match, newest first."""
    parts = [
        f"select {sql_number(source)} as doc, updated_at, change_seq from {source.table}"
        f" where {filters.row_conditions[source]} and {sql_number(source)} not in"
        " (select rowid from search_index where search_index match :moss_match)"
        for source in filters.sources
    ]
    source = " union all ".join(parts)
    match = {"moss_match": filters.match(expression)}
    total: int = filters.rows(f"select count(*) from ({source})", **match)[0][0]
    rows = filters.rows(
        f"select doc from ({source}) order by updated_at desc, change_seq desc, doc desc"
        " limit :moss_limit offset :moss_offset",
        **match,
        moss_limit=request.limit,
        moss_offset=request.offset,
    )
    return Hits([Hit(Document.of(doc), 0.0) for (doc,) in rows], total)
