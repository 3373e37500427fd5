"""Compute missing vectors outside of the transactions that write texts.

Triggers queue documents without a vector and delete the vector of a changed document. Vectors are computed by searches,
for at most `EMBED_S`, and by `index`, by one thread of a process at a time. The write lock is held only while computed
vectors are stored.
"""

from __future__ import annotations

import time

from moss_memory.errors import MossError
from moss_memory.registry.tool_groups import SEARCH_SOURCES
from moss_memory.search.embedding.embedder import embedder

from .request import rows_in_source, sql_number
from .vectors import ChunkVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from moss_memory.search.embedding.encoder import Embedder
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Engine, ReadTransaction, Transaction

    from .vectors import VectorMatrix

    Text = tuple[str, str]
    """The title and the body of a document."""
    Embedded = list[tuple[int, Text, bytes | None]]
    """Documents, the text that each had, and its encoded chunks."""

    class VectorEngine(Engine, Protocol):
        """An engine that keeps vectors in memory."""

        def vectors(self) -> VectorMatrix:
            """Return the vectors of its database."""


EMBED_S = 2.0
"""The time that a search spends on missing vectors before it answers."""

BATCH = 16
"""The number of vectors that are stored in one transaction."""

_POLL_S = 0.05


def count_unembedded(tx: ReadTransaction) -> int:
    """Return the number of texts that wait for their vectors."""
    return int(tx.value("select count(*) from unembedded"))


def find_unembedded(tx: ReadTransaction, docs: Sequence[int], model: str, other_models: bool) -> set[int]:
    """Return those of the documents that have no vector of this model."""
    among = tx.sql_in("doc", "moss_docs")
    values = {"moss_docs": list(docs)}
    missing_docs = _column(tx, f"select doc from unembedded where {among}", values)
    if other_models:
        sql = f"select doc from vectors where {among} and model <> :moss_model"
        missing_docs += _column(tx, sql, {**values, "moss_model": model})
    return set(missing_docs)


def embed_pending(
    engine: VectorEngine,
    tx: ReadTransaction,
    call: CallContext,
    model: Embedder,
    matrix: VectorMatrix,
    docs: list[int],
) -> tuple[ChunkVectors, int]:
    """Embed queued documents for at most `EMBED_S`; also return the number of those that were embedded.

    If another search is embedding, this one waits for it, because both may need the same documents, and embeds nothing
    if the time runs out.
    """
    embedded: Embedded = []
    deadline = time.monotonic() + EMBED_S
    if _acquire_lock(matrix, call, deadline):
        try:
            for doc, text in _read_texts(tx, docs):
                call.check_cancelled()
                embedded.append((doc, text, matrix.embed(model, doc, *text)))
                if time.monotonic() >= deadline:
                    break
            save(engine, call, model, embedded, timeout_s=0.0)
        finally:
            matrix.embedding_lock.release()
    ready = [(0, doc, blob) for doc, _, blob in embedded if blob is not None]
    return ChunkVectors.of(ready, model.dimensions), len(embedded)


def _acquire_lock(matrix: VectorMatrix, call: CallContext, deadline: float) -> bool:
    """Acquire the embedding lock; return False if the deadline passes."""
    while not matrix.embedding_lock.acquire(timeout=max(0.0, min(_POLL_S, deadline - time.monotonic()))):
        call.check_cancelled()
        if time.monotonic() >= deadline:
            return False
    return True


def _read_texts(tx: ReadTransaction, docs: list[int]) -> Iterator[tuple[int, Text]]:
    """Yield each document that exists with its title and body, read in batches."""
    for start in range(0, len(docs), BATCH):
        part = docs[start : start + BATCH]
        texts = texts_of(tx, part)
        yield from ((doc, texts[doc]) for doc in part if doc in texts)


def texts_of(tx: ReadTransaction, docs: Sequence[int]) -> dict[int, Text]:
    """Return the title and body of each of these documents that is not deleted."""
    texts = {}
    for source in SEARCH_SOURCES.values():
        rows = rows_in_source(source, docs)
        if not rows:
            continue
        sql = (
            f"select {sql_number(source)}, {source.title}, {source.body} from {source.table} where deleted_at is null"
            f" and {tx.sql_in('row_id', 'moss_rows')}"
        )
        for doc, title, body in tx.rows(sql, {"moss_rows": rows}):
            texts[doc] = (title or "", body or "")
    return texts


