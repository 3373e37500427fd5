"""Search on PostgreSQL beside the same search on SQLite, over 20,000 capsules."""

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
from moss_memory.storage.call_context import CallContext
from moss_memory.storage.engine import open_engine
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.file_kind import APPLICATION_ID
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.store import Store

from .database_server import running
from .filled import fill, vocabulary
from .measure import Line, compared_us, medians_us, scratch_folder, worst_line

if TYPE_CHECKING:
    from moss_memory.config import Config
    from moss_memory.storage.engine import Engine

DOCUMENTS = 20_000
AT_ONCE = 200
QUESTIONS: dict[str, tuple[int, ...]] = {
    "1 rare": (15_000,), "2 rare": (20_000, 21_000), "8 rare": (6_000, 8_000, 10_000, 12_000),
    "1 middling": (300,), "5 middling": (1_000, 1_200, 1_500, 1_800, 2_000),
    "1 common": (8,), "4 common": (10, 30, 60, 100), "8 most common": (0, 1, 2, 3, 5, 8, 13, 20),
}  # fmt: skip
"""Name of a question -> the ranks of its words, 0 being the most common."""

_INSERT = (
    "insert into capsules (row_id, id, workspace_raw, workspace_norm, title, capsule_text, capsule_chars,"
    " tokens_estimate, created_at, updated_at, deleted_at, change_seq)"
    " values (:row_id, :id, 'w', 'w', :title, :text, 1000, 1, :row_id, :row_id, :deleted_at, :row_id)"
)
_VECTOR = "insert into vectors (doc, model, vector) values (:doc, :model, :vector)"


def lines(rounds: int = 15) -> list[Line]:
    """Both engines with the same capsules, the same questions."""
    with scratch_folder() as home, running() as url:
        connection = apsw.Connection(os.path.join(home, DATABASE))
        fill(connection, DOCUMENTS)
        connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
        connection.execute(f"pragma application_id = {APPLICATION_ID}")
        config = default_config(home).replace(url=url)
        engine = open_engine(config)
        _copy(connection, engine, fill_call(config))
        has_meaning = _add_vectors(connection, engine, fill_call(config))
        engine.close()
        connection.close()
        with Store(default_config(home)) as there, Store(config) as here:
            searches = list(_searches(here, there, rounds, has_meaning=has_meaning))
        return [*searches, _first(config, home, vocabulary(random.Random(7))[300], rounds)]  # noqa: S311


def fill_call(config: Any) -> CallContext:
    return CallContext(
        operation="fill", config=config, clock_ms=lambda: 0, new_id=lambda now_ms: "", cancelled=None, progress=None
    )


def _copy(connection: apsw.Connection, engine: Engine, call: CallContext) -> None:
    """The same capsules on the server, so many a transaction."""
    rows = connection.execute("select row_id, id, title, capsule_text, deleted_at from capsules order by row_id")
    names = ("row_id", "id", "title", "text", "deleted_at")
    while part := [dict(zip(names, row, strict=True)) for row in islice(rows, AT_ONCE)]:
        _write(engine, call, [(_INSERT, values) for values in part])


def _write(engine: Engine, call: CallContext, statements: list[tuple[str, dict[str, Any]]]) -> None:
    tx = engine.begin_write(timeout_s=60.0, call=call)
    try:
        for sql, values in statements:
            tx.run(sql, values)
        tx.commit()
    finally:
        tx.rollback()
        tx.release()


def _add_vectors(connection: apsw.Connection, engine: Engine, call: CallContext) -> bool:
    """A vector for every document on both sides, any that tells it apart; false where no model is installed."""
    try:
        model = embedder()
    except MossError:
        return False
    import numpy as np

    prepare(connection)
    chance = np.random.default_rng(7)
    docs = [doc for (doc,) in connection.execute("select doc from unembedded order by doc")]
    rows = [
        {
            "doc": doc,
            "model": model.name,
            "vector": encode_chunks([0], chance.standard_normal((1, model.dimensions), dtype=np.float32)),
        }
        for doc in docs
    ]
    with connection:
        connection.executemany(_VECTOR, rows)
        connection.execute("delete from unembedded")
    for start in range(0, len(rows), AT_ONCE):
        _write(engine, call, [(_VECTOR, row) for row in rows[start : start + AT_ONCE]])
    _write(engine, call, [("delete from unembedded", {})])
    return True


def _searches(here: Store, there: Store, rounds: int, *, has_meaning: bool) -> Iterator[Line]:
    words = vocabulary(random.Random(7))  # noqa: S311
    what = f"search of {DOCUMENTS:,} documents on PostgreSQL, {{}} : on SQLite"
    asked = {name: " ".join([words[rank] for rank in ranks]) for name, ranks in QUESTIONS.items()}
    asked |= {"phrase": f'"{words[3]} {words[100]}"', "prefix": f"{words[5000][:6]}*"}
    calls = {name: {"query": query, "search_mode": "keyword"} for name, query in asked.items()}
    yield worst_line(what.format("by words"), {name: _compared(here, there, calls[name], rounds) for name in calls}, 3)
    for mode in ("semantic", "both") if has_meaning else ():
        one, other = _compared(here, there, {"query": f"{words[300]} {words[1000]}", "search_mode": mode}, rounds)
        yield Line(what.format(f"mode `{mode}`"), one / other, 3, note=compared_us(one, other))


def _first(config: Config, home: str, query: str, rounds: int) -> Line:
    """The first search of a process, which connects and reads which documents there are."""

    def ask(config: Config) -> None:
        with Store(config) as store:
            store.call("capsule_search", {"query": query, "search_mode": "keyword"})

    one, other = medians_us(lambda: ask(config), lambda: ask(default_config(home)), rounds=rounds)
    what = f"first search of {DOCUMENTS:,} documents on PostgreSQL, with connecting : on SQLite"
    return Line(what, one / other, None, note=compared_us(one, other))


def _compared(here: Store, there: Store, call: dict[str, Any], rounds: int) -> tuple[float, float]:
    """The microseconds of one call on both sides, which answer the same."""
    found = [store.call("capsule_search", call) for store in (here, there)]
    assert found[0] == found[1], "both sides find the same"
    one, other = medians_us(
        lambda: here.call("capsule_search", call), lambda: there.call("capsule_search", call), rounds=rounds
    )
    return one, other


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
