"""One search by words, by meaning, or by both: the lists of each become one by reciprocal rank.

A document's score is 1 / (RANK + its place by meaning) + weight / (RANK + its place by words). A long question shares a
word or two with many texts by chance, while a text that holds all of the words was probably asked for by them; so the
weight is WORDS_WEIGHT times the third power of the share of the words that the text holds. Measured on tests/retrieval
and on the questions of tests/e2e/months_later.py with two that nothing answers: right first, and among the first five.

| | 186 questions in other words | 60 short queries of exact words | 18 about records |
|---|---|---|---|
| words | 7 %, 13 % | 98 %, 100 % | 1 first |
| meaning | 37 %, 67 % | 95 %, 97 % | 13, 16 |
| both, equal weights, RANK 60 | 18 %, 50 % | 98 %, 100 % | - |
| both, weight 6 / words², RANK 3 | 36 %, 69 % | 98 %, 100 % | 9, 16 |
| both, weight 1.5 share², RANK 3 | 38 %, 68 % | 100 %, 100 % | 11, 16 |
| both, weight 1.5 share³, RANK 3 | 37 %, 67 % | 100 %, 100 % | 13, 16 |
"""

from __future__ import annotations

from ..errors import MossError
from ..families import SOURCES
from ..query.hits import Hits
from ..query.query import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..query.hits import Hit
    from ..storage.engine import ReadTransaction

RANK = 3
WORDS_WEIGHT = 1.5
NEAREST = 500
"""At most so many are found by their meaning."""

DEPTH = 100
"""So many of those found by their words can change places with those found by their meaning; the others follow."""


def search(
    tx: ReadTransaction, query: Query, mode: str, *, limit: int, offset: int, counted: bool = True, **filters: Any
) -> Hits:
    """One page of what `mode` finds: `keyword`, `semantic` or `both`; every hit is on one page, once.

    The total of `semantic` counts what is near enough, at most `NEAREST`; that of `both` counts everything found by
    words and what meaning adds to it. Unless `counted`, a search by words alone counts no further than it must look.
    Operators are meant exactly, so `both` finds by words alone what holds them. A query that only excludes has no
    meaning and is searched by words. Where no model is installed `semantic` is refused and `both` goes by words and
    says `degraded`.
    """
    exact = mode == "both" and query.expression is not None
    if mode == "keyword" or exact or not query.meaning:
        return tx.search(query, limit=limit, offset=offset, counted=counted, **filters)
    try:
        near = tx.nearest(query, limit=NEAREST, **filters)
    except MossError as error:
        if mode != "both" or error.code != "SEMANTIC_UNAVAILABLE":
            raise
        hits = tx.search(query, limit=limit, offset=offset, counted=counted, **filters)
        hits.degraded = True
        return hits
    _leave_out_unwanted(tx, query, near, filters)
    if mode == "both":
        return _both(tx, query, near, limit, offset, filters)
    if near.pending:
        _add_waiting(tx, query, near, filters)
    near.total = len(near.items)
    near.items = near.items[offset : offset + limit]
    return near


def document(hit: Hit) -> int:
    """The number of a hit's document in the search index."""
    return hit.row_id * 16 + SOURCES[hit.source].code


def _leave_out_unwanted(tx: ReadTransaction, query: Query, near: Hits, filters: dict[str, Any]) -> None:
    """Takes away what holds the words after a NOT."""
    node = query.expression
    if getattr(node, "operator", "") != "NOT" or not near.items:
        return
    for part in getattr(node, "parts", ())[1:]:
        among = [document(hit) for hit in near.items]
        holds = tx.search(Query(expression=part), among=among, limit=len(among), offset=0, **filters)
        unwanted = {document(hit) for hit in holds.items}
        near.items = [hit for hit in near.items if document(hit) not in unwanted]


def _add_waiting(tx: ReadTransaction, query: Query, near: Hits, filters: dict[str, Any]) -> None:
    """After what meaning found, what words find among the documents that have no vector yet."""
    words = tx.search(query, limit=NEAREST, offset=0, **filters).items
    waiting = tx.waiting([document(hit) for hit in words]) - near.just_made
    for hit in words:
        if document(hit) in waiting:
            hit.score = 0.0
            near.items.append(hit)


def _both(tx: ReadTransaction, query: Query, near: Hits, limit: int, offset: int, filters: dict[str, Any]) -> Hits:
    words = tx.search(query, limit=max(DEPTH, offset + limit), offset=0, **filters)
    by_meaning = {document(hit): hit for hit in near.items}
    fused = _fused(words.items[:DEPTH], near.items, query)
    for place, hit in enumerate(words.items[DEPTH:], start=DEPTH + 1):
        if document(hit) not in by_meaning:
            hit.score = min(fused[-1].score, _weight(hit, query) / (RANK + place))
            fused.append(hit)
    added = by_meaning.keys() - {document(hit) for hit in words.items}
    if added and words.total > len(words.items):
        also = tx.search(query, among=sorted(added), limit=len(added), offset=0, **filters)
        added -= {document(hit) for hit in also.items}
    hits = Hits(fused[offset : offset + limit], words.total + len(added), words.matcher)
    hits.pending = near.pending
    return hits


def _fused(words: list[Hit], near: list[Hit], query: Query) -> list[Hit]:
    """Both lists as one."""
    scores: dict[int, float] = {}
    hits: dict[int, Hit] = {}
    for place, hit in enumerate(near, start=1):
        hits[document(hit)] = hit
        scores[document(hit)] = 1 / (RANK + place)
    for place, hit in enumerate(words, start=1):
        doc = document(hit)
        hits.setdefault(doc, hit)
        scores[doc] = scores.get(doc, 0.0) + _weight(hit, query) / (RANK + place)
    for doc, hit in hits.items():
        hit.score = scores[doc]
    return sorted(hits.values(), key=lambda hit: (hit.score, document(hit)), reverse=True)


def _weight(hit: Hit, query: Query) -> float:
    return WORDS_WEIGHT * (hit.words / max(1, len(query.words))) ** 3
