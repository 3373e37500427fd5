"""A custom model: a folder with an encoder and its tokenizer replaces the bundled one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import open_test_store
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.search.embedding import custom_model
from moss_memory.search.embedding.embedder import unload_models
from semantic.tiny_encoder import onnx, write_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.store import Store

ANIMALS = {"cat": [1.0, 0.0, 0.0], "kitten": [0.96, 0.28, 0.0], "tax": [0.0, 0.0, 1.0], "invoice": [0.0, 0.28, 0.96]}
"""The words of a model and their vectors."""

pytest.importorskip("tokenizers")


@pytest.fixture(autouse=True)
def _fresh_models() -> Iterator[None]:
    unload_models()
    yield
    unload_models()


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny", ANIMALS)


def filled(home: str, **settings: Any) -> Store:
    store = open_test_store(home, **settings)
    for name in ("kitten", "invoice"):
        if not store.call("capsule_search", {"query": name, "search_mode": "keyword"})["items"]:
            store.call("capsule_store", {"name": name, "capsule_text": f"{name} {name}", "allow_thin": True})
    return store


def found(store: Store, query: str, mode: str = "semantic") -> list[str]:
    return [hit["name"] for hit in store.call("capsule_search", {"query": query, "search_mode": mode})["items"]]


def refusal(folder: Path | str) -> str:
    """Return the reason why a folder cannot be used as a model."""
    with pytest.raises(MossError) as caught:
        custom_model.load(str(folder))
    assert caught.value.code == "SEMANTIC_UNAVAILABLE"
    assert str(folder) in caught.value.message
    assert caught.value.details == {"model": str(folder)}
    return caught.value.message


def test_a_custom_model_finds_similar_texts(home: str, tiny: Path) -> None:
    with filled(home, semantic_model=str(tiny)) as store:
        assert found(store, "cat") == ["kitten"]
        assert found(store, "tax") == ["invoice"]
        assert found(store, "cat", "both") == ["kitten"]


def test_a_relative_path_and_a_tilde_are_resolved(home: str, tmp_path: Path) -> None:
    config = load_config(home, cwd="/")
    assert config.model_folder == ""
    assert config.replace(semantic_model="models/e5").model_folder == os.path.join(home, "models", "e5")
    assert config.replace(semantic_model="~/e5").model_folder == os.path.expanduser("~/e5")


def test_vectors_are_stored_per_model(home: str, tmp_path: Path, tiny: Path) -> None:
    turned = {word: list(reversed(vector)) for word, vector in ANIMALS.items()}
    wider = write_model(tmp_path / "wider", {word: [*vector, 0.0] for word, vector in turned.items()})
    with filled(home, semantic_model=str(tiny)) as store:
        assert store.index() == {"indexed": 2, "pending": 0}
    with filled(home, semantic_model=str(wider)) as store:
        assert found(store, "invoice", "keyword") == ["invoice"]
        assert store.index(most=1) == {"indexed": 1, "pending": 1}
        assert store.index() == {"indexed": 1, "pending": 0}
        assert found(store, "cat") == ["kitten"]
    with filled(home, semantic_model=str(tiny)) as store:
        assert store.index() == {"indexed": 2, "pending": 0}


def test_the_name_of_a_model_depends_on_its_files_and_not_on_its_folder(tmp_path: Path, tiny: Path) -> None:
    again = write_model(tmp_path / "copy" / "tiny", ANIMALS)
    changed = write_model(tmp_path / "changed" / "tiny", ANIMALS, pooling="max_tokens")
    assert custom_model.load(str(tiny)).name == custom_model.load(str(again)).name
    assert custom_model.load(str(tiny)).name != custom_model.load(str(changed)).name


@pytest.mark.parametrize(
    ("pooling", "nearest"), [("mean_tokens", "cat"), ("max_tokens", "cat"), ("cls_token", ""), ("lasttoken", "")]
)
def test_pooling_is_read_from_the_settings_of_the_model(tmp_path: Path, pooling: str, nearest: str) -> None:
    model = custom_model.load(str(write_model(tmp_path / "model", ANIMALS, pooling=pooling)))
    near = model.question("cat") @ model.question("kitten")
    far = model.question("cat") @ model.question("tax")
    assert bool(near > far + 0.5) is bool(nearest)  # first and last pieces are the same in every text


def test_the_prefixes_of_questions_and_texts_are_read_from_the_settings(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", ANIMALS)
    prompts = {"prompts": {"query": "tax ", "document": "cat "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    model = custom_model.load(str(folder))
    assert model.question("[UNK]") @ model.encode_chunks("", "tax")[1][0] > 0.6
    assert model.question("[UNK]") @ model.encode_chunks("", "[UNK]")[1][0] < 0.3


def test_a_long_text_is_cut_into_passages_between_words(tiny: Path) -> None:
    text = " ".join(["cat"] * 200 + ["tax"] * 200)
    places, vectors = custom_model.load(str(tiny)).encode_chunks("", text)
    assert len(places) == len(vectors) == 4
    assert all(text[place - 1 : place] in ("", " ") for place in places)
    assert vectors[0] @ vectors[1] > 0.99 > 0.3 > vectors[0] @ vectors[3]


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert "there is no such folder" in refusal(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    assert "there is no such folder" in refusal(tmp_path / "file")


def test_a_folder_without_encoder_or_tokenizer_is_refused(tmp_path: Path, tiny: Path) -> None:
    (tiny / "tokenizer.json").unlink()
    assert "holds no tokenizer.json" in refusal(tiny)
    (tiny / "onnx" / "model.onnx").rename(tiny / "onnx" / "other.txt")
    assert "holds no encoder" in refusal(tiny)


def test_one_of_several_encoders_must_be_named(tiny: Path) -> None:
    content = (tiny / "onnx" / "model.onnx").read_bytes()
    (tiny / "onnx" / "model.onnx").rename(tiny / "onnx" / "model_int8.onnx")
    assert custom_model.load(str(tiny)).dimensions == 3
    (tiny / "onnx" / "model_fp16.onnx").write_bytes(content)
    assert "several encoders" in refusal(tiny)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x08" * 50, b"\xff" * 1000])
def test_a_broken_encoder_is_refused(tiny: Path, content: bytes) -> None:
    (tiny / "onnx" / "model.onnx").write_bytes(content)
    refusal(tiny)


@pytest.mark.parametrize("content", ["", "{}", "[" * 10_000, '{"model": {"type": "WordLevel"}}', "\0"])
def test_a_broken_tokenizer_is_refused(tiny: Path, content: str) -> None:
    (tiny / "tokenizer.json").write_text(content)
    refusal(tiny)


def test_vectors_of_another_width_than_configured_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", ANIMALS, told_width=384)
    assert "its vectors have 3 numbers" in refusal(folder)


def test_an_encoder_with_other_inputs_is_refused(tiny: Path) -> None:
    table = [[0.1, 0.2, 0.3]] * 7
    (tiny / "onnx" / "model.onnx").write_bytes(onnx(table, inputs=("input_ids", "pixel_values")))
    assert "takes pixel_values" in refusal(tiny)


def test_a_tokenizer_of_another_model_is_refused(tiny: Path) -> None:
    (tiny / "onnx" / "model.onnx").write_bytes(onnx([[0.1, 0.2, 0.3]]))
    assert "failed" in refusal(tiny)


def test_an_encoder_without_output_is_refused(tiny: Path) -> None:
    (tiny / "onnx" / "model.onnx").write_bytes(onnx([[0.0, 0.0, 0.0]] * 7))
    assert "gives no vector" in refusal(tiny)


@pytest.mark.parametrize(
    "settings",
    [
        '{"pooling_mode_weightedmean_tokens": true}',
        "[]",
        "{",
        '{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}',
    ],
)
def test_unsupported_settings_are_refused(tiny: Path, settings: str) -> None:
    (tiny / "1_Pooling" / "config.json").write_text(settings)
    assert "1_Pooling" in refusal(tiny)


def test_with_an_unusable_model_search_by_words_works(home: str, tmp_path: Path) -> None:
    with filled(home, semantic_model=str(tmp_path / "nowhere")) as store:
        answer = store.call("capsule_search", {"query": "kitten", "search_mode": "both"})
        assert answer["degraded"] is True
        assert [hit["name"] for hit in answer["items"]] == ["kitten"]
        with pytest.raises(MossError) as caught:
            found(store, "kitten")
    assert caught.value.code == "SEMANTIC_UNAVAILABLE"


def test_without_the_tokenizers_package_the_command_to_install_it_is_shown(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    assert custom_model.EXTRA in refusal(tiny)


def test_a_repository_cannot_choose_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    repository = tmp_path / "repository" / ".moss"
    repository.mkdir(parents=True)
    (repository / "config.json").write_text(json.dumps({"semantic_model": "/somewhere"}))
    home = tmp_path / "home"
    home.mkdir()
    config = load_config(str(home), cwd=str(repository.parent))
    assert config.model_folder == ""
    assert "semantic_model" in config.warnings[0]
    (home / "config.json").write_text(json.dumps({"trust_repo_config": True}))
    assert load_config(str(home), cwd=str(repository.parent)).model_folder == "/somewhere"
