"""A server embeds stored texts while it is idle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import StoreDoor, open_test_store
from semantic.library import GARDEN, QUESTIONS, docs_with_vectors, put, put_all, waiting_docs
from support.direct_store import ContentWatch, Watch
from support.mcp_pipe import PipeClient, call
from support.thorough import complete_or
from support.timeouts import TIMEOUT_S, wait_until


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir(0o700)
    return made


@pytest.fixture
def client(home: Path) -> Iterator[PipeClient]:
    with PipeClient(str(home)) as made:
        yield made


def answer(client: PipeClient, tool: str, **arguments: Any) -> Any:
    client.send(call(tool, arguments))
    return client.receive(TIMEOUT_S)["result"]["structuredContent"]


def has_loaded(client: PipeClient, library: str) -> bool:
    return library in Path(f"/proc/{client.process.pid}/maps").read_text(encoding="utf-8")


def test_a_server_that_only_searches_by_words_loads_no_model(client: PipeClient) -> None:
    answer(client, "capsule_store", name="a", capsule_text=GARDEN, allow_thin=True)
    answer(client, "capsule_search", query="tomatoes")
    answer(client, "moss_search", query="tomatoes", search_mode="keyword")
    assert not has_loaded(client, "onnxruntime")
    assert not has_loaded(client, "numpy")


def test_after_a_search_by_meaning_the_remaining_texts_are_embedded_at_idle(client: PipeClient, home: Path) -> None:
    answer(client, "capsule_store", name="a", capsule_text=GARDEN, allow_thin=True)
    assert answer(client, "moss_search", query=QUESTIONS["garden"])["items"][0]["title"] == "a"
    for number in range(10):
        answer(client, "capsule_store", name=f"n{number}", capsule_text=f"{GARDEN} {number}", allow_thin=True)
    wait_until(lambda: not waiting_docs(str(home)), "the server did not do its idle work")
    assert client.hang_up() == []


def test_idle_work_changes_no_stored_text(client: PipeClient, home: Path) -> None:
    answer(client, "capsule_store", name="a", capsule_text=GARDEN, allow_thin=True)
    answer(client, "moss_search", query=QUESTIONS["garden"])
    answer(client, "capsule_store", name="b", capsule_text=GARDEN, allow_thin=True)
    commits, content = Watch(home), ContentWatch(home)
    wait_until(commits.saw_a_commit, "the server did not do its idle work")
    assert not content.saw_a_change()
    answer(client, "capsule_delete", name="b")
    assert content.saw_a_change()
    commits.close()
    content.close()


def test_a_server_with_idle_work_answers_and_exits(client: PipeClient, home: Path) -> None:
    with open_test_store(str(home)) as store:
        for number in range(complete_or(400, 150)):
            put(StoreDoor(store), f"long {number}", f"{GARDEN} {number}. " * 60)
    found = answer(client, "moss_search", query=QUESTIONS["garden"], limit=1)
    assert found["pending"] > 0
    done = len(docs_with_vectors(str(home)))
    wait_until(lambda: len(docs_with_vectors(str(home))) > done, "the server did not do its idle work")
    assert answer(client, "capsule_fetch", name="long 1", include_text=False)["id"]
    assert client.ask("ping")["result"] == {}
    assert waiting_docs(str(home)), "idle work held up the answers until it was done"
    assert client.hang_up() == []


def test_a_search_that_loads_the_model_delays_no_ping(client: PipeClient, home: Path) -> None:
    with open_test_store(str(home)) as store:
        put_all(StoreDoor(store))
    client.send(call("moss_search", {"query": QUESTIONS["login"]}, id=1))
    client.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    first, second = client.receive(TIMEOUT_S), client.receive(TIMEOUT_S)
    assert [first["id"], second["id"]] == [2, 1]
    assert json.loads(second["result"]["content"][0]["text"])["items"][0]["title"] == "login"


def test_a_submission_does_not_wait_for_a_search_by_meaning(client: PipeClient, home: Path) -> None:
    with open_test_store(str(home)) as store:
        for number in range(complete_or(200, 60)):
            put(StoreDoor(store), f"long {number}", f"{GARDEN} {number}. " * 60)
    body = {"session_id": "s", "started_at": "2025-12-01"}
    client.send(call("moss_search", {"query": QUESTIONS["login"]}, id=1))
    client.send(call("moss_search", {"query": QUESTIONS["garden"]}, id=2))
    client.send(call("submit_payload", {"capability_id": "neotoma:store_agent_session:v1", "body": body}, id=3))
    client.send(call("retrieve_records", {"search": "s", "search_mode": "keyword"}, id=4))
    answers = [client.receive(TIMEOUT_S) for _ in range(4)]
    assert [message["id"] for message in answers] == [3, 4, 1, 2]
    assert len(answers[1]["result"]["structuredContent"]["records"]) == 1


def test_a_search_that_loads_the_model_ignores_later_writes(client: PipeClient) -> None:
    body = {"session_id": "the tomatoes", "started_at": "2025-12-01"}
    answer(client, "capsule_store", name="a", capsule_text=GARDEN, allow_thin=True)
    client.send(call("moss_search", {"query": "tomatoes"}, id=1))
    client.send(call("submit_payload", {"capability_id": "neotoma:store_agent_session:v1", "body": body}, id=2))
    answers = {message["id"]: message["result"] for message in (client.receive(TIMEOUT_S), client.receive(TIMEOUT_S))}
    assert answers[2]["structuredContent"]["created"] is True
    assert [hit["type"] for hit in answers[1]["structuredContent"]["items"]] == ["capsule"]
