"""The command `moss index`."""

from __future__ import annotations

import json
import os
import pty
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.doors import StoreDoor, open_test_store
from moss_memory.search import embedding_queue
from moss_memory.search.embedding.embedder import unload_models
from semantic.library import LOGIN, QUESTIONS, docs_with_vectors, put, put_all, waiting_docs
from support.cli_typist import Cli
from support.timeouts import TIMEOUT_S


@pytest.fixture
def cli(home: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return a command line for a store of three capsules."""
    monkeypatch.setenv("MOSS_HOME", home)
    with open_test_store(home) as store:
        put_all(StoreDoor(store))
    return Cli(home, dict(os.environ))


def test_index_embeds_every_text_and_shows_the_count(cli: Cli) -> None:
    assert cli("index").json == {"indexed": 3, "pending": 0}
    assert len(docs_with_vectors(cli.home)) == 3
    assert cli("index").json == {"indexed": 0, "pending": 0}
    assert cli("index", "--rebuild").json == {"indexed": 3, "pending": 0}


def test_a_snippet_in_a_table_starts_at_the_beginning_of_a_text_without_matches(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert f"  {LOGIN[:20]}" in cli("search", QUESTIONS["login"], "--table").out


def test_a_table_names_texts_that_could_not_be_searched_by_meaning(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pending  0" in cli("index", "--table").out
    with monkeypatch.context() as patched:
        patched.setattr(embedding_queue, "EMBED_S", 0.0)
        with open_test_store(cli.home) as store:
            for number in range(3):
                put(StoreDoor(store), f"late-{number}", f"late password {number}")
        shown = cli("search", "password", "--table").out
    assert shown.endswith("2 more are found by their words alone; `moss index` prepares them\n")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    unload_models()
    shown = cli("search", "password", "--table").out
    assert shown.endswith("by words alone; `moss doctor` shows how to search by meaning too\n")
    unload_models()


def test_a_question_in_other_words_is_answered_in_the_shell(cli: Cli) -> None:
    found = cli.process("search", QUESTIONS["login"], "--limit", "1")
    assert found.code == 0, found.err
    assert json.loads(found.out)["items"][0]["title"] == "login"
    assert found.err == ""


def test_without_the_extra_index_shows_the_package_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    unload_models()
    try:
        refused = cli("index")
    finally:
        unload_models()
    assert refused.code == 1
    assert refused.err.startswith("[SEMANTIC_UNAVAILABLE]")
    assert "[semantic]" in refused.err


def test_a_terminal_shows_a_progress_bar(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    process = cli.start("index", stderr=theirs)
    os.close(theirs)
    out, _ = process.communicate(timeout=TIMEOUT_S)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    assert process.returncode == 0
    assert json.loads(out) == {"indexed": 3, "pending": 0}
    assert "[........................] index: 0 of 3" in shown
    assert "[########################] index: 3 of 3" in shown
    assert shown.endswith("\r\x1b[K"), "the bar is left standing"


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Handle SIGINT as in a foreground process; a background job inherits an ignored signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_index_continues_where_it_stopped(cli: Cli) -> None:
    with open_test_store(cli.home) as store:
        for number in range(60):
            put(StoreDoor(store), f"more {number}", f"{number} sheep in a meadow by the river. " * 80)
    ours, theirs = pty.openpty()
    process = cli.start("index", stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"index: 16 of" not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT_S)
    said = os.read(ours, 65_536).decode()
    os.close(ours)
    assert process.returncode == 130
    assert "the finished vectors are kept" in said
    assert len(docs_with_vectors(cli.home)) >= 16
    assert waiting_docs(cli.home)


def test_a_home_without_a_store_has_nothing_to_index(tmp_path: Path, cli: Cli) -> None:
    assert cli("index", "--home", str(tmp_path / "new")).json == {"indexed": 0, "pending": 0}
