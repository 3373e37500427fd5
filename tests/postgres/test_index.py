"""The index of words and the vectors on PostgreSQL: filled by several writers at once, and empty of purged words."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from contract.doors import Clock, StoreDoor, open_test_store
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.search.vectors import VectorMatrix, encode_chunks
from moss_memory.storage.call import CallContext
from moss_memory.storage.postgres import index_maintenance, indexer, segment_size, transaction, word_search
from moss_memory.storage.postgres import segments as segments_module
from moss_memory.storage.postgres.index_maintenance import maintain
from moss_memory.storage.postgres.posting_blocks import Postings
from moss_memory.storage.postgres.search_index import PostgresVectors
from moss_memory.store import Store
from support.direct_store import DirectStore
from support.postgres import databases


def test_a_purged_word_leaves_the_dictionary_and_its_document_the_postings(
    door: StoreDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    door("capsule_store", workspace="w", name="kept", capsule_text="alpha beta", allow_thin=True)
    door("capsule_store", workspace="w", name="secret", capsule_text="alpha zebrasecret", allow_thin=True)
    with DirectStore(door.store.config.home) as direct:
        monkeypatch.setattr(segment_size, "SEGMENT", 1)
        maintained(direct)
        assert words(direct) >= {"alpha", "beta", "zebrasecret"}
        door(
            "capsule_store", workspace="w", name="secret", capsule_text="alpha hidden", mode="replace", allow_thin=True
        )
        door("capsule_delete", workspace="w", name="secret")
        door("capsule_purge", workspace="w")
        left = words(direct)
        assert {"alpha", "beta", "kept"} <= left
        assert not {"zebrasecret", "hidden", "secret"} & left
        assert direct.rows("select count(*) from search_deleted") == [(0,)]
        postings = direct.rows("select cast(sum(length(weights)) as bigint) from search_postings")
        assert postings == [(len(left),)], "one document holds each word once"


def test_filters_apply_however_many_documents_match(door: StoreDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_search, "MANY", 3)
    for number in range(6):
        run = "nightly" if number < 2 else "daily"
        door("artifact_store", name=f"a{number}", kind="k", data={}, text="zebra", run_id=run)
    found = door("moss_search", query="zebra", search_mode="keyword", run_id="nightly")
    assert {item["title"] for item in found["items"]} == {"a0", "a1"}
    assert found["pagination"]["total"] == 2


def maintained(direct: DirectStore) -> None:
    """Maintain the index now, as a separate thread does otherwise."""
    engine: Any = direct.engine
    maintain(engine, direct._call)


def words(direct: DirectStore) -> set[str]:
    """Return every word of the dictionary."""
    return {word for (word,) in direct.rows("select term from search_terms")}


def test_writers_of_several_workspaces_index_the_same_words_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "DUE", 1)
    monkeypatch.setattr(segment_size, "SEGMENT", 8)
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
    with DirectStore(store.config.home) as direct:
        assert direct.rows("select cast(sum(docs) as bigint) from search_totals") == [(60,)]


def test_a_word_purged_by_another_process_is_found_after_it_is_stored_again(store: Store, clock: Clock) -> None:
    told = {"workspace": "w", "capsule_text": "the quokka", "allow_thin": True}
    first = store.call("capsule_store", told)["id"]
    with open_test_store(store.config.home, clock) as other:
        other.call("capsule_delete", {"id": first})
        assert other.call("capsule_purge", {"workspace": "w"})["purged"] == 1
    again = store.call("capsule_store", told)["id"]
    found = store.call("capsule_search", {"query": "quokka", "search_mode": "keyword"})
    assert [one["id"] for one in found["items"]] == [again]


def test_words_of_a_failed_call_are_not_cached(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
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


@contextmanager
def writing(direct: DirectStore) -> Iterator[None]:
    """Run a writer of another workspace that has indexed and does not commit."""
    engine: Any = direct.engine
    call = CallContext(
        operation="test", config=load_config(home=direct._home, cwd="/"), clock_ms=lambda: 0, new_id=lambda now_ms: "",
        cancelled=None, progress=None, workspace="elsewhere",
    )  # fmt: skip
    tx = engine.write_transaction(timeout_s=10.0, call=call)
    try:
        tx.run("update capsules set title = title where false")
        tx.begin_snapshot()
        yield
    finally:
        tx.rollback()
        tx.release()


def rewritten(store: Store, workspace: str, count: int, times: int) -> None:
    """Store capsules, and replace each of them several times."""
    for turn in range(times + 1):
        for number in range(count):
            text = f"common turn{turn} {workspace}{number}"
            call = {"workspace": workspace, "name": f"n{number}", "capsule_text": text, "allow_thin": True}
            store.call("capsule_store", {**call, "mode": "replace"})


def found(store: Store, query: str) -> int:
    """Return the number of capsules that a search finds."""
    total: int = store.call("capsule_search", {"query": query, "search_mode": "keyword"})["pagination"]["total"]
    return total


def test_deleted_documents_are_swept_while_writers_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "DUE", 1)
    monkeypatch.setattr(segment_size, "SEGMENT", 8)
    with DirectStore(store.config.home) as direct:
        with writing(direct):
            threads = [threading.Thread(target=rewritten, args=(store, f"w{number}", 6, 12)) for number in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            store.close()  # waits for the maintenance
            [(deleted, segments, documents)] = direct.rows(
                "select (select count(*) from search_deleted), (select count(*) from search_segments),"
                " (select coalesce(sum(octet_length(lives)), 0) from search_segments)"
            )
        assert segments >= 1
        assert deleted <= documents / segments_module.DELETED_SHARE + 8, "of 234 documents that were replaced"
        assert found(store, "common") == 18
        assert found(store, "turn12") == 18
        assert found(store, "turn3") == 0
        assert direct.problems() == []
        maintained(direct)
        assert direct.rows("select count(*) from search_orphans") == [(0,)], "nobody writes now: unused terms go"


def test_a_process_with_a_cached_buffer_and_a_new_one_find_the_same(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Postings of replaced documents stay cached for a while; their slots move to segments or are reused."""
    rewritten(store, "w", 40, 0)
    taken: list[int] = []
    take = Postings.take

    def noted(postings: Postings, at: Any) -> Postings:
        taken.append(len(postings))
        return take(postings, at)

    monkeypatch.setattr(Postings, "take", noted)

    def agrees(query: str) -> int:
        call = {"query": query, "search_mode": "keyword", "limit": 50}
        cached = store.call("capsule_search", call)
        with open_test_store(store.config.home, clock) as new:
            assert cached == new.call("capsule_search", call)
        return len(cached["items"])

    with DirectStore(store.config.home) as direct:
        assert agrees("common turn0") == 40
        for turn in range(1, 4):
            rewritten(store, "w", 1, turn)
            assert agrees(f"common turn{turn}") == 40
        assert taken == [], "the whole buffer was copied after a write"
        monkeypatch.setattr(segment_size, "SEGMENT", 2)
        monkeypatch.setattr(index_maintenance, "_STEPS", (lambda tx: segments_module.flush(tx) and False,))
        maintained(direct)
        assert direct.rows("select count(*) from search_buffer") == [(38,)], "one segment was flushed"
        assert agrees("common turn0") == 40
        monkeypatch.setattr(segment_size, "SEGMENT", 1 << 30)
        rewritten(store, "w", 40, 1)
        assert agrees("common turn1") == 40
        [(slot,)] = direct.rows("select last_value from search_slots")  # of the capsule n39
        save = {"workspace": "w", "name": "n39", "allow_thin": True, "mode": "replace"}
        store.call("capsule_store", {**save, "capsule_text": "common later"})
        assert agrees("common turn1") == 40
        direct.run(f"select setval('search_slots', {slot - 1})")  # as a restored backup does
        store.call("capsule_store", {**save, "name": "n0", "capsule_text": "common again"})
        assert agrees("common turn1") == 40


