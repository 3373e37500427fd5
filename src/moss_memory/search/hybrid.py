"""Search by vectors, and by vectors and words together, with absolute scores, so that pages are consistent.

The similarity D of a document is half the cosine of its best passage plus half the mean cosine of all its passages. In
mode `both` its score is D + 0.6 · I^1.5; I is the share of the question's words that it contains, weighted by idf. A
document with one of many words ranks below one that is similar, and a document with all words ranks first.
"""

from __future__ import annotations

from operator import itemgetter

from moss_memory.search.embedding.embedder import embedder
from moss_memory.search.embedding.encoder import FLOOR

from .embedding_queue import embed_pending, find_unembedded
from .expression import positive_operands
from .hits import Document, Hit, Hits, codes_of
from .matcher import Matcher
from .ranking import best_page
from .vectors import Similarities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.storage.engine import CallContext, ReadTransaction

    from .embedding_queue import FilterScope, VectorEngine
    from .request import SearchRequest
    from .vectors import VectorRows

    class Scope(FilterScope, Protocol):
        """The filters of a search, and the documents within them."""

        sources: list[SearchSource]

        def among(self, docs: list[int]) -> set[int]:
            """Return those of the documents that are within the filters."""

        def half_scored(self, docs: list[int]) -> set[int]:
            """Return those of the documents that get half of their score."""

        def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
            """Return the last change of documents, comparable across sources; at most the newest N of each source."""

    class Question(Protocol):
        """A natural question looked up in an engine's index."""

        def forms(self) -> list[str]:
            """Return every form of every word that is in the index."""

        def everything(self, scope: Any) -> list[tuple[int, float, float]]:
            """Return every document within the filters that contains any of the words.

            Each as its number, its bm25 divided by its maximum, and the share of the words that it contains,
            weighted by idf.
            """

    class WordSearch(Protocol):
        """The search by words of one engine, in one transaction."""

        engine: VectorEngine
        tx: ReadTransaction
        call: CallContext
        identity: object
        vector_rows: VectorRows

        def begin(self) -> None:
            """Begin the snapshot of the transaction."""

        def scope(self, request: SearchRequest) -> Scope:
            """Return the filters of a request, including the negated parts of its query."""

        def question(self, words: Sequence[str]) -> Question:
            """Look up the words of a natural question."""

        def by_words(self, request: SearchRequest) -> Hits:
            """Return one page of hits by words alone."""


WORDS_WEIGHT = 0.6
WORDS_POWER = 1.5
MEANING_ALONE = 0.25
"""The least similarity of the best hit if no word of the question occurs in the store.

Of 207 notes, 97 % of real questions have a hit above it, and 82 % of random letters have none.
"""
NEAREST = 500
"""The maximum number of hits by similarity alone."""

_FIRST_BATCH = 512


def by_meaning(words: WordSearch, request: SearchRequest) -> Hits:
    """Return the documents that are similar to the query, and in mode `both` also those that contain its words.

    Documents below the similarity floor of the model are no hits. Deleted documents have no vectors, so they are found
    by their words alone.
    """
    words.begin()  # before the model is loaded, during which others may write
    model = embedder(words.call.config.model_folder)
    query = request.query
    scope = words.scope(request)
    matrix = words.engine.vectors()
    parts = matrix.read(words.vector_rows, model, words.identity)
    vector = matrix.question(model, query.meaning)
    fresh, pending = embed_pending(words.engine, words.tx, scope, words.call, model, matrix)
    similarities = Similarities([*parts, fresh], vector, model.floor)
    question = words.question(query.words)
    forms = question.forms()
    near = _find_nearest(scope, similarities)
    if not forms and near and near[0][0] < MEANING_ALONE:
        near = []
    if request.mode == "both":
        ranked, total = _rank_both(scope, question, similarities, near, request)
    else:
        if pending:
            near += _find_unembedded_by_words(words, request, near, model.name, matrix.other_models)
        halved = scope.half_scored([doc for _, doc in near])
        near = [(score / 2 if doc in halved else score, doc) for score, doc in near]
        near.sort(key=itemgetter(0), reverse=True)
        ranked, total = near[request.offset : request.top_k], len(near)
    matcher = Matcher(forms, () if query.expression is None else positive_operands(query.expression))
    items = [Hit(Document.of(doc), score, similarities.offset(doc)) for score, doc in ranked]
    return Hits(items, total, matcher, pending=pending)


def _find_nearest(scope: Scope, similarities: Similarities) -> list[tuple[float, int]]:
    """Return the most similar documents within the filters as `(similarity, doc)`, best first, at most `NEAREST`."""
    import numpy as np

    values, all_docs = similarities.values, similarities.docs
    enough = np.flatnonzero((values >= FLOOR) & np.isin(codes_of(all_docs), [source.code for source in scope.sources]))
    order = enough[np.lexsort((-all_docs[enough], -values[enough]))]
    docs, ordered = all_docs[order].tolist(), values[order].tolist()
    found: list[tuple[float, int]] = []
    start, size = 0, _FIRST_BATCH
    while start < len(docs) and len(found) < NEAREST:
        batch = docs[start : start + size]
        inside = scope.among(batch)
        found += [(value, doc) for value, doc in zip(ordered[start:], batch, strict=False) if doc in inside]
        start, size = start + size, size * 4
    return found[:NEAREST]


def _rank_both(
    scope: Scope, question: Question, similarities: Similarities, near: list[tuple[float, int]], request: SearchRequest
) -> tuple[list[tuple[float, int]], int]:
    """Return one page of the hits by words or similarity as `(score, doc)`, and their total."""
    import numpy as np

    lexical = question.everything(scope)
    lexical_docs = np.array([doc for doc, _, _ in lexical], dtype=np.int64)
    shares = np.array([share for _, _, share in lexical])
    scores = similarities.of(lexical_docs) + WORDS_WEIGHT * shares**WORDS_POWER
    known = set(lexical_docs.tolist())
    semantic = [((similarity, 0.0), doc) for similarity, doc in near if doc not in known]
    total = len(lexical) + len(semantic)

    def find_best(most: int) -> tuple[list[tuple[tuple[float, float], int]], int]:
        least = np.partition(scores, -most)[-most] if len(scores) > most else -np.inf
        best = np.flatnonzero(scores >= least).tolist()
        found = [((float(scores[at]), lexical[at][1]), lexical[at][0]) for at in best]
        return [one for one in found + semantic if one[0][0] >= least], total

    ranked, _ = best_page(find_best, request, scope)
    return [(key[0], doc) for key, doc in ranked], total


def _find_unembedded_by_words(
    words: WordSearch, request: SearchRequest, near: list[tuple[float, int]], model: str, other_models: bool
) -> list[tuple[float, int]]:
    """Return the hits by words among the documents that have no vector yet, with score 0."""
    hits = words.by_words(request.replace(limit=NEAREST, offset=0)).items
    docs = [hit.document.number for hit in hits]
    known = {doc for _, doc in near}
    unembedded = find_unembedded(words.tx, docs, model, other_models)
    return [(0.0, doc) for doc in docs if doc in unembedded and doc not in known]
