"""Search by meaning: how much of a test set it finds, and what it costs beside one product of a matrix and a vector."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import apsw

from moss_memory import open_store
from moss_memory.errors import MossError
from moss_memory.search.embed import embedder
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.vector_matrix import encoded
from moss_memory.store import Store

from .measure import Line, cached, compared_us, medians_us, read_once, scratch_folder

if TYPE_CHECKING:
    from moss_memory.search.embed import Embedder

TEXTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "retrieval")
MODES = ("keyword", "semantic", "both")
KINDS = {"questions": "questions in other words", "keywords": "short queries of exact words"}
CAPSULES = 100_000
FIRST = 5


def texts(kind: str) -> list[dict[str, str]]:
    """The notes of the test set, or the questions of one kind, each with the name of the note that answers it."""
    with open(os.path.join(TEXTS, f"{kind}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def shelve(store: Store) -> None:
    """Stores the notes of the test set as capsules and prepares them for search by meaning."""
    for note in texts("notes"):
        capsule = {"title": note["title"], "capsule_text": note["text"], "allow_thin": True}
        store.call("capsule_store", capsule)
    store.index()


def recall(store: Store, kind: str, mode: str) -> float:
    """The share of the questions whose answer is among the first five hits."""
    titles = {note["name"]: note["title"] for note in texts("notes")}
    asked = texts(kind)
    found = 0
    for question in asked:
        query = {"query": question["question"], "search_mode": mode, "limit": FIRST}
        hits = store.call("capsule_search", query)["items"]
        found += titles[question["answer"]] in [hit["title"] for hit in hits]
    return found / len(asked)


def lines() -> list[Line]:
    """What each mode finds, and the time of a search over 100,000 vectors."""
    try:
        model = embedder()
    except MossError:
        return [Line("search by meaning", None, None, note="not installed")]
    return [*_recalls(), _search(model)]


def _recalls() -> list[Line]:
    with scratch_folder() as home, open_store(home) as store:
        shelve(store)
        return [
            Line(f"{shown}, answer among the first {FIRST}: {mode}", 100 * recall(store, kind, mode), None, "%")
            for kind, shown in KINDS.items()
            for mode in MODES
        ]


def _search(model: Embedder) -> Line:
    import numpy as np  # where the extra is missing nobody comes here

    home = cached("meaning", lambda folder: _build(folder, model))
    read_once(os.path.join(home, DATABASE))
    question = {"query": "how do we rotate credentials", "search_mode": "semantic"}
    asked = model.embed([question["query"]])[0]
    matrix = np.random.default_rng(1).standard_normal((CAPSULES, model.dimensions), dtype=np.float32)
    with open_store(home) as store:
        assert "pending" not in store.call("capsule_search", question)
        search, product = medians_us(lambda: store.call("capsule_search", question), lambda: matrix @ asked, rounds=30)
    return Line(
        f"search by meaning over {CAPSULES:,} vectors, its question known : one numpy product of matrix and vector",
        search / product,
        3.0,
        note=compared_us(search, product),
    )


def _build(home: str, model: Embedder) -> None:
    """A store of capsules whose vectors lie around those of the notes, as far from each other as real ones."""
    with open_store(home) as store:
        store.call("capsule_inventory", {})
    connection = apsw.Connection(os.path.join(home, DATABASE))
    connection.execute("pragma synchronous = off")
    with connection:
        connection.executemany(
            "insert into capsules (row_id, id, workspace_raw, workspace_norm, title, capsule_text, capsule_chars,"
            " tokens_estimate, created_at, updated_at, change_seq)"
            " values (?1, ?2, 'w', 'w', ?3, ?4, 100, 25, ?1, ?1, ?1)",
            ((row, f"{row:026d}", note["title"], note["text"]) for row, note in _capsules()),
        )
        connection.execute("delete from unembedded")
        connection.executemany(
            "insert into vectors (doc, model, vector) values (?, ?, ?)",
            ((row * 16, model.name, vector) for row, vector in enumerate(_vectors(model), start=1)),
        )
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _capsules() -> Iterator[tuple[int, dict[str, str]]]:
    notes = texts("notes")
    for row in range(1, CAPSULES + 1):
        yield row, notes[row % len(notes)]


def _vectors(model: Embedder) -> Iterator[bytes]:
    import numpy as np

    chance = np.random.default_rng(7)
    centres: Any = model.embed([f"{note['title']}\n{note['text']}" for note in texts("notes")])
    for row in range(1, CAPSULES + 1):
        noise = chance.standard_normal(model.dimensions, dtype=np.float32)
        yield encoded((centres[row % len(centres)] + 0.7 * noise / np.linalg.norm(noise))[None, :])
