"""`moss index --model` sets a custom model, and `moss doctor` reports it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from moss_memory.search.embedding.embedder import unload_models
from semantic.tiny_encoder import write_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cli_typist import Cli

pytest.importorskip("tokenizers")


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """Write a model of two words, one similar to the other."""
    unload_models()
    yield write_model(tmp_path / "tiny", {"cat": [1.0, 0.0], "kitten": [0.96, 0.28]})
    unload_models()


def test_the_index_command_sets_the_model(cli: Cli, tiny: Path) -> None:
    os.makedirs(cli.home, exist_ok=True)
    config = Path(cli.home) / "config.json"
    config.write_text(json.dumps({"capsule_max_chars": 9000}))
    config.chmod(0o640)
    cli("store", "--name", "kitten", "--allow-thin", "--capsule-text", "kitten").json  # noqa: B018
    answer = cli("index", "--model", str(tiny)).json
    assert (answer["indexed"], answer["pending"]) == (1, 0)
    assert answer["model"].startswith("tiny-")
    assert json.loads(config.read_text()) == {"capsule_max_chars": 9000, "semantic_model": str(tiny)}
    assert config.stat().st_mode & 0o777 == 0o640
    assert [hit["title"] for hit in cli("search", "cat").json["items"]] == ["kitten"]
    checks = cli("doctor").json["checks"]
    (told,) = [check for check in checks if check["name"] == "meaning"]
    assert told["message"] == f"{answer['model']} from {tiny} is installed; every text is prepared"
    assert cli("index", "--model", "built-in").json["indexed"] == 1
    assert json.loads(config.read_text())["semantic_model"] == ""


def test_an_unusable_model_is_not_set(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("index", "--model", str(tmp_path / "nowhere"))
    assert outcome.code == 1
    assert "[SEMANTIC_UNAVAILABLE]" in outcome.err
    assert not os.path.exists(os.path.join(cli.home, "config.json"))


def test_doctor_reports_problems_of_a_model_and_pending_texts(cli: Cli, tiny: Path) -> None:
    cli("store", "--name", "kitten", "--allow-thin", "--capsule-text", "kitten").json  # noqa: B018
    cli("index", "--model", str(tiny)).json  # noqa: B018
    (tiny / "1_Pooling" / "config.json").unlink()
    unload_models()
    (waits,) = [check for check in cli("doctor").json["checks"] if check["name"] == "meaning"]
    assert waits["message"].endswith("1 text to prepare with `moss index`")
    (tiny / "tokenizer.json").unlink()
    unload_models()
    (broken,) = [check for check in cli("doctor").json["checks"] if check["name"] == "meaning"]
    assert broken["status"] == "warn"
    assert "holds no tokenizer.json" in broken["message"]
    assert "semantic_model" in broken["todo"]
