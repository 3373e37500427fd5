"""Search by meaning on SQLite: vectors beside the texts, compared in memory, made off everybody's write path.

Triggers queue what has no vector and remove the vector of what has changed. Vectors are made by searches, for a moment,
and by `index`; the write lock is held only while those that are ready are written. In memory they are one matrix; what
another process adds is read at the next search, and what is gone is noticed when it would be shown.
"""

from __future__ import annotations

import time

import apsw

from ...errors import MossError
from ...families import SOURCES
from ...search.embed import embedder
from ..vector_matrix import VectorMatrix, decoded, encoded
from .scope import Scope, json_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ...search.embed import Embedder, Vectors
    from ..engine import Call
    from ..vector_matrix import Reading
    from .engine import SqliteEngine

EMBED_S = 2.0
"""How long a search makes missing vectors before it answers."""

BATCH = 16
"""How many vectors are made before they are written together."""

_MOST_WAITING = 1000
_FIRST_LOOK = 512
_JSON_LIST = "(select value from json_each(:moss_docs))"


class Nearest:
    """The documents nearest to a question, as `(doc, cosine)`, which were prepared for it, and how many were not."""

    __slots__ = ("items", "just_made", "pending")

    def __init__(self, items: list[tuple[int, float]], just_made: set[int], pending: int) -> None:
        self.items = items
        self.just_made = just_made
        self.pending = pending


def nearest(
    engine: SqliteEngine,
    connection: apsw.Connection,
    call: Call,
    text: str,
    *,
    sources: Sequence[str],
    workspace_norm: str | None = None,
    include_deleted: bool = False,
    where: Sequence[str] = (),
    parameters: dict[str, Any] | None = None,
    limit: int,
    now: int = 0,
) -> Nearest:
    """The first `limit` documents within the filters that mean what the text says, in an order that never changes.

    What is too far away to be meant is not found; the model says how far that is. Deleted documents have no vectors,
    so `include_deleted` finds none of them here.
    """
    # The snapshot begins with the first row read: now, not when the model is loaded and others have written.
    connection.execute("select seq from unembedded limit 1").fetchone()
    model = embedder()
    scope = Scope(
        connection, sources, workspace_norm, include_deleted, where,
        {**(parameters or {}), "moss_now": now, "moss_workspace": workspace_norm},
    )  # fmt: skip
    matrix = engine.vectors()
    reading = matrix.read(connection, model, engine.identity)
    asked = matrix.question(model, text)
    fresh, pending = _make_waiting(engine, scope, call, model, matrix)
    found = [(row[0], row[1]) for row in _ranked(scope, reading, asked, limit, model.floor)]
    found += [pair for pair in _scored(fresh, asked) if pair[1] >= model.floor]
    found.sort(key=lambda pair: (-pair[1], -pair[0]))
    return Nearest(found[:limit], {doc for doc, _ in fresh}, pending)


def waiting(connection: apsw.Connection, docs: Sequence[int], other_models: bool) -> set[int]:
    """Which of the documents have no vector of this model yet."""
    found = _column(connection, f"select doc from unembedded where doc in {_JSON_LIST}", moss_docs=json_list(docs))
    if other_models:
        sql = f"select doc from vectors where doc in {_JSON_LIST} and model <> :moss_model"
        found += _column(connection, sql, moss_docs=json_list(docs), moss_model=embedder().name)
    return set(found)


def _ranked(scope: Scope, reading: Reading, asked: Vectors, limit: int, floor: float) -> list[tuple[int, float]]:
    """Documents of the matrix, nearest first, that are still as they were and within the filters."""
    found: list[tuple[int, float]] = []
    order = reading.order(asked, [source.code for source in scope.sources], floor)
    start, size = 0, max(_FIRST_LOOK, limit)
    while start < len(order) and len(found) < limit:
        looked_at = order[start : start + size]
        kept = _still_there(scope, reading, looked_at)
        found += reading.exact(kept, asked)
        start += size
        size *= 4
    return found


def _still_there(scope: Scope, reading: Reading, rows: Any) -> Any:
    """Those rows of the matrix that this transaction sees and the filters let through."""
    docs = reading.docs[rows]
    condition = scope.documents("vectors.doc")
    sql = f"select doc, seq from vectors where doc in {_JSON_LIST}"
    listed = {"moss_docs": json_list(docs.tolist())}
    through = dict(scope.rows(sql + condition, **listed))
    kept = [row for row, doc in zip(rows.tolist(), docs.tolist(), strict=True) if through.get(doc) == reading.seqs[row]]
    if len(kept) < len(rows):
        seen: int = (scope.rows("select seq from sqlite_sequence where name = 'vectors'") or [(0,)])[0][0]
        there = dict(scope.rows(sql, **listed))
        # What was numbered before this transaction began and is not there is gone for good.
        reading.forget(
            [
                row
                for row, doc in zip(rows.tolist(), docs.tolist(), strict=True)
                if reading.seqs[row] <= seen and there.get(doc) != reading.seqs[row]
            ]
        )
    return kept


def _scored(fresh: list[tuple[int, Vectors]], asked: Vectors) -> list[tuple[int, float]]:
    return [(doc, float((vector.astype("float64") * asked).sum())) for doc, vector in fresh]