def test_a_write_does_not_maintain_the_index_for_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "DUE", 1)
    monkeypatch.setattr(segment_size, "SEGMENT", 4)
    send = transaction._run_pipeline
    own = threading.get_ident()
    sent: list[tuple[str, int]] = []

    def counting(connection: Any, before: list[Any], statements: list[Any], binary: bool) -> Any:
        cursors = send(connection, before, statements, binary)
        if threading.get_ident() == own:
            counts = [1] * len(before) + [max(cursor.rowcount, 0) for cursor in cursors]
            sent.extend(
                (sql.split("(")[0], count)
                for (sql, _), count in zip([*before, *statements], counts, strict=True)
                if "search_" in sql or "take_changed" in sql or "term_ids" in sql or "index_documents" in sql
            )
        return cursors

    monkeypatch.setattr(transaction, "_run_pipeline", counting)
    costs = []
    for number in range(40):
        sent.clear()
        call = {"workspace": "w", "name": f"n{number}", "capsule_text": "the same few words", "allow_thin": True}
        store.call("capsule_store", call)
        costs.append(list(sent))
    store.close()
    with DirectStore(store.config.home) as direct:
        assert direct.rows("select count(*) > 5 from search_segments") == [(1,)]
        assert direct.problems() == []
    assert len(costs[39]) >= 2
    assert costs[3] == costs[39], "as many statements and rows in a large index as in a small one"
    assert not [sql for sent in costs for sql, _ in sent if "search_segments" in sql or "search_postings" in sql]


