"""Moss changes no mode of existing files, and reading makes no store."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, open_test_store, outcome
from contract.test_hostile_input import base_arguments
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.store import Store
from support.cli_typist import Cli
from support.mcp_pipe import PipeClient, call
from support.store_truth import modes, open_at, refusal

TEXT = {"capsule_text": FULL, "name": "a"}
IDS = {"capsule": "none", "artifact": "none", "conflict": "none"}
READS = [one.name for one in catalog.operations() if not one.mutates and one.name != "capsule_export"]
"""The reading tools; an export makes the folders of its file, but no store either."""


def answer(store: Store, tool: str) -> Any:
    """Return a reading tool's answer to a sensible call, or the error that it raises."""
    said = outcome(store, tool, base_arguments(tool, IDS))
    return said.payload() if isinstance(said, MossError) else said


@pytest.fixture(scope="module")
def made_and_empty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a home with an empty store."""
    home = str(tmp_path_factory.mktemp("made") / "home")
    with open_test_store(home) as store:
        store.call("capsule_bulk_delete", {"workspace": "none"})
    return home


@pytest.mark.parametrize("tool", READS)
def test_reading_without_a_store_answers_as_an_empty_one_and_makes_nothing(
    tool: str, home: Path, made_and_empty: str
) -> None:
    with open_test_store(made_and_empty) as store:
        expected = answer(store, tool)
    if tool == "moss_log":  # the store was made by an event
        expected = {**expected, "events": [], "pagination": {**expected["pagination"], "total": 0}}
    with open_test_store(str(home)) as store:
        assert answer(store, tool) == expected
        assert not home.exists()
        home.mkdir(mode=0o755)
        assert answer(store, tool) == expected
        assert modes(home) == {".": 0o755}


def test_an_export_of_no_store_is_a_file_and_no_store(home: Path) -> None:
    with open_test_store(str(home)) as store:
        exported = store.call("capsule_export", {"path": "x.jsonl"})
    assert exported["count"] == 0
    assert modes(home) == {".": 0o700, "exports": 0o700, "exports/x.jsonl": 0o600}


def test_an_empty_database_file_reads_as_an_empty_store_and_is_not_changed(home: Path) -> None:
    home.mkdir()
    (home / "moss.db").touch()
    with open_at(home) as store:
        assert store.call("capsule_list", {})["items"] == []
    assert os.listdir(home) == ["moss.db"]
    assert (home / "moss.db").stat().st_size == 0


def test_a_store_is_seen_by_the_very_next_read_after_it_was_made(home: Path) -> None:
    with open_at(home) as reader, open_at(home) as writer:
        assert reader.call("capsule_list", {})["items"] == []
        writer.call("capsule_store", TEXT)
        assert reader.call("capsule_fetch", {"name": "a"})["capsule_text"] == FULL


def test_a_removed_store_reads_as_empty_and_is_not_made_again(home: Path, tmp_path: Path) -> None:
    with open_at(home) as store:
        store.call("capsule_store", TEXT)
    home.rename(tmp_path / "elsewhere")
    with open_at(home) as store:
        assert store.call("capsule_list", {})["items"] == []
    assert not home.exists()


def test_modes_of_existing_files_do_not_change(home: Path) -> None:
    home.mkdir()
    (home / "exports").mkdir()
    for name, mode in (("exports", 0o775), ("moss.lock", 0o664), ("moss.db", 0o644), ("config.json", 0o640)):
        if name != "exports":
            (home / name).write_text("{}" if name == "config.json" else "")
        (home / name).chmod(mode)
    home.chmod(0o755)
    with open_at(home) as store:
        store.call("capsule_store", TEXT)
        store.call("capsule_export", {"path": "x.jsonl"})
        store.call("capsule_import", {"path": "x.jsonl", "mode": "replace"})
    found = modes(home)
    assert {name: found[name] for name in (".", "exports", "moss.lock", "moss.db", "config.json")} == {
        ".": 0o755, "exports": 0o775, "moss.lock": 0o664, "moss.db": 0o644, "config.json": 0o640,
    }  # fmt: skip
    assert found["exports/x.jsonl"] == 0o600


def plain_file(path: Path) -> None:
    path.write_text("somebody's")


def device(path: Path) -> None:
    """Make a stand-in for a device: a new node, never the system's; a pipe if only root can make devices."""
    if os.geteuid() == 0:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        os.mkfifo(path)


@pytest.mark.parametrize("make", [plain_file, device])
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_store", "capsule_export"])
def test_a_home_that_is_no_folder_is_a_typed_error_and_keeps_its_mode(home: Path, make: Any, tool: str) -> None:
    make(home)
    home.chmod(0o666)
    with open_at(home) as store:
        error = refusal(lambda: store.call(tool, TEXT if tool == "capsule_store" else {}))
    assert error.code in ("STORAGE_READONLY", "INVALID_REQUEST")
    assert stat.S_IMODE(home.stat().st_mode) == 0o666


@pytest.mark.parametrize("words", [("list",), ("search", "x"), ("doctor",), ("doctor", "--fix"), ("config",)])
@pytest.mark.parametrize("there", [False, True])
def test_a_command_that_reads_leaves_nothing_behind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], *, there: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOSS_HOME", str(home))
    if there:
        home.mkdir(mode=0o755)
    assert Cli(str(home), {})(*words).code == 0
    assert home.exists() is there
    assert not there or modes(home) == {".": 0o755}


def test_a_server_that_is_only_read_from_leaves_nothing_behind(home: Path) -> None:
    with PipeClient(str(home), cwd=str(home.parent)) as client:
        client.send(call("capsule_list"))
        assert client.receive()["result"]["structuredContent"]["items"] == []
        assert client.hang_up() == []
    assert not home.exists()
