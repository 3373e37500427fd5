"""Vectors: written outside of write calls, separate for each model, deleted with their texts."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.doors import Clock, StoreDoor, open_test_store
from moss_memory.errors import MossError
from moss_memory.search import embedding_queue
from moss_memory.search.embedding.embedder import embedder, unload_models
from moss_memory.search.embedding.encoder import FLOOR
from moss_memory.search.request import Document
from moss_memory.search.vectors import ChunkVectors, Similarities, decode_chunks, encode_chunks
from moss_memory.storage.sqlite.schema_migrations import migrations_after
from moss_memory.store import Store
from semantic.library import (
    BACKUP,
    GARDEN,
    LOGIN,
    QUESTIONS,
    FakeModel,
    docs_with_vectors,
    model_of,
    names,
    put,
    put_all,
    waiting_docs,
)
from storage.database import connect, make
from support.direct_store import DirectStore, rows
from support.python_process import run
from support.timeouts import TIMEOUT_S

SEMANTIC = {"search_mode": "semantic"}


def search(door: StoreDoor, query: str = "anything", **arguments: Any) -> dict[str, Any]:
    return door("capsule_search", query=query, **{**SEMANTIC, **arguments})


def test_a_write_does_not_load_the_model(door: StoreDoor) -> None:
    with model_of(FakeModel()) as model:
        put_all(door)
        assert model.asked == []
        assert len(waiting_docs(door.home)) == 3


def test_a_search_embeds_waiting_texts_and_stores_the_vectors(door: StoreDoor) -> None:
    with model_of(FakeModel()) as model:
        put_all(door)
        assert "pending" not in search(door)
        assert len(docs_with_vectors(door.home)) == 3
        assert waiting_docs(door.home) == []
        asked = len(model.asked)
        search(door)
        assert len(model.asked) == asked, "a question or a text was embedded again"


def test_a_search_out_of_time_embeds_the_newest_texts_and_counts_the_rest(
    door: StoreDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_queue, "EMBED_S", 0.0)
    put_all(door)
    answer = door("capsule_search", query=QUESTIONS["garden"], search_mode="semantic")
    assert [item["title"] for item in answer["items"]] == ["garden"], "the newest was not embedded first"
    assert answer["pending"] == 2
    words = door("capsule_search", query="passwords", search_mode="semantic")
    assert [item["title"] for item in words["items"]][-1] == "login", "what waits is not found by its words"
    assert door.store.index() == {"indexed": 1, "pending": 0}
    assert "pending" not in door("capsule_search", query=QUESTIONS["garden"], search_mode="semantic")


def test_a_text_embedded_by_a_search_is_found_only_once(door: StoreDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_queue, "EMBED_S", 0.0)
    texts = [f"the tomatoes {number}" for number in range(7)]
    for text in texts:
        put(door, text, text)
    with model_of(FakeModel()):
        for waiting in range(6, 0, -1):
            answer = search(door, query="tomatoes", limit=100)
            assert answer["pending"] == waiting
            assert sorted(item["title"] for item in answer["items"]) == texts
            assert answer["pagination"]["total"] == len(texts)


def test_a_search_embeds_only_texts_that_match_its_filters(door: StoreDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_queue, "EMBED_S", 0.0)
    with model_of(FakeModel()):
        put(door, "mine", LOGIN, workspace="shop")
        for number in range(5):
            put(door, f"other {number}", BACKUP, workspace="other")
        answer = search(door, workspace="shop")
        assert [item["title"] for item in answer["items"]] == ["mine"]
        assert "pending" not in answer
        assert search(door)["pending"] == 4


def test_vectors_of_two_models_are_never_compared(door: StoreDoor) -> None:
    put_all(door)
    with model_of(FakeModel("old")):
        assert len(search(door)["items"]) == 3
    with model_of(FakeModel("new")) as model, pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding_queue, "EMBED_S", 0.0)
        answer = search(door)
        assert len(answer["items"]) == 1, "a vector of the old model was compared with the new one's"
        assert answer["pending"] == 2
        assert len([text for text in model.asked if text != "anything"]) == 1
        assert door.store.index() == {"indexed": 2, "pending": 0}
        assert len(search(door)["items"]) == 3
    assert {model for (model,) in rows(door.home, "select model from vectors")} == {"new"}


def test_a_model_changed_by_another_process_is_noticed(door: StoreDoor, clock: Clock) -> None:
    put_all(door)
    with model_of(FakeModel("mine")):
        assert len(search(door)["items"]) == 3
    with open_test_store(door.home, clock) as other, model_of(FakeModel("theirs")):
        assert other.index() == {"indexed": 3, "pending": 0}
    with model_of(FakeModel("mine")):
        assert len(search(door)["items"]) == 3
    assert {model for (model,) in rows(door.home, "select model from vectors")} == {"mine"}


def test_rebuilding_creates_every_vector_again(door: StoreDoor) -> None:
    put_all(door)
    with model_of(FakeModel()) as model:
        seen: list[tuple[int, int | None]] = []
        assert door.store.index(progress=lambda done, total: seen.append((done, total))) == {"indexed": 3, "pending": 0}
        assert seen == [(0, 3), (3, 3)]
        assert door.store.index() == {"indexed": 0, "pending": 0}
        assert door.store.index(rebuild=True) == {"indexed": 3, "pending": 0}
        assert len(model.asked) == 6


def test_an_interrupted_index_keeps_its_finished_vectors(door: StoreDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_queue, "BATCH", 2)
    for number in range(6):
        put(door, f"n{number}", LOGIN)
    with model_of(FakeModel()) as model:
        with pytest.raises(MossError, match="CANCELLED"):
            door.store.index(cancelled=lambda: len(model.asked) >= 3)
        assert len(docs_with_vectors(door.home)) == 2
        assert door.store.index() == {"indexed": 4, "pending": 0}


def test_concurrent_searches_create_each_vector_once(door: StoreDoor) -> None:
    for number in range(22):
        put(door, f"n{number}", f"{LOGIN} {number}")
    with model_of(FakeModel()) as model:
        together = threading.Barrier(9)
        answers: list[dict[str, Any]] = []

        def ask(number: int) -> None:
            together.wait(timeout=TIMEOUT_S)
            answers.append(search(door, query=f"question {number}", limit=100))

        def prepare_all() -> None:
            together.wait(timeout=TIMEOUT_S)
            door.store.index()

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        threads.append(threading.Thread(target=prepare_all))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=TIMEOUT_S)
        made = [text for text in model.asked if LOGIN in text]
    assert len(made) == len(set(made)) == 22
    assert [len(answer["items"]) for answer in answers] == [22] * 8
    assert len(docs_with_vectors(door.home)) == 22


def test_a_search_that_waits_too_long_for_another_continues_by_words(
    door: StoreDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_all(door)
    monkeypatch.setattr(embedding_queue, "EMBED_S", 0.1)
    engine: Any = door.store._engine
    with model_of(FakeModel()) as model, engine.vectors().embedding_lock:
        answer = search(door, query="password")
        assert [item["title"] for item in answer["items"]] == ["login"]
        assert answer["pending"] == 3
        assert model.asked == ["password"]


def test_purge_deletes_every_vector_of_its_texts(door: StoreDoor) -> None:
    put_all(door)
    door.store.index()
    [(blob,)] = rows(door.home, "select vector from vectors where doc = 16")
    door("capsule_delete", name="login")
    assert docs_with_vectors(door.home) == [32, 48], "a deleted capsule kept its vector"
    assert door("capsule_purge", older_than_days=0)["erased"] is True
    assert waiting_docs(door.home) == []
    door.store.close()
    for path in Path(door.home).iterdir():
        assert not path.is_file() or blob not in path.read_bytes(), f"{path.name} still holds the vector"


def test_a_text_changed_during_embedding_is_queued_again(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", LOGIN)
    with open_test_store(door.home, clock) as other:

        def change(text: str) -> None:
            if text.endswith(LOGIN):
                other.call("capsule_update", {"name": "a", "capsule_text": GARDEN, "allow_thin": True})

        with model_of(FakeModel(during=change)):
            search(door)
    assert docs_with_vectors(door.home) == []
    assert len(waiting_docs(door.home)) == 1


def test_a_capsule_deleted_during_embedding_gets_no_vector(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", LOGIN)
    with open_test_store(door.home, clock) as other:
        forget = FakeModel(during=lambda text: text.endswith(LOGIN) and other.call("capsule_delete", {"name": "a"}))
        with model_of(forget):
            search(door)
    assert docs_with_vectors(door.home) == waiting_docs(door.home) == []


def test_other_writes_succeed_while_the_model_runs(door: StoreDoor, clock: Clock) -> None:
    put_all(door)
    written: list[str] = []
    with open_test_store(door.home, clock) as other:

        def write(_: str) -> None:
            name = f"meanwhile {len(written)}"
            other.call("capsule_store", {"name": name, "capsule_text": "x", "allow_thin": True}, wait=False)
            written.append(name)

        with model_of(FakeModel(during=write)):
            search(door)
            door.store.index(most=2)
    assert len(written) >= 6


def test_a_locked_store_is_searched_with_vectors_in_memory(
    door: StoreDoor, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_all(door)
    with open_test_store(door.home, clock) as other, model_of(FakeModel()) as model:
        engine: Any = other._engine
        hold = engine.new_hold()
        hold.acquire(1.0)
        monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail(f"it waited for {seconds} s"))
        try:
            assert len(search(door)["items"]) == 3
            asked = len(model.asked)
            assert len(search(door)["items"]) == 3
            assert len(model.asked) == asked, "what could not be written was made again"
        finally:
            monkeypatch.undo()
            hold.release()
        assert docs_with_vectors(door.home) == []
        search(door)
        assert len(docs_with_vectors(door.home)) == 3


OTHER = """
import sys
from contract.doors import open_test_store
with open_test_store(sys.argv[1]) as store:
    if sys.argv[2] == "add":
        store.call("capsule_store", {"name": "login", "capsule_text": sys.argv[3], "allow_thin": True})
        store.index()
    else:
        store.call("capsule_delete", {"name": "login"})
        store.call("capsule_purge", {"older_than_days": 0})
