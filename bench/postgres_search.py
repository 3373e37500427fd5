"""Search on PostgreSQL, compared with the same search on SQLite, over 20,000 capsules."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.search.embedding.embedder import embedder
from moss_memory.search.vectors import encode_chunks
from moss_memory.storage.call import CallContext
from moss_memory.storage.engine import open_engine
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.file_kind import APPLICATION_ID
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.store import Store

from .database_server import run_server
from .measure import BenchmarkRow, medians_us, scratch_folder, worst_row
from .zipf_store import fill, vocabulary

if TYPE_CHECKING:
    from moss_memory.storage.engine import Engine

DOCUMENTS = 20_000
BATCH = 200
QUESTIONS: dict[str, tuple[int, ...]] = {
    "1 rare": (15_000,), "2 rare": (20_000, 21_000), "8 rare": (6_000, 8_000, 10_000, 12_000),
    "1 middling": (300,), "5 middling": (1_000, 1_200, 1_500, 1_800, 2_000),
    "1 common": (8,), "4 common": (10, 30, 60, 100), "8 most common": (0, 1, 2, 3, 5, 8, 13, 20),
}  # fmt: skip
"""Name of a question -> the ranks of its words; 0 is the most common word."""

_INSERT = (
    "insert into capsules (row_id, id, workspace_raw, workspace_norm, title, capsule_text, capsule_chars,"
    " tokens_estimate, created_at, updated_at, deleted_at, change_seq)"
    " values (:row_id, :id, 'w', 'w', :title, :text, 1000, 1, :row_id, :row_id, :deleted_at, :row_id)"
)
_VECTOR = "insert into vectors (doc, model, vector) values (:doc, :model, :vector)"


def run(rounds: int = 15) -> list[BenchmarkRow]:
    """Fill both engines with the same capsules and compare their searches."""
    with scratch_folder() as home, run_server() as url:
        connection = apsw.Connection(os.path.join(home, DATABASE))
        fill(connection, DOCUMENTS)
        connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
        connection.execute(f"pragma application_id = {APPLICATION_ID}")
        config = default_config(home).replace(url=url)
        engine = open_engine(config)
        call = CallContext(
            operation="fill", config=config, clock_ms=lambda: 0, new_id=lambda now_ms: "", cancelled=None, progress=None
        )
        _copy(connection, engine, call)
        has_meaning = _add_vectors(connection, engine, call)
        engine.close()
        connection.close()
        with Store(default_config(home)) as sqlite, Store(config) as postgres:
            return list(_compare_searches(postgres, sqlite, rounds, has_meaning=has_meaning))


def _copy(connection: apsw.Connection, engine: Engine, call: CallContext) -> None:
    """Copy the capsules to the server, in batches."""
    rows = connection.execute("select row_id, id, title, capsule_text, deleted_at from capsules order by row_id")
    names = ("row_id", "id", "title", "text", "deleted_at")
    while batch := [dict(zip(names, row, strict=True)) for row in islice(rows, BATCH)]:
        _write(engine, call, [(_INSERT, values) for values in batch])


def _write(engine: Engine, call: CallContext, statements: list[tuple[str, dict[str, Any]]]) -> None:
    tx = engine.write_transaction(timeout_s=60.0, call=call)
    try:
        for sql, values in statements:
            tx.run(sql, values)
        tx.commit()
    finally:
        tx.rollback()
        tx.release()


def _add_vectors(connection: apsw.Connection, engine: Engine, call: CallContext) -> bool:
    """Add a random vector to each document on both engines; return False if no model is installed."""
    try:
        model = embedder()
    except MossError:
        return False
    import numpy as np

    add_functions(connection)
    generator = np.random.default_rng(7)
    docs = [doc for (doc,) in connection.execute("select doc from unembedded order by doc")]
    rows = [
        {
            "doc": doc,
            "model": model.name,
            "vector": encode_chunks([0], generator.standard_normal((1, model.dimensions), dtype=np.float32)),
        }
        for doc in docs
    ]
    with connection:
        connection.executemany(_VECTOR, rows)
        connection.execute("delete from unembedded")
    for start in range(0, len(rows), BATCH):
        _write(engine, call, [(_VECTOR, row) for row in rows[start : start + BATCH]])
    _write(engine, call, [("delete from unembedded", {})])
    return True


def _compare_searches(postgres: Store, sqlite: Store, rounds: int, *, has_meaning: bool) -> Iterator[BenchmarkRow]:
    words = vocabulary(random.Random(7))  # noqa: S311
    title = f"search of {DOCUMENTS:,} documents on PostgreSQL, {{}} : on SQLite"
    queries = {name: " ".join([words[rank] for rank in ranks]) for name, ranks in QUESTIONS.items()}
    queries |= {"phrase": f'"{words[3]} {words[100]}"', "prefix": f"{words[5000][:6]}*"}
    times_us = {name: _search_both(postgres, sqlite, query, "keyword", rounds) for name, query in queries.items()}
    yield worst_row(title.format("by words"), times_us, 3)
    if has_meaning:
        query = f"{words[300]} {words[1000]}"
        times_us = {mode: _search_both(postgres, sqlite, query, mode, rounds) for mode in ("semantic", "both")}
        yield worst_row(title.format("by meaning"), times_us, 3)


def _search_both(postgres: Store, sqlite: Store, query: str, mode: str, rounds: int) -> tuple[float, float]:
    """Return the times of a search on both engines in microseconds; their answers must be equal."""
    call = {"query": query, "search_mode": mode}
    assert postgres.call("capsule_search", call) == sqlite.call("capsule_search", call)
    one, other = medians_us(
        lambda: postgres.call("capsule_search", call), lambda: sqlite.call("capsule_search", call), rounds=rounds
    )
    return one, other
