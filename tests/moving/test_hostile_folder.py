"""Import of folders made by other programs: any fault is reported, and nothing is damaged."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from contract.doors import FULL, Clock, open_test_store
from moss_memory.errors import MossError
from moss_memory.store import Store
from support.direct_store import dump
from support.moved_store import export_first_layout
from support.store_truth import refusal


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_test_store(str(tmp_path / "home"), Clock())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def write(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_names_in_front_matter_are_never_used_as_paths(store: Store, out: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    tricks = ["../../etc/passwd", "/etc/passwd", "..\\..\\x", "\\\\host\\share", "~root/x", "con:", "a/../../b"]
    for place, trick in enumerate(tricks):
        fields = f"id: {json.dumps(trick)}\nname: {json.dumps(trick)}\nworkspace: {json.dumps(trick)}\n"
        write(out, f"w/{place}.md", f"---\n{fields}---\ntext {place}")
    told = store.import_folder(str(out))
    assert (told["imported"]["capsules"], told["errors"]) == (len(tricks), [])
    again = tmp_path / "again"
    store.export_folder(str(again))
    inside = [path for path in again.rglob("*.md") if path.resolve().is_relative_to(again.resolve())]
    assert len(inside) == len(tricks)
    assert sorted({path.name for path in tmp_path.iterdir()} - {"out", "again", "home"}) == before


HEADS = {
    "brackets without end": "tags: " + "[" * 5000 + "x" + "]" * 5000,
    "JSON without end": "tags: " + "[" * 100_000,
    "many keys": "\n".join(f"k{number}: {number}" for number in range(100_000)),
    "many items": "tags:\n" + "\n".join(f"- t{number}" for number in range(100_000)),
    "a long key": "k" * 1_000_000 + ": 1",
    "a number without end": "created_at: " + "9" * 100_000,
    "spaces": "title:" + " " * 1_000_000 + "x",
    "colons": "title: " + ":" * 1_000_000,
}


@pytest.mark.parametrize("kind", HEADS)
def test_extreme_front_matter_is_imported_or_reported(store: Store, out: Path, kind: str) -> None:
    write(out, "w/good.md", "fine")
    write(out, "w/odd.md", f"---\n{HEADS[kind]}\n---\ntext")
    told = store.import_folder(str(out))
    assert told["imported"]["capsules"] + told["skipped"] == 2
    assert store.call("capsule_fetch", {"workspace": "w", "name": "good"})["capsule_text"] == "fine"


LINES: dict[str, str | bytes] = {
    "a long line": '{"table":"' + "x" * 3_000_000 + '"}',
    "deep": '{"table":' + "[" * 100_000,
    "deep but sound": '{"id":"a","workspace_raw":"w","kind":"k","data":' + '{"a":' * 500 + "1" + "}" * 501,
    "a number without end": '{"row_id":' + "9" * 100_000 + "}",
    "NaN": '{"row_id":NaN}',
    "twice": '{"table":"tasks","table":"steps"}',
    "bytes": b"\x80\x81",
    "surrogate": '{"table":"\\ud800"}',
    "many": '{"a":1}\n' * 100_000,
}


FILES = ["artifacts.jsonl", "reasoning.jsonl", "tasks.jsonl", "records.jsonl"]
NEW_FILES = ["numbers.jsonl", "artifacts/w/plan.json", "records/default/{}.json", "tasks/w/steps.jsonl"]


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("name", [*FILES, *NEW_FILES])
def test_malformed_files_are_refused_or_reported(store: Store, tmp_path: Path, out: Path, kind: str, name: str) -> None:
    if name in FILES:
        export_first_layout(out)
    else:
        store.call("artifact_store", {"workspace": "w", "kind": "k", "name": "plan", "data": {}})
        store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
        times = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
        body = {"id": "FU-1", "status": "planning", "description": "t", **times}
        told = store.call("submit_payload", {"capability_id": "neotoma:store_feature_unit:v1", "body": body})
        name = name.format(told["payload_id"])
        store.export_folder(str(out))
    write(out, name, LINES[kind])
    with open_test_store(str(tmp_path / "other"), Clock()) as other:
        try:
            told = other.import_folder(str(out))
        except MossError as error:
            told = error.payload()["error"]
    assert told.get("code") in ("INVALID_REQUEST", "FILE_TOO_LARGE") or told["skipped"]


def test_workspaces_that_do_not_match_the_events_of_a_record_are_ignored(
    store: Store, tmp_path: Path, out: Path
) -> None:
    times = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
    body = {"id": "FU-1", "status": "planning", "description": "t", **times}
    store.call("submit_payload", {"capability_id": "neotoma:store_feature_unit:v1", "body": body})
    store.export_folder(str(out))
    numbers = (out / "numbers.jsonl").read_text()
    (out / "numbers.jsonl").write_text(
        numbers.replace('"event_workspaces":["default","default"]', '"event_workspaces":["x"]')
    )
    assert (out / "numbers.jsonl").read_text() != numbers
    with open_test_store(str(tmp_path / "other"), Clock()) as other:
        assert other.import_folder(str(out))["imported"]["records"] == 1
        assert len(other.call("list_timeline_events", {})["events"]) == 2


def test_names_of_files_that_are_no_text_are_reported(store: Store, out: Path) -> None:
    write(out, "w/good.md", "fine")
    os.makedirs(out / "w", exist_ok=True)
    for name in (b"\xff.md", b"a\nb.md", b"x" * 250 + b".md", b"\xe2\x80\xae.md"):
        with open(os.path.join(os.fsencode(out / "w"), name), "wb") as file:
            file.write(b"text")
    told = store.import_folder(str(out))
    assert told["imported"]["capsules"] == 3
    assert [one["code"] for one in told["errors"]] == ["INVALID_RECORD"] * 2
    json.dumps(told).encode()


def test_a_folder_in_a_folder_that_is_a_link_is_not_followed(store: Store, out: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "secret.md", "not yours")
    write(out, "w/a.md", "fine")
    (out / "capsules").symlink_to(tmp_path / "elsewhere")
    told = store.import_folder(str(out))
    assert (told["imported"]["capsules"], told["ignored"]) == (1, ["capsules"])
    store.call("capsule_delete", {"workspace": "w", "name": "a"})
    (out / "capsules").unlink()
    (out / "capsules").mkdir()
    write(out, "manifest.json", json.dumps({"format": 1, "counts": {}, "files": {"capsules/x/secret.md": "0"}}))
    (out / "capsules" / "x").symlink_to(tmp_path / "elsewhere")
    before = dump(store.config.home)
    assert refusal(store.import_folder, str(out)).code == "INVALID_REQUEST"
    assert dump(store.config.home) == before


@pytest.mark.parametrize(
    ("file", "key"),
    [("numbers.jsonl", "version"), ("tasks/w/tasks.jsonl", "next_index"), ("tasks/w/task_numbers.jsonl", "last"),
     ("history.jsonl", "version")],
)  # fmt: skip
def test_a_number_too_large_to_increment_is_not_imported(
    store: Store, out: Path, tmp_path: Path, file: str, key: str
) -> None:
    for data in ({}, {"a": 1}):
        store.call("artifact_store", {"kind": "k", "name": "plan", "data": data, "mode": "replace"})
    store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
    store.export_folder(str(out), with_history=True)
    content = (out / file).read_text()
    changed = re.sub(rf'"{key}": ?\d+', f'"{key}":{2**63 - 1}', content)
    assert changed != content
    (out / file).write_text(changed)
    with open_test_store(str(tmp_path / "other"), Clock()) as other:
        try:
            told = json.dumps(other.import_folder(str(out))["errors"])  # a line alone is left out
        except MossError as error:
            told = error.message
    assert f"{key} must be a number from 0 to" in told


@pytest.mark.sqlite("a store on a server is no file")
def test_the_store_itself_is_no_markdown_file(store: Store, out: Path) -> None:
    store.call("capsule_store", {"name": "auth", "capsule_text": FULL})
    out.mkdir()
    os.link(os.path.join(store.config.home, "moss.db"), out / "db.md")
    assert refusal(store.import_folder, str(out)).code == "INVALID_REQUEST"
    assert store.call("capsule_fetch", {"name": "auth"})["capsule_text"] == FULL


@pytest.mark.parametrize("path", ["..\\out", "x\\..\\out", "\\\\host\\share"])
def test_paths_of_other_systems_that_lead_out_are_refused(
    store: Store, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for call in (store.export_folder, store.import_folder):
        assert refusal(call, path).code == "INVALID_REQUEST"
    assert not os.path.lexists(path)
