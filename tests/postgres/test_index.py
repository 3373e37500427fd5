"""The index of words and the vectors on PostgreSQL: filled by several at once, and empty of what was purged."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import psycopg
import pytest

from contract.doors import Clock, StoreDoor, open_test_store
from moss_memory.errors import MossError
from moss_memory.search.vectors import VectorMatrix, encode_passages
from moss_memory.storage.postgres import compaction, indexer, transaction
from moss_memory.storage.postgres.vector_search import PostgresVectors
from moss_memory.store import Store
from support.beside import Beside
from support.postgres import databases


def test_a_purged_word_leaves_the_dictionary_and_its_document_the_postings(door: StoreDoor) -> None:
    door("capsule_store", workspace="w", name="kept", capsule_text="alpha beta", allow_thin=True)
    door("capsule_store", workspace="w", name="secret", capsule_text="alpha zebrasecret", allow_thin=True)
    with Beside(door.store.config.home) as beside:
        fold: Any = compaction.fold
        beside.write(fold)
        assert words(beside) >= {"alpha", "beta", "zebrasecret"}
        door(
            "capsule_store", workspace="w", name="secret", capsule_text="alpha hidden", mode="replace", allow_thin=True
        )
        door("capsule_delete", workspace="w", name="secret")
        door("capsule_purge", workspace="w")
        left = words(beside)
        assert {"alpha", "beta", "kept"} <= left
        assert not {"zebrasecret", "hidden", "secret"} & left
        assert beside.rows("select count(*) from search_dead") == [(0,)]
        postings = beside.rows("select cast(sum(length(weights)) as bigint) from search_postings")
        assert postings == [(len(left),)], "one document holds each word once"


def words(beside: Beside) -> set[str]:
    """Every word of the dictionary."""
    return {word for (word,) in beside.rows("select word from search_words")}


def test_writers_of_several_workspaces_index_the_same_words_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "FRESH", 8)
    monkeypatch.setattr(compaction, "JOINED", 2)
    failures: list[BaseException] = []

    def write(workspace: str) -> None:
        try:
            for number in range(15):
                text = " ".join(f"word{(number + shift) % 20}" for shift in range(12))
                store.call("capsule_store", {"workspace": workspace, "capsule_text": text, "allow_thin": True})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number in range(20):
        found = store.call("capsule_search", {"query": f"word{number}", "search_mode": "keyword", "limit": 1})
        assert found["pagination"]["total"] == 4 * sum(1 for one in range(15) if (number - one) % 20 < 12)
    with Beside(store.config.home) as beside:
        assert beside.rows("select cast(sum(docs) as bigint) from search_totals") == [(60,)]


def test_a_word_that_another_process_purged_is_found_again_when_it_is_told_again(store: Store, clock: Clock) -> None:
    told = {"workspace": "w", "capsule_text": "the quokka", "allow_thin": True}
    first = store.call("capsule_store", told)["id"]
    with open_test_store(store.config.home, clock) as other:
        other.call("capsule_delete", {"id": first})
        assert other.call("capsule_purge", {"workspace": "w"})["purged"] == 1
    again = store.call("capsule_store", told)["id"]
    found = store.call("capsule_search", {"query": "quokka", "search_mode": "keyword"})
    assert [one["id"] for one in found["items"]] == [again]


def test_words_of_a_call_that_failed_are_not_believed_to_be_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"workspace": "w", "capsule_text": "the quokka", "allow_thin": True}
    send = transaction._run_pipeline

    def refusing(connection: Any, before: list[Any], statements: list[Any], binary: bool) -> Any:
        if ("commit", None) in statements:
            statements = [("select 1 / 0", None)]
        return send(connection, before, statements, binary)

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "_run_pipeline", refusing)
        with pytest.raises(MossError):
            store.call("capsule_store", told)
    kept = store.call("capsule_store", told)["id"]
    found = store.call("capsule_search", {"query": "quokka", "search_mode": "keyword"})
    assert [one["id"] for one in found["items"]] == [kept]


class Model:
    """As much of a model as the matrix looks at."""

    name, dimensions, floor = "m", 4, 0.0


def test_a_vector_that_is_committed_late_is_not_missed(home: str) -> None:
    vector = encode_passages([0], np.array([[1.0, 0.0, 0.0, 0.0]]))
    matrix = VectorMatrix()
    model: Any = Model()
    insert = "insert into vectors (doc, model, vector) values (%s, 'm', %s)"

    def docs(beside: Beside) -> list[int]:
        parts = beside.read(lambda tx: matrix.read(PostgresVectors(tx), model, None))  # type: ignore[arg-type]
        return sorted(doc for part in parts for doc in part.docs.tolist())

    with Beside(home) as beside, psycopg.connect(databases().url_of(home)) as slow:
        assert docs(beside) == []
        slow.execute(insert, (16, vector))
        with psycopg.connect(databases().url_of(home)) as quick:
            quick.execute(insert, (32, vector))
        assert docs(beside) == [32]
        slow.commit()
        assert docs(beside) == [16, 32]
        beside.run("delete from vectors where doc = 32")
        assert docs(beside) == [16]
