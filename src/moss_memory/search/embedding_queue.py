"""Vectors beside the texts, made off everybody's write path.

Triggers queue what has no vector and remove the vector of what has changed. Vectors are made by searches, for a moment,
and by `index`, by one at a time in a process; the write lock is held only while those that are ready are written.
"""

from __future__ import annotations

import time

from moss_memory.errors import MossError
from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.search.embedding.embedder import embedder

from .hits import number_of
from .vectors import Passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from moss_memory.search.embedding.encoder import Embedder
    from moss_memory.storage.engine import CallContext, Engine, ReadTransaction, Row, Transaction

    from .vectors import VectorMatrix

    Made = list[tuple[int, tuple[str, str], bytes | None]]
    """Documents, the title and text that each had, and the passages made of them."""

    class WithVectors(Engine, Protocol):
        """An engine that keeps vectors in memory."""

        def vectors(self) -> VectorMatrix:
            """Those of its database."""

    class Within(Protocol):
        """The filters of a search, in the words of its engine."""

        def rows(self, sql: str, **values: Any) -> list[Row]:
            """The rows of a statement, with the parameters of the filters and some more."""

        def documents(self, number: str) -> str:
            """All filters in SQL over a column that holds documents' numbers."""


EMBED_S = 2.0
"""How long a search makes missing vectors before it answers."""

BATCH = 16
"""How many vectors are made before they are written together."""

_TIMEOUT_S = 0.05
_MOST_WAITING = 1000


def waiting(tx: ReadTransaction, docs: Sequence[int], model: str, other_models: bool) -> set[int]:
    """Which of the documents have no vector of this model yet."""
    among = tx.sql_in("doc", "moss_docs")
    values = {"moss_docs": list(docs)}
    found = _column(tx, f"select doc from unembedded where {among}", values)
    if other_models:
        sql = f"select doc from vectors where {among} and model <> :moss_model"
        found += _column(tx, sql, {**values, "moss_model": model})
    return set(found)


def make_waiting(
    engine: WithVectors, tx: ReadTransaction, scope: Within, call: CallContext, model: Embedder, matrix: VectorMatrix
) -> tuple[Passages, int]:
    """Makes passages of what waits within the filters, newest first, until time is up; and how many still wait.

    Where another search is at it, this one waits, for it may be the same texts, and goes on without when time is up.
    """
    source = _waiting_within(scope, matrix.other_models)
    values = {"moss_model": model.name}
    rows = scope.rows(f"select doc from ({source}) as waits order by seq desc limit {_MOST_WAITING}", **values)
    docs: list[int] = [doc for (doc,) in rows]
    if not docs:
        return Passages.of([], model.dimensions), 0
    count: int = scope.rows(f"select count(*) from ({source}) as waits", **values)[0][0]
    made: Made = []
    deadline = time.monotonic() + EMBED_S
    if _acquired(matrix, call, deadline):
        try:
            for doc, written in _texts(tx, docs):
                call.check_cancelled()
                made.append((doc, written, matrix.made_of(model, doc, *written)))
                if time.monotonic() >= deadline:
                    break
            save(engine, call, model, made, timeout_s=0.0)
        finally:
            matrix.making.release()
    ready = [(0, doc, blob) for doc, _, blob in made if blob is not None]
    return Passages.of(ready, model.dimensions), count - len(made)


def _acquired(matrix: VectorMatrix, call: CallContext, deadline: float) -> bool:
    """Whether it is now this call that makes vectors; false when time is up."""
    while not matrix.making.acquire(timeout=max(0.0, min(_TIMEOUT_S, deadline - time.monotonic()))):
        call.check_cancelled()
        if time.monotonic() >= deadline:
            return False
    return True


def _waiting_within(scope: Within, other_models: bool) -> str:
    """What has no vector of this model, with numbers that rise from the oldest to the newest."""
    sql = f"select seq, doc from unembedded where true{scope.documents('unembedded.doc')}"
    if other_models:
        sql += f" union all select -seq, doc from vectors where model <> :moss_model{scope.documents('vectors.doc')}"
    return sql


def _texts(tx: ReadTransaction, docs: list[int]) -> Iterator[tuple[int, tuple[str, str]]]:
    """Each document that is there, with what of it has a meaning: its title and its text."""
    for start in range(0, len(docs), BATCH):
        part = docs[start : start + BATCH]
        found = texts_of(tx, part)
        yield from ((doc, found[doc]) for doc in part if doc in found)


def texts_of(tx: ReadTransaction, docs: Sequence[int]) -> dict[int, tuple[str, str]]:
    """What of each live document has a meaning: its title and its text."""
    found = {}
    for source in SEARCH_SOURCES.values():
        rows = [doc >> 4 for doc in docs if doc & 15 == source.code]
        if not rows:
            continue
        sql = (
            f"select {number_of(source)}, {source.title}, {source.body} from {source.table} where deleted_at is null"
            f" and {tx.sql_in('row_id', 'moss_rows')}"
        )
        for doc, title, body in tx.rows(sql, {"moss_rows": rows}):
            found[doc] = (title or "", body or "")
    return found


