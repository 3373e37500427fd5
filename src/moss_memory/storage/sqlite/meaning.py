"""Search by meaning on SQLite, and by meaning and words together: by absolute scores, so that pages agree.

A document's nearness to a question is D, half the cosine of its best passage and half the mean of all. By both, its
score is D + 0.6 · I^1.5, where I is the share of the question's words that it holds, each counting as much as it is
rare. So a text with one of many words yields to the one that is meant, and one that alone holds all of them comes
first.
"""

from __future__ import annotations

from ...meaning.embedder import embedder
from ...meaning.encoder import FLOOR
from ...query.expression import wanted
from ...query.hits import Document, Hit, Hits, codes_of
from ...query.matcher import Matcher
from .scope import Scope, json_list
from .search import Question, by_words, in_order
from .vector_matrix import Compared
from .vectors import make_waiting, waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from ...query.request import Request
    from ..engine import Call
    from .engine import SqliteEngine

WORDS_WEIGHT = 0.6
WORDS_POWER = 1.5
NEAREST = 500
"""At most so many are found by their meaning alone."""

_FIRST_LOOK = 512


def by_meaning(engine: SqliteEngine, connection: apsw.Connection, call: Call, request: Request, now: int) -> Hits:
    """What is near in meaning to the query, and with mode `both` also what holds its words.

    What is too far away to be meant is not found; the model says how far that is. Deleted documents have no vectors,
    so they are found by their words alone.
    """
    # The snapshot begins with the first row read: now, not when the model is loaded and others have written.
    connection.execute("select seq from unembedded limit 1").fetchone()
    model = embedder(call.config.model_folder)
    query = request.query
    scope = Scope(connection, request, now, without=query.unwanted)
    matrix = engine.vectors()
    parts = matrix.read(connection, model, engine.identity)
    asked = matrix.question(model, query.meaning)
    fresh, pending = make_waiting(engine, scope, call, model, matrix)
    compared = Compared([*parts, fresh], asked, model.floor)
    question = Question(connection, query.words)
    near = _near(scope, compared)
    if request.mode == "both":
        ranked, total = _both(scope, question, compared, near, request)
    else:
        if pending:
            near += _waiting(connection, request, now, near, model.name, matrix.other_models)
        ranked, total = near[request.offset : request.most], len(near)
    matcher = Matcher(question.forms(), () if query.expression is None else wanted(query.expression))
    items = [Hit(Document.of(doc), score, compared.place(doc)) for score, doc in ranked]
    return Hits(items, total, matcher, pending=pending)


def _near(scope: Scope, compared: Compared) -> list[tuple[float, int]]:
    """The first documents within the filters that are near enough, nearest first, as `(nearness, doc)`."""
    import numpy as np

    enough = np.flatnonzero(
        (compared.nearness >= FLOOR) & np.isin(codes_of(compared.docs), [source.code for source in scope.sources])
    )
    order = enough[np.lexsort((-compared.docs[enough], -compared.nearness[enough]))]
    docs, nearness = compared.docs[order].tolist(), compared.nearness[order].tolist()
    found: list[tuple[float, int]] = []
    start, size = 0, _FIRST_LOOK
    condition = scope.documents("value")
    while start < len(docs) and len(found) < NEAREST:
        looked_at = docs[start : start + size]
        sql = f"select value from json_each(:moss_docs) where true{condition}"
        inside = {doc for (doc,) in scope.rows(sql, moss_docs=json_list(looked_at))}
        found += [(near, doc) for near, doc in zip(nearness[start:], looked_at, strict=False) if doc in inside]
        start, size = start + size, size * 4
    return found[:NEAREST]


def _both(
    scope: Scope, question: Question, compared: Compared, near: list[tuple[float, int]], request: Request
) -> tuple[list[tuple[float, int]], int]:
    """One page of what words or meaning find, as `(score, doc)`, and how many there are."""
    import numpy as np

    worded = question.everything(scope)
    words_docs = np.array([doc for doc, _, _ in worded], dtype=np.int64)
    share = np.array([held for _, _, held in worded])
    scores = compared.of(words_docs) + WORDS_WEIGHT * share**WORDS_POWER
    holding = set(words_docs.tolist())
    meant = [((nearness, 0.0), doc) for nearness, doc in near if doc not in holding]
    least = np.partition(scores, -request.most)[-request.most] if len(scores) > request.most else -np.inf
    best = np.flatnonzero(scores >= least).tolist()
    found = [((float(scores[at]), worded[at][1]), worded[at][0]) for at in best]
    ranked = in_order(scope, found + meant, request)
    return [(key[0], doc) for key, doc in ranked], len(worded) + len(meant)


def _waiting(
    connection: apsw.Connection,
    request: Request,
    now: int,
    near: list[tuple[float, int]],
    model: str,
    other_models: bool,
) -> list[tuple[float, int]]:
    """After what meaning found, what words find among the documents that have no vector yet."""
    worded = by_words(connection, request.replace(limit=NEAREST, offset=0), now).items
    docs = [hit.document.number for hit in worded]
    meant = {doc for _, doc in near}
    without = waiting(connection, docs, model, other_models)
    return [(0.0, doc) for doc in docs if doc in without and doc not in meant]
