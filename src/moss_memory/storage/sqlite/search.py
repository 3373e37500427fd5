"""Search on SQLite: one FTS5 index over all families, walked once; exact order and exact totals.

The walk computes bm25 for every document and asks which words one holds only where it may be among the best. A search
is several statements: run it inside one read transaction.
"""

from __future__ import annotations

import apsw

from ...query.expression import wanted
from ...query.hits import Document, Hit, Hits, number_of
from ...query.matcher import Matcher
from ..ranking import IDEAL, SHARE_WEIGHT, TITLE_WEIGHT, Word, page_of, ranges_of
from .scope import Scope, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...query.request import Request

    Take = Callable[[apsw.FTS5ExtensionApi, float], None]

_FEW = 200
"""Up to so many documents, asking the tables about filters is quicker than asking the index."""

_SPARE = 200
"""So many documents more than needed are collected before those that fall behind are let go."""

_TERMS = "select term, doc from search_terms where term >= ? and term < ?"
_WALK = (
    "select count(*), max(taken) from (select"
    f" moss_take(search_index, :moss_take, bm25(search_index, {TITLE_WEIGHT}, 1.0, 0.0)) as taken"
    " from search_index where search_index match :moss_match"
)


def by_words(connection: apsw.Connection, request: Request, now: int) -> Hits:
    """One page of what the words find, in an order that never changes, without what has expired by `now`."""
    query = request.query
    if query.expression is not None:
        scope = Scope(connection, request, now)
        expression = render(query.expression)
        if query.excludes:
            return _everything_but(scope, expression, request)
        matcher = Matcher(operands=wanted(query.expression))
        best, kept = _best_by(1.0, (), request.most)
        total = walk(scope, scope.match(expression), scope.condition, best)
    else:
        scope = Scope(connection, request, now, without=query.unwanted)
        question = Question(connection, query.words)
        matcher = Matcher(question.forms())
        best, kept = _best_by(1 / (IDEAL * question.weight), question.shares(), request.most)
        total = question.walk(scope, best)
    items = [Hit(Document.of(doc), score) for score, doc in page_of(kept, request, scope.changes)]
    return Hits(items, total, matcher)


class Question:
    """A natural question in the terms of the index: its words, in any form, the rarest first.

    The order is the same for every page, and so are the sums that bm25 makes.
    """

    def __init__(self, connection: apsw.Connection, words: Sequence[str]) -> None:
        documents: Any = connection.execute("select count(*) from search_index_docsize").fetchone()
        found = []
        for span in ranges_of(words):
            rows: list[Any] = connection.execute(_TERMS, (span.beginning, span.end)).fetchall()
            found.append(Word(span.word, span.forms_among(rows), documents[0]))
        self.weight = sum(word.idf for word in found) or 1.0
        """What all of the words say together, also those that no document holds."""
        self._words = sorted((word for word in found if word.forms), key=lambda word: word.held_by)

    def forms(self) -> list[str]:
        """Every form of every word that there is."""
        return [form for word in self._words for form in word.forms]

    def shares(self) -> list[tuple[range, float]]:
        """For each word the numbers of its phrases in the expression, and its share of what all words say."""
        found = []
        start = 0
        for word in self._words:
            end = start + len(word.forms)
            found.append((range(start, end), word.idf / self.weight))
            start = end
        return found

    def everything(self, scope: Scope) -> list[tuple[int, float, float]]:
        """Every document within the filters that holds any of the words: its number, its bm25 over the ideal one, and
        the share of what the words say that it holds."""
        found = []
        scale = -1 / (IDEAL * self.weight)
        shares = self.shares()

        def take(walk: apsw.FTS5ExtensionApi, bm25: float) -> None:
            columns_of = walk.phrase_columns
            held = 0.0
            for phrases, share in shares:
                for phrase in phrases:
                    if columns_of(phrase):
                        held += share
                        break
            found.append((walk.rowid, bm25 * scale, held))

        self.walk(scope, take)
        return found

    def walk(self, scope: Scope, take: Take) -> int:
        """Takes every document within the filters that holds any of the words; how many there are."""
        if not self._words:
            return 0
        # Flat, because FTS5 walks one OR faster than an OR of ORs.
        expression = " OR ".join([_expression(word) for word in self._words])
        if sum(word.held_by for word in self._words) <= _FEW:
            return walk(scope, scope.part(expression), scope.documents("search_index.rowid"), take)
        return walk(scope, scope.match(expression), scope.condition, take)


def walk(scope: Scope, match: str, condition: str, take: Take) -> int:
    """Takes every document that an FTS5 query and a condition find, with its bm25; how many there are."""
    # The limit keeps SQLite from asking for bm25 where it cannot be had any more.
    sql = f"{_WALK}{condition} limit -1)"
    values: Any = {"moss_match": match, "moss_take": apsw.pyobject(take)}
    try:
        found = scope.rows(sql, **values)
    except apsw.SQLError as error:
        if "no such function" not in str(error):
            raise
        shown: Any = _shown  # the first search of this connection
        scope.connection.register_fts5_function("moss_take", shown)
        found = scope.rows(sql, **values)
    total: int = found[0][0]
    return total


def _shown(walk: apsw.FTS5ExtensionApi, take: Take, bm25: float) -> None:
    """`moss_take`: shows a search each document that its walk comes by; the search passes itself along."""
    take(walk, bm25)


def _best_by(scale: float, shares: Sequence[tuple[range, float]], most: int) -> tuple[Take, list[tuple[float, int]]]:
    """What takes documents by score, and where it keeps the best as `(score, doc)`, with all that tie with the last."""
    kept: list[tuple[float, int]] = []
    least = -1.0
    full = most + _SPARE
    weights = [(phrases, SHARE_WEIGHT * share) for phrases, share in shares]
    every = sum(weight for _, weight in weights)

    def take(walk: apsw.FTS5ExtensionApi, bm25: float) -> None:
        nonlocal full, least
        score = every - bm25 * scale  # FTS5 gives better documents smaller numbers
        if score < least:
            return
        columns_of = walk.phrase_columns
        for phrases, weight in weights:
            for phrase in phrases:
                if columns_of(phrase):
                    break
            else:
                score -= weight
                if score < least:
                    return
        kept.append((score, walk.rowid))
        if len(kept) >= full:
            kept.sort(reverse=True)
            least = kept[most - 1][0]
            while kept[-1][0] < least:
                kept.pop()
            full = len(kept) + _SPARE

    return take, kept


def _everything_but(scope: Scope, expression: str, request: Request) -> Hits:
    """Every document in the filters that the expression does not match, newest first."""
    parts = [
        f"select {number_of(source)} as doc, updated_at, change_seq from {source.table}"
        f" where {scope.row_condition(source)} and {number_of(source)} not in"
        " (select rowid from search_index where search_index match :moss_match)"
        for source in scope.sources
    ]
    source = " union all ".join(parts)
    match = {"moss_match": scope.match(expression)}
    total: int = scope.rows(f"select count(*) from ({source})", **match)[0][0]
    rows = scope.rows(
        f"select doc from ({source}) order by updated_at desc, change_seq desc, doc desc"
        " limit :moss_limit offset :moss_offset",
        **match,
        moss_limit=request.limit,
        moss_offset=request.offset,
    )
    return Hits([Hit(Document.of(doc), 0.0) for (doc,) in rows], total, Matcher())


def _expression(word: Word) -> str:
    """The forms of a word in FTS5's language, one phrase each."""
    return " OR ".join([f'"{form}"' for form in word.forms]) + (" *" if word.is_open else "")