def save(engine: WithVectors, call: CallContext, model: Embedder, made: Made, *, timeout_s: float) -> MossError | None:
    """Write what was made of texts that are still the same; return why the store cannot be written now, if so."""
    try:
        tx = engine.begin_write(timeout_s=timeout_s, call=call)
        try:
            _write(tx, model.name, made)
            tx.commit()
        except BaseException:
            tx.rollback()
            raise
        finally:
            tx.release()
    except Exception as error:
        problem = error if isinstance(error, MossError) else engine.translate(error)
        if problem is None:
            raise
        return problem
    return None


def _write(tx: Transaction, model: str, made: Made) -> None:
    docs = [doc for doc, _, _ in made]
    # Whoever changes one of the texts removes it here: from now on he waits, and who came before is seen below.
    for table in ("unembedded", "vectors"):
        tx.run(f"update {table} set doc = doc where {tx.sql_in('doc', 'moss_docs')}", {"moss_docs": docs})
    wanted = waiting(tx, docs, model, True)
    there = texts_of(tx, docs)
    for doc, written, blob in made:
        if doc in wanted and there.get(doc, written) == written:
            tx.run("delete from vectors where doc = :doc", {"doc": doc})
            tx.run("delete from unembedded where doc = :doc", {"doc": doc})
            if blob is not None and doc in there:
                tx.run(
                    "insert into vectors (doc, model, vector) values (:doc, :model, :vector)",
                    {"doc": doc, "model": model, "vector": blob},
                )


def index(
    engine: WithVectors, call: CallContext, *, timeout_s: float, most: int | None, rebuild: bool
) -> tuple[int, int]:
    """Makes the vectors that are missing, newest first, at most so many; how many it made, and how many still wait.

    What was made before an interruption stays. With `rebuild` all are made again.
    """
    model = embedder(call.config.model_folder)
    matrix = engine.vectors()
    if rebuild:
        _queue_all(engine, call, timeout_s)
        matrix.forget_made()
    done = 0
    total: int | None = None
    while True:
        batch, left = _next_batch(engine, call, model.name, BATCH if most is None else min(BATCH, most - done))
        total = done + left if total is None else max(total, done + left)
        if call.progress is not None:
            call.progress(done, total)
        if not batch:
            return done, left
        _make(engine, call, model, matrix, batch, timeout_s)
        done += len(batch)


def _make(
    engine: WithVectors,
    call: CallContext,
    model: Embedder,
    matrix: VectorMatrix,
    batch: list[tuple[int, tuple[str, str]]],
    timeout_s: float,
) -> None:
    """Makes the passages of some documents and writes them."""
    made: Made = []
    while not _acquired(matrix, call, time.monotonic() + EMBED_S):
        pass
    try:
        for doc, written in batch:
            call.check_cancelled()
            made.append((doc, written, matrix.made_of(model, doc, *written)))
        problem = save(engine, call, model, made, timeout_s=timeout_s)
        if problem is not None:
            raise problem
    finally:
        matrix.making.release()


def _next_batch(
    engine: WithVectors, call: CallContext, name: str, size: int
) -> tuple[list[tuple[int, tuple[str, str]]], int]:
    """The newest documents without a vector of this model, with title and text, and how many there are."""
    tx = engine.begin_read(snapshot=True, call=call)
    try:
        model = {"moss_model": name}
        source = "select seq, doc from unembedded"
        if tx.row("select 1 from vectors where model <> :moss_model limit 1", model):
            source += " union all select -seq, doc from vectors where model <> :moss_model"
        left = _column(tx, f"select count(*) from ({source}) as waits", model)[0]
        docs = _column(tx, f"select doc from ({source}) as waits order by seq desc limit {size}", model)
        texts = texts_of(tx, docs)
        return [(doc, texts.get(doc, ("", ""))) for doc in docs], left
    finally:
        tx.rollback()
        tx.release()


def _queue_all(engine: WithVectors, call: CallContext, timeout_s: float) -> None:
    tx = engine.begin_write(timeout_s=timeout_s, call=call)
    try:
        tx.run("delete from vectors")
        tx.run("delete from unembedded")
        tx.run("insert into unembedded (doc) select doc from embeddable order by updated_at, change_seq, doc")
        tx.commit()
    except BaseException:
        tx.rollback()
        raise
    finally:
        tx.release()


def _column(tx: ReadTransaction, sql: str, values: dict[str, Any]) -> list[int]:
    return [row[0] for row in tx.rows(sql, values)]