def _make_waiting(
    engine: SqliteEngine, scope: Scope, call: Call, model: Embedder, matrix: VectorMatrix
) -> tuple[list[tuple[int, Vectors]], int]:
    """Makes vectors of what waits within the filters, newest first, until time is up; and how many still wait."""
    source = _waiting_within(scope, matrix.other_models)
    values = {"moss_model": model.name}
    rows = scope.rows(f"select doc from ({source}) order by seq desc limit {_MOST_WAITING}", **values)
    docs: list[int] = [doc for (doc,) in rows]
    if not docs:
        return [], 0
    count: int = scope.rows(f"select count(*) from ({source})", **values)[0][0]
    made: list[tuple[int, str, bytes | None]] = []
    deadline = time.monotonic() + EMBED_S
    for doc, text in _texts(scope.connection, docs):
        call.check_cancelled()
        made.append((doc, text, matrix.made_of(model, doc, text)))
        if time.monotonic() >= deadline:
            break
    if not save(engine, call, model, made, patience_s=0.0):
        matrix.keep(made)
    vectors = [(doc, decoded(blob)[0]) for doc, _, blob in made if blob is not None]
    return vectors, count - len(made)


def _waiting_within(scope: Scope, other_models: bool) -> str:
    """What has no vector of this model, with numbers that rise from the oldest to the newest."""
    sql = f"select seq, doc from unembedded where true{scope.documents('unembedded.doc')}"
    if other_models:
        sql += f" union all select -seq, doc from vectors where model <> :moss_model{scope.documents('vectors.doc')}"
    return sql


def _texts(connection: apsw.Connection, docs: list[int]) -> Iterator[tuple[int, str]]:
    """Each document that is there, with what of it has a meaning: its title and its text."""
    for start in range(0, len(docs), BATCH):
        part = docs[start : start + BATCH]
        found = texts_of(connection, part)
        yield from ((doc, found[doc]) for doc in part if doc in found)


def texts_of(connection: apsw.Connection, docs: Sequence[int]) -> dict[int, str]:
    """What of each live document has a meaning: its title and its text."""
    found = {}
    for source in SOURCES.values():
        rows = [doc >> 4 for doc in docs if doc & 15 == source.code]
        if rows:
            sql = (
                f"select row_id * 16 + {source.code}, {source.title}, {source.body} from {source.table}"
                f" where row_id in {_JSON_LIST} and deleted_at is null"
            )
            for doc, title, body in connection.execute(sql, {"moss_docs": json_list(rows)}):
                found[doc] = "\n".join(part for part in (title, body) if part)
    return found


def save(
    engine: SqliteEngine,
    call: Call,
    model: Embedder,
    made: list[tuple[int, str, bytes | None]],
    *,
    patience_s: float,
) -> bool:
    """Writes vectors whose texts are still the same; false, and nothing, when the store cannot be written now."""
    try:
        tx = engine.begin_write(patience_s=patience_s, call=call)
    except (MossError, apsw.Error, OSError):
        return False
    try:
        _write(tx.connection, model.name, made)
        tx.commit()
    except (MossError, apsw.Error, OSError):
        tx.rollback()
        return False
    except BaseException:
        tx.rollback()
        raise
    finally:
        tx.release()
    return True


def _write(connection: apsw.Connection, model: str, made: list[tuple[int, str, bytes | None]]) -> None:
    docs = [doc for doc, _, _ in made]
    there = texts_of(connection, docs)
    wanted = waiting(connection, docs, True)
    for doc, text, blob in made:
        if doc in wanted and there.get(doc, text) == text:
            connection.execute("delete from vectors where doc = ?", (doc,))
            connection.execute("delete from unembedded where doc = ?", (doc,))
            if blob is not None and doc in there:
                connection.execute("insert into vectors (doc, model, vector) values (?, ?, ?)", (doc, model, blob))


def index(engine: SqliteEngine, call: Call, *, patience_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
    """Makes the vectors that are missing, newest first, at most so many; how many it made, and how many still wait.

    What was made before an interruption stays. With `rebuild` all are made again.
    """
    model = embedder()
    if rebuild:
        _queue_all(engine, call, patience_s)
    done = 0
    total: int | None = None
    while True:
        batch, left = _next_batch(engine, call, BATCH if most is None else min(BATCH, most - done))
        total = done + left if total is None else max(total, done + left)
        if call.progress is not None:
            call.progress(done, total)
        if not batch:
            return done, left
        made: list[tuple[int, str, bytes | None]] = []
        for doc, text in batch:
            call.check_cancelled()
            made.append((doc, text, encoded(model.embed([text])) if text.strip() else None))
        if not save(engine, call, model, made, patience_s=patience_s):
            raise MossError("STORAGE_BUSY", "the store cannot be written at the moment; what was made before is kept")
        done += len(made)


def _next_batch(engine: SqliteEngine, call: Call, size: int) -> tuple[list[tuple[int, str]], int]:
    """The newest documents without a vector of this model, with their texts, and how many there are."""
    tx = engine.begin_read(snapshot=True, call=call)
    try:
        model = {"moss_model": embedder().name}
        others = tx.connection.execute("select 1 from vectors where model <> :moss_model limit 1", model).fetchone()
        source = "select seq, doc from unembedded"
        if others:
            source += " union all select -seq, doc from vectors where model <> :moss_model"
        left = _column(tx.connection, f"select count(*) from ({source})", **model)[0]
        docs = _column(tx.connection, f"select doc from ({source}) order by seq desc limit {size}", **model)
        texts = texts_of(tx.connection, docs)
        return [(doc, texts.get(doc, "")) for doc in docs], left
    finally:
        tx.rollback()
        tx.release()


def _queue_all(engine: SqliteEngine, call: Call, patience_s: float) -> None:
    tx = engine.begin_write(patience_s=patience_s, call=call)
    try:
        tx.connection.execute("delete from vectors")
        tx.connection.execute("delete from unembedded")
        tx.connection.execute(
            "insert into unembedded (doc) select doc from embeddable order by updated_at, change_seq, doc"
        )
        tx.commit()
    except BaseException:
        tx.rollback()
        raise
    finally:
        tx.release()


def _column(connection: apsw.Connection, sql: str, **values: Any) -> list[int]:
    return [row[0] for row in connection.execute(sql, values)]
