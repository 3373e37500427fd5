"""Earlier versions move with `--with-history`, and only to rows that are new in the target."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contract.doors import Clock, open_test_store
from moss_memory.store import Store
from moss_memory.transfer.export_schema import InvalidRow
from moss_memory.transfer.history_files import VersionImport
from support.direct_store import dump
from support.store_truth import refusal


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Store:
    """Return a store with a capsule and an artifact, with three versions each."""
    store = open_test_store(str(tmp_path / "home"), clock)
    for number in range(3):
        text = {"capsule_text": f"text {number}", "allow_thin": True}
        store.call("capsule_store", {"name": "auth", "mode": "replace", **text})
        store.call("artifact_store", {"name": "plan", "kind": "k", "data": {"n": number}, "mode": "replace"})
        clock.advance(10)
    return store


@pytest.fixture
def other(tmp_path: Path, clock: Clock) -> Store:
    return open_test_store(str(tmp_path / "other"), clock)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def versions(store: Store, kind: str, name: str) -> Any:
    return store.call("moss_history", {"type": kind, "name": name})["versions"]


def test_earlier_versions_can_be_read_and_reverted_in_the_target(store: Store, other: Store, out: Path) -> None:
    told = store.export_folder(str(out), with_history=True)
    assert told["counts"]["history"] == 4
    assert other.import_folder(str(out))["imported"]["history"] == 4
    for kind, name in (("capsule", "auth"), ("artifact", "plan")):
        assert versions(other, kind, name) == versions(store, kind, name)
    assert other.call("capsule_fetch", {"name": "auth", "version": 1})["capsule_text"] == "text 0"
    other.call("moss_revert", {"type": "capsule", "name": "auth", "version": 1})
    assert other.call("capsule_fetch", {"name": "auth"})["capsule_text"] == "text 0"


def test_without_history_the_version_number_stays_and_no_earlier_version_exists(
    store: Store, other: Store, out: Path
) -> None:
    store.export_folder(str(out), with_history=True)
    told = store.export_folder(str(out))
    assert told["removed"] == 1
    assert not (out / "history.jsonl").exists()
    assert "history" not in other.import_folder(str(out))["imported"]
    assert [one["version"] for one in versions(other, "capsule", "auth")] == [3]


def test_an_existing_row_keeps_its_own_versions(store: Store, other: Store, out: Path) -> None:
    store.export_folder(str(out), with_history=True)
    other.call("capsule_store", {"name": "auth", "capsule_text": "mine", "allow_thin": True})
    told = other.import_folder(str(out), mode="replace")
    assert told["imported"]["history"] == 2  # of the artifact, which is new
    assert [one["version"] for one in versions(other, "capsule", "auth")] == [2, 1]
    assert other.call("capsule_fetch", {"name": "auth", "version": 1})["capsule_text"] == "mine"


def test_a_copy_beside_an_existing_row_has_the_versions_of_the_original(store: Store, out: Path) -> None:
    store.export_folder(str(out), with_history=True)
    store.import_folder(str(out), mode="rename")
    assert [one["at"] for one in versions(store, "capsule", "auth-1")] == [
        one["at"] for one in versions(store, "capsule", "auth")
    ]
    assert store.call("capsule_fetch", {"name": "auth-1", "version": 2})["capsule_text"] == "text 1"


def test_a_hand_edited_file_of_version_1_has_no_earlier_versions(store: Store, other: Store, out: Path) -> None:
    store.export_folder(str(out), with_history=True)
    numbers = (out / "numbers.jsonl").read_text()
    (out / "numbers.jsonl").write_text(re.sub('(capsules/default/auth.*"version":)3', r"\g<1>1", numbers))
    assert other.import_folder(str(out))["imported"]["history"] == 2
    assert [one["version"] for one in versions(other, "capsule", "auth")] == [1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 0}, "version must be at least 1"),
        ({"id": None}, "has the id"),
        ({"family": "note"}, "family"),
        ({"text": None, "data": None}, "text"),
        ({"unheard": 1}, "no field"),
        ({"at": "now"}, "whole number"),
    ],
)
def test_an_impossible_version_refuses_the_whole_import(
    store: Store, other: Store, out: Path, change: dict[str, Any], said: str
) -> None:
    store.export_folder(str(out), with_history=True)
    lines = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    changed = [*lines[:-1], {**lines[-1], **change}]
    (out / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
    before = dump(other.config.home)
    error = refusal(other.import_folder, str(out))
    assert error.code == "INVALID_REQUEST"
    assert said in error.message
    assert dump(other.config.home) == before


def test_the_same_version_twice_is_refused(store: Store, other: Store, out: Path) -> None:
    store.export_folder(str(out), with_history=True)
    lines = (out / "history.jsonl").read_text()
    (out / "history.jsonl").write_text(lines + lines.splitlines()[0] + "\n")
    assert "duplicate version" in refusal(other.import_folder, str(out)).message


@pytest.mark.parametrize(
    ("key", "told"), [("version", "version must be at least 1"), ("chars", "chars must be at least 0")]
)
def test_a_version_with_an_impossible_number_is_refused_by_its_name(key: str, told: str) -> None:
    number = {"version": 0, "chars": -1}[key]
    line: dict[str, Any] = {"family": "capsule", "id": "a", "version": 1, "at": 1, "tool": "t", "superseded_at": 2}
    line |= {"workspace_raw": "w", "chars": 1, "text": "x", key: number}
    with pytest.raises(InvalidRow, match=told):
        VersionImport().add(line)