def test_an_import_sends_fewer_statements_than_it_has_capsules(
    store: Store, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(store, "w", 60, 0)
    exported = store.call("capsule_export", {"workspace": "w"})["path"]
    other = open_test_store(str(tmp_path / "other"), clock)
    other.call("capsule_list", {})
    Path(other.config.exports).mkdir(parents=True)
    shutil.copy(exported, other.config.exports)
    send = transaction._run_pipeline
    sent: list[str] = []

    def counting(connection: Any, before: list[Any], statements: list[Any], binary: bool) -> Any:
        sent.extend([sql for sql, _ in (*before, *statements)])
        return send(connection, before, statements, binary)

    monkeypatch.setattr(transaction, "_run_pipeline", counting)
    assert other.call("capsule_import", {"path": Path(exported).name})["imported"] == 60
    assert len(sent) < 30, sent
    assert found(other, "common") == 60


def test_interrupted_maintenance_leaves_the_index_complete(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_size, "SEGMENT", 4)
    rewritten(store, "w", 6, 0)
    with DirectStore(store.config.home) as direct:
        maintained(direct)
        rewritten(store, "w", 6, 1)
        before = direct.rows("select count(*), (select count(*) from search_deleted) from search_postings")
        send = transaction._run_pipeline
        for allowed in range(12):  # statements until the server is gone
            left = [allowed]

            def dying(connection: Any, before: list[Any], statements: list[Any], binary: bool, left: Any = left) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    connection.close()
                return send(connection, before, statements, binary)

            with monkeypatch.context() as patch:
                patch.setattr(transaction, "_run_pipeline", dying)
                maintained(direct)
            assert direct.problems() == []
            assert found(store, "common") == 6
            assert found(store, "turn0") == 0
        maintained(direct)
        assert direct.problems() == []
        assert found(store, "turn1") == 6
        after = direct.rows("select count(*), (select count(*) from search_deleted) from search_postings")
        assert before[0][1] > 0
        assert after[0][1] == 0


def test_an_erased_version_leaves_the_index_also_after_it_was_swept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"workspace": "w", "name": "n", "allow_thin": True, "mode": "replace"}
    monkeypatch.setattr(indexer, "DUE", 1 << 30)  # slots count on from test to test, so one of these may be due
    with DirectStore(store.config.home) as direct:
        for version, segment in ((1, 1), (3, 1 << 30)):
            monkeypatch.setattr(segment_size, "SEGMENT", segment)
            for text in ("first zebrasecret", "second"):
                store.call("capsule_store", {**call, "capsule_text": text})
            with writing(direct):
                maintained(direct)
            assert direct.rows("select count(*) from search_deleted") == [(0,)]
            assert "zebrasecret" in words(direct), "another writer may be using it"
            store.call("moss_erase", {"type": "capsule", "workspace": "w", "name": "n", "version": version})
            assert "zebrasecret" not in words(direct)
            assert direct.problems() == []


class Model:
    """The part of a model that the matrix uses."""

    name, dimensions, floor = "m", 4, 0.0


def test_a_vector_that_is_committed_late_is_not_missed(home: str) -> None:
    vector = encode_chunks([0], np.array([[1.0, 0.0, 0.0, 0.0]]))
    matrix = VectorMatrix()
    model: Any = Model()
    insert = "insert into vectors (doc, model, vector) values (%s, 'm', %s)"

    def docs(direct: DirectStore) -> list[int]:
        parts = direct.read(lambda tx: matrix.read(PostgresVectors(tx), model, None))  # type: ignore[arg-type]
        return sorted(doc for part in parts for doc in part.docs.tolist())

    with DirectStore(home) as direct, psycopg.connect(databases().url_of(home)) as slow:
        assert docs(direct) == []
        slow.execute(insert, (16, vector))
        with psycopg.connect(databases().url_of(home)) as quick:
            quick.execute(insert, (32, vector))
        assert docs(direct) == [32]
        slow.commit()
        assert docs(direct) == [16, 32]
        direct.run("delete from vectors where doc = 32")
        assert docs(direct) == [16]