def save(
    engine: VectorEngine, call: CallContext, model: Embedder, embedded: Embedded, *, timeout_s: float
) -> MossError | None:
    """Store the vectors of texts that did not change meanwhile; return the error if the store cannot be written."""
    try:
        tx = engine.write_transaction(timeout_s=timeout_s, call=call)
        try:
            _write(tx, model.name, embedded)
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


def _write(tx: Transaction, model: str, embedded: Embedded) -> None:
    docs = [doc for doc, _, _ in embedded]
    # Lock the rows: a change of one of the texts deletes its row here, so later changes wait, earlier ones are seen.
    for table in ("unembedded", "vectors"):
        tx.run(f"update {table} set doc = doc where {tx.sql_in('doc', 'moss_docs')}", {"moss_docs": docs})
    pending = find_unembedded(tx, docs, model, True)
    stored = texts_of(tx, docs)
    for doc, text, blob in embedded:
        if doc in pending and stored.get(doc, text) == text:
            tx.run("delete from vectors where doc = :doc", {"doc": doc})
            tx.run("delete from unembedded where doc = :doc", {"doc": doc})
            if blob is not None and doc in stored:
                tx.run(
                    "insert into vectors (doc, model, vector) values (:doc, :model, :vector)",
                    {"doc": doc, "model": model, "vector": blob},
                )


def index(
    engine: VectorEngine, call: CallContext, *, timeout_s: float, most: int | None, rebuild: bool
) -> tuple[int, int]:
    """Compute at most `most` missing vectors, newest first; return the number computed and the number left.

    Vectors computed before an interruption are kept. With `rebuild` all are computed again.
    """
    model = embedder(call.config.model_folder)
    matrix = engine.vectors()
    if rebuild:
        _queue_all(engine, call, timeout_s)
        matrix.clear_cache()
    computed = 0
    total: int | None = None
    while True:
        batch, remaining = _next_batch(engine, call, model.name, BATCH if most is None else min(BATCH, most - computed))
        total = computed + remaining if total is None else max(total, computed + remaining)
        if call.progress is not None:
            call.progress(computed, total)
        if not batch:
            return computed, remaining
        _embed_batch(engine, call, model, matrix, batch, timeout_s)
        computed += len(batch)


def _embed_batch(
    engine: VectorEngine,
    call: CallContext,
    model: Embedder,
    matrix: VectorMatrix,
    batch: list[tuple[int, Text]],
    timeout_s: float,
) -> None:
    embedded: Embedded = []
    while not _acquire_lock(matrix, call, time.monotonic() + EMBED_S):
        pass
    try:
        for doc, text in batch:
            call.check_cancelled()
            embedded.append((doc, text, matrix.embed(model, doc, *text)))
        problem = save(engine, call, model, embedded, timeout_s=timeout_s)
        if problem is not None:
            raise problem
    finally:
        matrix.embedding_lock.release()


def _next_batch(engine: VectorEngine, call: CallContext, name: str, size: int) -> tuple[list[tuple[int, Text]], int]:
    """Return the newest documents without a vector of this model, with their texts, and the number of all of them."""
    tx = engine.read_transaction(snapshot=True, call=call)
    try:
        model = {"moss_model": name}
        source = "select seq, doc from unembedded"
        if tx.row("select 1 from vectors where model <> :moss_model limit 1", model):
            source += " union all select -seq, doc from vectors where model <> :moss_model"
        remaining = _column(tx, f"select count(*) from ({source}) as waits", model)[0]
        docs = _column(tx, f"select doc from ({source}) as waits order by seq desc limit {size}", model)
        texts = texts_of(tx, docs)
        return [(doc, texts.get(doc, ("", ""))) for doc in docs], remaining
    finally:
        tx.rollback()
        tx.release()


def _queue_all(engine: VectorEngine, call: CallContext, timeout_s: float) -> None:
    tx = engine.write_transaction(timeout_s=timeout_s, call=call)
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