"""


def test_texts_added_and_purged_by_another_process_are_noticed(door: StoreDoor) -> None:
    put(door, "garden", GARDEN)
    assert names(door, QUESTIONS["login"]) == []
    run(OTHER, door.home, "add", LOGIN)
    assert names(door, QUESTIONS["login"]) == ["login"]
    run(OTHER, door.home, "purge")
    assert names(door, QUESTIONS["login"]) == []


def test_deleted_texts_are_removed_from_the_matrix(door: StoreDoor) -> None:
    with model_of(FakeModel()):
        for number in range(20):
            put(door, f"n{number}", f"{LOGIN} {number}", tags=["old"] if number < 15 else None)
        assert len(search(door, limit=100)["items"]) == 20
        search(door)
        door("capsule_bulk_delete", tag="old")
        assert len(search(door, limit=100)["items"]) == 5
        engine: Any = door.store._engine
        assert sum(len(part.docs) for part in engine.vectors()._parts) == 5


def test_a_replaced_store_is_read_again(home: str, clock: Clock, tmp_path: Path) -> None:
    with open_test_store(home, clock) as store:
        door = StoreDoor(store)
        put(door, "login", LOGIN)
        assert names(door, QUESTIONS["login"]) == ["login"]
        store.close()
        Path(home).rename(tmp_path / "elsewhere")
        assert names(door, QUESTIONS["login"]) == []
        put(door, "garden", GARDEN)
        assert names(door, QUESTIONS["garden"]) == ["garden"]


def test_an_old_store_queues_every_text_newest_last(home: str, clock: Clock) -> None:
    connection = make(home)
    for number, sql in migrations_after(0):
        if number < 6:
            connection.execute(sql).fetchall()
    for row, updated_at in ((1, 30), (2, 10), (3, 20)):
        connection.execute(
            "insert into capsules (row_id, id, workspace_raw, workspace_norm, title, capsule_text, capsule_chars,"
            " tokens_estimate, created_at, updated_at, deleted_at, change_seq)"
            " values (:row, :row, 'w', 'w', :row, 'x', 1, 1, 1, :at, null, :row)",
            {"row": row, "at": updated_at},
        )
    connection.execute("pragma user_version = 5")
    connection.execute("pragma application_id = 0x4D6F7373")
    connection.close()
    with open_test_store(home, clock) as store:
        store.call("capsule_list", {"workspace": "w"})
        assert [Document.of(doc).row for (doc,) in rows(home, "select doc from unembedded order by seq")] == [2, 3, 1]


def everything_that_changes_texts(store: Store) -> None:
    """Make calls of every family that store, change, hide, supersede, delete and restore searched texts."""
    door = StoreDoor(store)
    put_all(door)
    identity = put(door, "back", LOGIN)
    door("capsule_delete", name="back")
    door("capsule_restore", id=identity)
    door("capsule_update", name="back", title="")
    door("capsule_update", name="back", tags=["t"])
    door("capsule_delete", name="garden")
    for name, text in (("a", LOGIN), ("b", None), (None, None), (None, BACKUP)):
        given: dict[str, Any] = {"name": name, "text": text, "kind": "k", "data": {}}
        door("artifact_store", **{key: value for key, value in given.items() if value is not None})
    door("artifact_store", name="b", kind="k", data={}, text=GARDEN, mode="replace")
    door("artifact_delete", name="a")
    for text in (LOGIN, BACKUP, GARDEN):
        door("branchmind_notes_commit", workspace="w", content=text)
    for text in (LOGIN, BACKUP):
        node = {"op": "node_upsert", "id": "n", "type": "idea", "text": text}
        door("branchmind_graph_apply", workspace="w", ops=[node, {**node, "id": "gone"}])
    door("branchmind_graph_apply", workspace="w", ops=[{"op": "node_delete", "id": "gone"}])
    first = door("branchmind_log", workspace="w")["commits"][-1]
    door("branchmind_reset", workspace="w", to=str(first["seq"]))
    body = {"decision": "d", "rationale": "r", "timestamp": "2026-01-01T00:00:00Z"}
    door("submit_payload", capability_id="neotoma:store_agent_decision:v1", body=body)


@pytest.mark.parametrize("indexed_before", [False, True])
def test_every_live_text_and_no_other_is_queued_or_has_a_vector(store: Store, indexed_before: bool) -> None:
    with model_of(FakeModel()):
        if indexed_before:
            calls = store.call
            store.call = lambda *given, **more: (calls(*given, **more), store.index())[0]  # type: ignore[method-assign]
        everything_that_changes_texts(store)
        home = store.config.home
        live = sorted(doc for (doc,) in rows(home, "select doc from embeddable"))
        assert live
        assert sorted([*docs_with_vectors(home), *waiting_docs(home)]) == live
        store.index()
        assert waiting_docs(home) == []
        assert set(docs_with_vectors(home)) <= set(live)


def test_the_index_contains_every_text_that_can_be_embedded(store: Store) -> None:
    everything_that_changes_texts(store)
    with connect(store.config.home) as connection:
        indexed = {doc for (doc,) in connection.execute("select id from search_index_docsize")}
        embeddable = {doc for (doc,) in connection.execute("select doc from embeddable")}
    with DirectStore(store.config.home) as direct:
        texts = direct.read(lambda tx: embedding_queue.texts_of(tx, sorted(embeddable)))
    assert embeddable <= indexed
    assert set(texts) == embeddable


def test_a_passage_in_memory_has_the_vector_of_the_model() -> None:
    model = embedder()
    starts, vectors = model.encode_chunks("Log in", LOGIN)
    _, [vector] = decode_chunks(encode_chunks(starts, vectors), model.dimensions)
    cosine = float((vector * vectors[0]).sum()) / float(np.linalg.norm(vector.astype(float)))
    assert abs(cosine - 1) < 0.001


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_first_question_of_a_process_has_the_same_vector_as_the_next(name: str) -> None:
    unload_models()
    asked = QUESTIONS[name]
    first = embedder().question(asked)
    after = embedder().encode_chunks("Log in", LOGIN)[1]
    unload_models()
    assert np.array_equal(embedder().encode_chunks("Log in", LOGIN)[1], after)
    later = embedder().question(asked)
    assert float(first @ later) > 0.999999
    assert np.abs(first - later).max() < 0.00001


def test_the_first_question_of_a_process_has_the_same_vector_when_it_is_repeated() -> None:
    unload_models()
    model = embedder()
    first = model.question(QUESTIONS["login"])
    model.question(QUESTIONS["garden"])
    assert np.array_equal(model.question(QUESTIONS["login"]), first), "the next page may have another order"


def test_the_score_of_a_document_does_not_depend_on_other_documents() -> None:
    model = embedder()
    asked = model.question(QUESTIONS["login"])
    rows = [
        (seq, seq * 16, encode_chunks(*model.encode_chunks("", text)))
        for seq, text in enumerate((GARDEN * 30, LOGIN, BACKUP + LOGIN * 9), start=1)
    ]
    together = Similarities([ChunkVectors.of(rows, model.dimensions)], asked, FLOOR)
    apart = Similarities([ChunkVectors.of([row], model.dimensions) for row in reversed(rows)], asked, FLOOR)
    for _, doc, _ in rows:
        assert together.of(np.array([doc])) == apart.of(np.array([doc]))
        assert together.offset(doc) == apart.offset(doc)


def test_a_relevant_passage_is_found_at_any_position() -> None:
    model = embedder()
    asked = model.question(QUESTIONS["login"])
    text = f"{GARDEN} " * 40 + f"\n\n{LOGIN * 6}\n\n" + f"{BACKUP} " * 40
    long, plain = (encode_chunks(*model.encode_chunks("", one)) for one in (text, text.replace(LOGIN, BACKUP)))
    compared = Similarities([ChunkVectors.of([(1, 16, long), (2, 32, plain)], model.dimensions)], asked, FLOOR)
    assert compared.of(np.array([16])) > compared.of(np.array([32])) + 0.1
    assert abs(compared.offset(16) - text.index(LOGIN)) < 600


def test_erasing_deletes_vectors_and_counts_them(store: Store) -> None:
    door, home = StoreDoor(store), store.config.home
    put(door, "login", LOGIN)
    note = door("branchmind_notes_commit", workspace="w", content=GARDEN)["entry"]["seq"]
    store.index()
    assert len(docs_with_vectors(home)) == 2
    assert door("moss_erase", type="capsule", name="login")["removed"]["vectors"] == 1
    assert len(docs_with_vectors(home)) == 1
    assert door("moss_erase", type="note", workspace="w", seq=note)["removed"]["vectors"] == 1
    assert docs_with_vectors(home) == [], "the one that is there means a text that is gone"
    store.index()
    assert names(door, QUESTIONS["garden"], "moss_search") == []


def test_the_vectors_of_a_tasks_nodes_are_counted_as_erased(store: Store) -> None:
    door, home = StoreDoor(store), store.config.home
    door("tasks_create", workspace="w", kind="task", title="Ship", steps=[{"title": "One"}, {"title": "Two"}])
    store.index()
    there = len(docs_with_vectors(home))
    told = door("moss_erase", type="task", workspace="w", target="TASK-001")["removed"]["vectors"]
    assert told == there - len(docs_with_vectors(home))
    assert told >= 3
