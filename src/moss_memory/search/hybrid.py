"""Search by meaning, and by meaning and words together: by absolute scores, so that pages agree.

A document's nearness to a question is D, half the cosine of its best passage and half the mean of all. By both, its
score is D + 0.6 · I^1.5, where I is the share of the question's words that it holds, each counting as much as it is
rare. So a text with one of many words yields to the one that is meant, and one that alone holds all of them comes
first.
"""

from __future__ import annotations

from moss_memory.search.embedding.embedder import embedder
from moss_memory.search.embedding.encoder import FLOOR

from .embedding_queue import make_waiting, waiting
from .expression import positive_operands
from .hits import Document, Hit, Hits, codes_of
from .matcher import Matcher
from .ranking import page_of
from .vectors import Similarities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from moss_memory.registry.tool_groups import SearchSource
    from moss_memory.storage.engine import CallContext, ReadTransaction

    from .embedding_queue import Within, WithVectors
    from .request import SearchRequest
    from .vectors import VectorRows

    class Scope(Within, Protocol):
        """The filters of a search, and the documents within them."""

        sources: list[SearchSource]

        def among(self, docs: list[int]) -> set[int]:
            """Those of the documents that are within the filters."""

        def changes(self, docs: list[int], most: int) -> dict[int, tuple[int, int, int]]:
            """When documents last changed, comparable across sources; of each the newest, as many as are wanted."""

    class Question(Protocol):
        """A natural question in the terms of an engine's index."""

        def forms(self) -> list[str]:
            """Every form of every word that there is."""

        def everything(self, scope: Any) -> list[tuple[int, float, float]]:
            """Every document within the filters that holds any of the words: its number, its bm25 over the ideal one,
            and the share of what the words say that it holds."""

    class Searching(Protocol):
        """How one engine looks for words, in one transaction."""

        engine: WithVectors
        tx: ReadTransaction
        call: CallContext
        identity: object
        vector_rows: VectorRows

        def begin(self) -> None:
            """Lets the transaction see one state of the store from now on."""

        def scope(self, request: SearchRequest) -> Scope:
            """The filters of a request, without what its query does not want."""

        def question(self, words: Sequence[str]) -> Question:
            """A natural question."""

        def by_words(self, request: SearchRequest) -> Hits:
            """One page of what words alone find."""


WORDS_WEIGHT = 0.6
WORDS_POWER = 1.5
NEAREST = 500
"""At most so many are found by their meaning alone."""

_FIRST_LOOK = 512


def by_meaning(searching: Searching, request: SearchRequest) -> Hits:
    """What is near in meaning to the query, and with mode `both` also what holds its words.

    What is too far away to be meant is not found; the model says how far that is. Deleted documents have no vectors,
    so they are found by their words alone.
    """
    searching.begin()  # now, not when the model is loaded and others have written
    model = embedder(searching.call.config.model_folder)
    query = request.query
    scope = searching.scope(request)
    matrix = searching.engine.vectors()
    parts = matrix.read(searching.vector_rows, model, searching.identity)
    asked = matrix.question(model, query.meaning)
    fresh, pending = make_waiting(searching.engine, searching.tx, scope, searching.call, model, matrix)
    compared = Similarities([*parts, fresh], asked, model.floor)
    question = searching.question(query.words)
    near = _near(scope, compared)
    if request.mode == "both":
        ranked, total = _both(scope, question, compared, near, request)
    else:
        if pending:
            near += _waiting(searching, request, near, model.name, matrix.other_models)
        ranked, total = near[request.offset : request.top_k], len(near)
    matcher = Matcher(question.forms(), () if query.expression is None else positive_operands(query.expression))
    items = [Hit(Document.of(doc), score, compared.place(doc)) for score, doc in ranked]
    return Hits(items, total, matcher, pending=pending)


def _near(scope: Scope, compared: Similarities) -> list[tuple[float, int]]:
    """The first documents within the filters that are near enough, nearest first, as `(nearness, doc)`."""
    import numpy as np

    enough = np.flatnonzero(
        (compared.nearness >= FLOOR) & np.isin(codes_of(compared.docs), [source.code for source in scope.sources])
    )
    order = enough[np.lexsort((-compared.docs[enough], -compared.nearness[enough]))]
    docs, nearness = compared.docs[order].tolist(), compared.nearness[order].tolist()
    found: list[tuple[float, int]] = []
    start, size = 0, _FIRST_LOOK
    while start < len(docs) and len(found) < NEAREST:
        looked_at = docs[start : start + size]
        inside = scope.among(looked_at)
        found += [(near, doc) for near, doc in zip(nearness[start:], looked_at, strict=False) if doc in inside]
        start, size = start + size, size * 4
    return found[:NEAREST]


def _both(
    scope: Scope, question: Question, compared: Similarities, near: list[tuple[float, int]], request: SearchRequest
) -> tuple[list[tuple[float, int]], int]:
    """One page of what words or meaning find, as `(score, doc)`, and how many there are."""
    import numpy as np

    worded = question.everything(scope)
    words_docs = np.array([doc for doc, _, _ in worded], dtype=np.int64)
    share = np.array([held for _, _, held in worded])
    scores = compared.of(words_docs) + WORDS_WEIGHT * share**WORDS_POWER
    holding = set(words_docs.tolist())
    meant = [((nearness, 0.0), doc) for nearness, doc in near if doc not in holding]
    least = np.partition(scores, -request.top_k)[-request.top_k] if len(scores) > request.top_k else -np.inf
    best = np.flatnonzero(scores >= least).tolist()
    found = [((float(scores[at]), worded[at][1]), worded[at][0]) for at in best]
    ranked = page_of(found + meant, request, scope.changes)
    return [(key[0], doc) for key, doc in ranked], len(worded) + len(meant)


def _waiting(
    searching: Searching, request: SearchRequest, near: list[tuple[float, int]], model: str, other_models: bool
) -> list[tuple[float, int]]:
    """After what meaning found, what words find among the documents that have no vector yet."""
    worded = searching.by_words(request.replace(limit=NEAREST, offset=0)).items
    docs = [hit.document.number for hit in worded]
    meant = {doc for _, doc in near}
    without = waiting(searching.tx, docs, model, other_models)
    return [(0.0, doc) for doc in docs if doc in without and doc not in meant]
