"""Search by meaning, compared with the embedding of the question and with a bare interpreter."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import apsw

from moss_memory import open_store
from moss_memory.errors import MossError
from moss_memory.search.embedding.embedder import embedder
from moss_memory.search.request import Document
from moss_memory.search.vectors import encode_chunks
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import add_functions

from .client import MOSS, moss_environment
from .measure import BenchmarkRow, cached, compare_times, medians_us, read_once
from .retrieval.sets import notes
from .startup import BARE, process

if TYPE_CHECKING:
    from moss_memory.search.embedding.encoder import Embedder

DOCUMENTS = 10_000
CHUNKS = 2
"""Every second document has this number of chunks, the others one."""
QUESTION = "how do we rotate the credentials of service accounts"


def run() -> list[BenchmarkRow]:
    try:
        model = embedder()
    except MossError:
        return [BenchmarkRow("search by meaning", None, 3, note="not installed")]
    home = cached("meaning", lambda folder: _build(folder, model))
    read_once(os.path.join(home, DATABASE))
    return [_compare_search(home, model), _compare_first_search(home)]


def _compare_search(home: str, model: Embedder, rounds: int = 40) -> BenchmarkRow:
    """Compare a search by words and meaning with the embedding of its question, which is new each time."""
    numbers = itertools.count()
    with open_store(home) as store:

        def search() -> None:
            store.call("capsule_search", {"query": f"{QUESTION} {next(numbers)}", "search_mode": "both"})

        searched, embedded = medians_us(search, lambda: model.question(f"{QUESTION} {next(numbers)}"), rounds=rounds)
    title = f"search by words and meaning over {DOCUMENTS:,} documents : the embedding of its question"
    return BenchmarkRow(title, searched / embedded, 3, note=compare_times(searched, embedded))


def _compare_first_search(home: str, rounds: int = 15) -> BenchmarkRow:
    """Compare the whole process of a search by meaning with a bare interpreter."""
    env = moss_environment(home)
    command = [MOSS, "capsule", "search", QUESTION, "--search-mode", "semantic"]
    ours, bare = medians_us(process(command, env=env, cwd=home), process(BARE, env=env, cwd=home), rounds=rounds)
    title = "first search by meaning of a fresh process : `python -I -c pass`"
    return BenchmarkRow(title, ours / bare, 25, note=compare_times(ours, bare))


def _build(home: str, model: Embedder) -> None:
    """Build a store of capsules; the distances of their vectors are about those of real texts."""
    with open_store(home) as store:
        store.call("capsule_store", {"capsule_text": "the first write creates the store", "allow_thin": True})
        store.call("capsule_bulk_delete", {"workspace": "default"})
        store.call("capsule_purge", {})
    connection = apsw.Connection(os.path.join(home, DATABASE))
    add_functions(connection)
    connection.execute("pragma synchronous = off")
    with connection:
        connection.executemany(
            "insert into capsules (row_id, id, workspace_raw, workspace_norm, title, capsule_text, capsule_chars,"
            " tokens_estimate, created_at, updated_at, change_seq)"
            " values (?1, ?2, 'w', 'w', ?3, ?4, 100, 25, ?1, ?1, ?1)",
            _capsules(),
        )
        connection.execute("delete from unembedded")
        connection.executemany(
            "insert into vectors (doc, model, vector) values (?, ?, ?)",
            (
                (Document("capsule", row).number, model.name, vector)
                for row, vector in enumerate(_vectors(model), start=1)
            ),
        )
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _capsules() -> Iterator[tuple[int, str, str, str]]:
    texts = list(notes("", "questions").texts.items())
    for row in range(1, DOCUMENTS + 1):
        yield row, f"{row:026d}", *texts[row % len(texts)]


def _vectors(model: Embedder) -> Iterator[bytes]:
    import numpy as np

    generator = np.random.default_rng(7)
    centres = [model.encode_chunks(title, text)[1][0] for title, text in notes("", "questions").texts.items()]
    for row in range(1, DOCUMENTS + 1):
        count = 1 + row % CHUNKS
        noise = generator.standard_normal((count, model.dimensions), dtype=np.float32)
        vectors = centres[row % len(centres)] + 0.7 * noise / np.linalg.norm(noise, axis=1, keepdims=True)
        yield encode_chunks(list(range(0, 400 * count, 400)), vectors)
