"""`moss sync`: each rule for one folder and two stores, and folders made by other programs."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, Clock, open_test_store
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.transfer.file_names import decode_name, encode_id, encode_name
from moss_memory.transfer.sync.git_repository import GitRepository
from support.moved_store import files_of
from support.store_truth import refusal

COUNTS = ("taken", "written", "deleted", "restored", "erased")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def a(tmp_path: Path, clock: Clock) -> Store:
    return open_test_store(str(tmp_path / "home a"), clock)


@pytest.fixture
def b(tmp_path: Path, clock: Clock) -> Store:
    return open_test_store(str(tmp_path / "home b"), clock)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def put(store: Store, name: str | None = "auth", text: str = FULL, **more: object) -> str:
    arguments = {"capsule_text": text, "allow_thin": True, **({} if name is None else {"name": name}), **more}
    return str(store.call("capsule_store", arguments)["id"])


def synced(store: Store, folder: Path, **more: Any) -> dict[str, Any]:
    """Return the counts of a sync, without zeros."""
    told = store.sync(str(folder), **more)
    return {key: told[key] for key in (*COUNTS, "conflicts", "skipped") if told[key]}


def fetch(store: Store, name: str = "auth", **more: Any) -> Any:
    return store.call("capsule_fetch", {"name": name, **more})


def test_a_record_of_every_capability_is_synced(a: Store, b: Store, folder: Path) -> None:
    provenance = {"extracted_at": "2026-01-31T09:00:00Z", "extractor_version": "1", "agent_id": "a"}
    capabilities = a.call("record_capabilities", {})["capabilities"]
    for one in capabilities:
        body = {"capability_id": one["capability_id"], "body": one["example"]}
        a.call("submit_payload", {**body, "provenance": {**provenance, "source_refs": []}})
    assert synced(a, folder) == {"written": len(capabilities)}
    assert synced(b, folder) == {"taken": len(capabilities)}
    assert synced(b, folder) == synced(a, folder) == {}


def test_a_file_contains_nothing_that_changes_without_its_row(a: Store, folder: Path, clock: Clock) -> None:
    put(a, tags=["x"])
    assert synced(a, folder) == {"written": 1}
    path = folder / "capsules" / "default" / "auth.md"
    before, when = path.read_bytes(), path.stat().st_mtime_ns
    head = before.decode().partition("\n---\n")[0]
    assert [line.partition(":")[0] for line in head.splitlines()[1:]] == [
        "id", "workspace", "name", "title", "tags", "created_at",
    ]  # fmt: skip
    clock.advance(100)
    a.call("capsule_update", {"name": "auth", "title": "auth"})  # a version with equal content
    put(a, "other")
    assert synced(a, folder) == {"written": 1}
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, when)
    assert synced(a, folder) == {}


def test_after_changes_on_both_sides_the_file_wins_and_the_row_stays_readable(a: Store, b: Store, folder: Path) -> None:
    put(a)
    synced(a, folder)
    assert synced(b, folder) == {"taken": 1}
    put(a, text="by a", mode="replace")
    put(b, text="by b", mode="replace")
    synced(a, folder)
    told = synced(b, folder)
    assert told == {
        "taken": 1,
        "conflicts": [{"type": "capsule", "address": "default/auth", "file": "capsules/default/auth.md"}],
    }
    assert fetch(b)["capsule_text"] == "by a"
    assert fetch(b, version=fetch(b)["version"] - 1)["capsule_text"] == "by b"
    assert synced(b, folder) == synced(a, folder) == {}


def test_deletion_restoration_and_erasure_are_synced(a: Store, b: Store, folder: Path) -> None:
    capsule_id = put(a)
    synced(a, folder)
    synced(b, folder)
    a.call("capsule_delete", {"name": "auth"})
    assert synced(a, folder) == synced(b, folder) == {"deleted": 1}
    assert not (folder / "capsules").exists()
    a.call("capsule_restore", {"id": capsule_id})
    assert synced(a, folder) == {"written": 1}
    assert synced(b, folder) == {"restored": 1}
    assert fetch(b)["version"] == 1
    a.call("moss_erase", {"type": "capsule", "id": capsule_id})
    assert synced(a, folder) == synced(b, folder) == {"erased": 1}
    assert (folder / "erased" / capsule_id).is_file()
    assert refusal(b.call, "capsule_fetch", {"id": capsule_id, "include_deleted": True}).code == "NOT_FOUND"
    assert synced(a, folder) == synced(b, folder) == {}


def test_a_deletion_against_a_change_loses_nothing(a: Store, b: Store, folder: Path) -> None:
    put(a)
    synced(a, folder)
    synced(b, folder)
    a.call("capsule_delete", {"name": "auth"})
    put(b, text="changed", mode="replace")
    synced(a, folder)  # removes the file
    assert synced(b, folder) == {"written": 1}
    assert synced(a, folder) == {"restored": 1}
    assert fetch(a)["capsule_text"] == "changed"


def test_the_same_name_made_on_both_sides_becomes_one_capsule(a: Store, b: Store, folder: Path) -> None:
    put(a, text="by a")
    own = put(b, text="by b")
    synced(a, folder)
    assert synced(b, folder)["taken"] == 1
    assert (fetch(b)["id"], fetch(b)["capsule_text"]) == (own, "by a")
    b.call("capsule_update", {"name": "auth", "title": "new"})
    assert synced(b, folder) == {"written": 1}
    assert synced(a, folder) == {"taken": 1}
    a.call("moss_erase", {"type": "capsule", "name": "auth"})
    synced(a, folder)
    assert synced(b, folder) == {"erased": 1}


def test_local_capsules_never_leave_and_are_never_deleted(a: Store, b: Store, folder: Path) -> None:
    put(a, "secret", tags=["local"])
    put(a)
    synced(a, folder)
    synced(b, folder)
    assert "secret" not in str(files_of(folder))
    a.call("capsule_update", {"name": "auth", "local": True, "title": "mine"})
    told = synced(a, folder)
    assert told.keys() == {"skipped"}
    assert "local" in told["skipped"][0]["why"]
    (folder / "capsules" / "default" / "auth.md").unlink()
    assert synced(a, folder) == {}
    assert fetch(a)["title"] == "mine"
    assert synced(b, folder) == {"deleted": 1}
    a.call("capsule_update", {"name": "auth", "local": False})
    assert synced(a, folder) == {"written": 1}
    assert a.export_folder(str(folder.parent / "out"))["left_local"] == 1


def test_records_are_added_and_an_edited_one_is_left_alone(a: Store, b: Store, folder: Path, clock: Clock) -> None:
    times = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
    body = {"id": "FU-1", "status": "planning", "description": "t", **times}
    payload = {"capability_id": "neotoma:store_feature_unit:v1", "body": body}
    for store in (a, b):
        store.call("submit_payload", payload)
        clock.advance(1)
    synced(a, folder)
    assert synced(b, folder) == {"taken": 1, "written": 1}
    assert synced(a, folder) == {"taken": 1}
    assert [one.call("retrieve_entities", {})["entities"][0]["observation_count"] for one in (a, b)] == [2, 2]
    [path] = folder.glob("records/*/*.json")
    content = path.read_text()
    path.write_text(content.replace("planning", "completed"))
    assert "never edited" in synced(a, folder)["skipped"][0]["why"]
    path.unlink()
    assert synced(a, folder) == {"written": 1}
    a.call("moss_erase", {"type": "record", "id": path.stem})
    assert synced(a, folder) == synced(b, folder) == {"erased": 1}


@pytest.mark.parametrize("settle", ["ours", "theirs"])
def test_reasoning_that_both_changed_waits_for_a_decision(a: Store, b: Store, folder: Path, settle: str) -> None:
    for store in (a, b):
        store.call("branchmind_notes_commit", {"workspace": "w", "content": f"of {store.config.home[-1]}"})
        told = synced(store, folder)
    assert told == {"conflicts": [{"type": "workspace", "address": "w", "file": "reasoning/w"}]}
    assert synced(b, folder, settle=settle) == ({"written": 1} if settle == "ours" else {"taken": 1})
    synced(a, folder)
    notes = [
        [one["content"] for one in store.call("branchmind_show", {"workspace": "w", "doc_kind": "notes"})["entries"]]
        for store in (a, b)
    ]
    assert notes == [["of b" if settle == "ours" else "of a"]] * 2
    assert synced(a, folder) == synced(b, folder) == {}


def test_tasks_keep_their_own_count_of_revisions(a: Store, b: Store, folder: Path) -> None:
    a.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
    a.call("tasks_edit", {"workspace": "w", "target": "TASK-001", "title": "u"})
    synced(a, folder)
    assert "revision" not in (folder / "tasks" / "w" / "tasks.jsonl").read_text()
    synced(b, folder)
    assert b.call("tasks_show", {"workspace": "w", "target": "TASK-001"})["revision"] == 1
    b.call("tasks_create", {"workspace": "w", "kind": "task", "title": "second"})
    synced(b, folder)
    assert synced(a, folder) == {"taken": 1}
    assert [one["title"] for one in a.call("tasks_list", {"workspace": "w"})["items"]] == ["u", "second"]


def test_a_file_written_by_hand_is_imported_and_not_changed(a: Store, b: Store, folder: Path) -> None:
    path = folder / "capsules" / "shop" / "ideas.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntags: [x, y]\n---\nan idea\r\n")
    before = path.read_bytes()
    assert synced(a, folder) == synced(b, folder) == {"taken": 1}
    assert path.read_bytes() == before
    ids = [fetch(store, "ideas", workspace="shop")["id"] for store in (a, b)]
    assert ids[0] == ids[1]
    assert fetch(a, "ideas", workspace="shop")["tags"] == ["x", "y"]
    assert synced(a, folder) == synced(b, folder) == {}


def test_only_the_named_workspaces_are_synced(a: Store, folder: Path) -> None:
    put(a, workspace="Shop")
    put(a, workspace="private")
    assert synced(a, folder, workspaces=["shop"]) == {"written": 1}
    assert [path.name for path in (folder / "capsules").iterdir()] == ["shop"]
    a.call("moss_rename", {"type": "capsule", "workspace": "shop", "name": "auth", "new_workspace": "elsewhere"})
    assert synced(a, folder, workspaces=["shop"]).keys() == {"skipped"}
    hidden = folder / "capsules" / "shop" / "trick.md"
    hidden.write_text('---\nworkspace: "private"\nname: "auth"\n---\nforged')
    assert "leaves out" in str(synced(a, folder, workspaces=["shop"]))
    assert fetch(a, workspace="private")["capsule_text"] == FULL


def test_a_dry_run_changes_nothing_and_says_the_same(a: Store, folder: Path) -> None:
    put(a)
    assert synced(a, folder, dry_run=True) == {"written": 1}
    assert not folder.exists()
    synced(a, folder)
    (folder / "capsules" / "default" / "auth.md").write_text("---\nname: auth\n---\nchanged")
    before = files_of(folder)
    assert synced(a, folder, dry_run=True)["taken"] == 1
    assert (files_of(folder), fetch(a)["version"]) == (before, 1)


def test_a_secret_is_reported_before_it_is_exported(a: Store, folder: Path) -> None:
    put(a, text="password = hunter2-Wx9Tq8Lr5", allow_secrets=True)
    told = a.sync(str(folder))
    assert told["findings"][0]["path"] == "capsules/default/auth.md"


def test_a_new_clone_at_the_same_place_deletes_nothing(a: Store, folder: Path) -> None:
    import shutil

    put(a)
    synced(a, folder)
    shutil.rmtree(folder)
    folder.mkdir()
    assert synced(a, folder) == {"written": 1}


def link(path: Path) -> None:
    target = path.parents[2] / "w"
    path.rename(target)
    path.symlink_to(target)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


HOSTILE: dict[str, Callable[[Path], object]] = {
    "a link": link,
    "a hard link": lambda path: os.link(path, path.parents[2] / "other"),
    "a pipe": pipe,
    "a folder": make_folder,
    "conflict markers": lambda path: path.write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"),
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe"),
    "a broken head": lambda path: path.write_text('---\nid: 5\nname: " "\n---\nx'),
    "a huge file": lambda path: os.truncate(path, 30_000_000),
    "NUL": lambda path: path.write_bytes(b"a\0b"),
    "a linked folder": lambda path: link(path.parent),
    "a linked family": lambda path: link(path.parents[1]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_unusable_file_is_named_and_not_changed(a: Store, folder: Path, kind: str) -> None:
    put(a)
    put(a, "other", workspace="elsewhere")
    synced(a, folder)
    HOSTILE[kind](folder / "capsules" / "default" / "auth.md")
    told = synced(a, folder)
    if kind != "a folder":  # a folder in its place is no file: it counts as gone, or is in the way
        assert told.keys() == {"skipped"}
        assert fetch(a)["version"] == 1
        a.call("capsule_update", {"name": "auth", "title": "later"})
        assert "written" not in synced(a, folder)
        assert fetch(a)["title"] == "later"
    assert fetch(a, "other", workspace="elsewhere")["version"] == 1


def test_files_of_others_are_never_touched(a: Store, folder: Path) -> None:
    others = {
        "README.md": "mine", "capsules/README.md": "mine", "capsules/default/notes.txt": "mine",
        "capsules/default/deep/er.md": "mine", "tasks/w/other.jsonl": "mine", "reasoning/x.jsonl": "mine",
    }  # fmt: skip
    for name, content in others.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    put(a)
    assert synced(a, folder) == {"written": 1}
    a.call("capsule_delete", {"name": "auth"})
    synced(a, folder)
    assert {name: (folder / name).read_text() for name in others} == others
    assert stat.S_IMODE((folder / ".moss-sync").stat().st_mode) == 0o700


NAMES = [
    "auth", "a/b", "..", ".", ".hidden", "con", "nul.txt", "a.", "50%", "%2e", "\u03c2", "\u03c3", "\u017f",
    "s", "ß", "ss",
    "é", "日本",
    "x" * 256, "日" * 256, "01arz3ndektsv4rrffq69g5fav", 'q"<>|?*:\\', "a b", "~", "-",
]  # fmt: skip


def test_names_become_file_names_that_no_system_confuses(a: Store, folder: Path) -> None:
    for name in NAMES:
        put(a, name, name, workspace=name)
    put(a, None, "unnamed")
    assert synced(a, folder) == {"written": len(NAMES) + 1}
    paths = [path.relative_to(folder) for path in (folder / "capsules").glob("*/*.md")]
    assert len({str(path).casefold() for path in paths}) == len(NAMES) + 1
    assert all(len(part.encode()) <= 255 for path in paths for part in path.parts)
    assert (encode_name("auth"), encode_name("a/b"), encode_name("con")) == ("auth", "a%2Fb", "%63on")
    assert all(decode_name(encode_name(name)) == name for name in NAMES if len(name) < 60)
    assert encode_id("a") != encode_id("A") != encode_name("a")
    with open_test_store(str(folder.parent / "other"), Clock()) as other:
        assert synced(other, folder) == {"taken": len(NAMES) + 1}
        assert all(fetch(other, name, workspace=name)["capsule_text"] == name for name in NAMES)
        assert synced(other, folder) == {}


def test_a_tombstone_with_a_strange_name_erases_nothing(a: Store, folder: Path) -> None:
    capsule_id = put(a)
    for name in ("..%2F..%2Fx", "%ff", "auth", "%id~x", "a" * 200, f"%30{capsule_id[1:]}", f"%id~{capsule_id}"):
        (folder / "erased").mkdir(parents=True, exist_ok=True)
        (folder / "erased" / name).write_text("x")
    assert synced(a, folder) == {"written": 1}


def test_the_home_and_a_missing_folder_name_are_refused(a: Store) -> None:
    put(a)
    assert refusal(a.sync, a.config.home).code == "INVALID_REQUEST"
    assert refusal(a.sync, " ").code == "INVALID_REQUEST"
    assert refusal(a.sync, "x", settle="mine").code == "INVALID_REQUEST"


def test_a_repository_may_only_name_a_folder_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "repo"
    (root / ".moss").mkdir(parents=True)
    home = tmp_path / "home"
    for value, expected in (
        (".moss/memory", str(root / ".moss" / "memory")),
        ("../out", ""),
        ("/etc", ""),
        (".git/x", ""),
    ):
        (root / ".moss" / "config.json").write_text(json.dumps({"sync_folder": value}))
        config = load_config(str(home), cwd=str(root))
        assert (config.sync_folder, bool(config.warnings)) == (expected, not expected)


def test_a_store_that_is_read_only_is_not_synced(a: Store, folder: Path) -> None:
    put(a)
    with Store(a.config, read_only=True) as store, pytest.raises(MossError) as caught:
        store.sync(str(folder))
    assert caught.value.code == "READ_ONLY"


@pytest.mark.parametrize("name", ["a%00b", "a%0Ab", "a\tb", "%FF"])
def test_a_copy_whose_file_name_is_no_name_is_skipped_and_named(a: Store, folder: Path, name: str) -> None:
    put(a)
    synced(a, folder)
    (folder / "capsules" / "default" / f"{name}.md").write_bytes((folder / "capsules/default/auth.md").read_bytes())
    put(a, "other")
    told = synced(a, folder)
    assert [one["file"] for one in told.pop("skipped")] == [f"capsules/default/{name}.md"]
    assert told == {"written": 1}
    assert a.call("capsule_list", {})["pagination"]["total"] == 2


@pytest.mark.parametrize("names", [["Auth"], ["AUTH", "Auth"], ["a%2fb", "a%2Fb"]])
def test_copies_that_differ_in_case_alone_are_skipped_and_the_next_sync_changes_nothing(
    a: Store, b: Store, folder: Path, names: list[str]
) -> None:
    put(a)
    synced(a, folder)
    for name in names:
        (folder / "capsules" / "default" / f"{name}.md").write_bytes((folder / "capsules/default/auth.md").read_bytes())
    first = synced(a, folder)
    assert "conflicts" not in first
    assert "deleted" not in first
    for store in (a, b, a):
        synced(store, folder)
        assert synced(store, folder).keys() <= {"skipped"}
        assert fetch(store)["version"] == 1
    listed = {item["name_norm"] for item in a.call("capsule_list", {})["items"]}
    assert listed == {item["name_norm"] for item in b.call("capsule_list", {})["items"]}
    assert listed == ({"auth", "a/b"} if "a%2fb" in names else {"auth"})


@pytest.mark.parametrize("hostile", ["remote", "branch"])
def test_git_takes_no_option_from_the_configuration_of_a_repository(folder: Path, tmp_path: Path, hostile: str) -> None:
    option = f"--upload-pack=touch${{IFS}}{tmp_path}/ran;false"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    (folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{option if hostile == 'branch' else 'main'}\n")
    remote = option if hostile == "remote" else str(tmp_path / "other.git")
    (folder / ".git" / "config").open("a").write(f'[branch "main"]\n\tremote = "{remote}"\n')
    with pytest.raises(MossError, match="begins with a hyphen") as refused:
        GitRepository(str(folder))
    assert refused.value.code == "INVALID_REQUEST"
    assert not (tmp_path / "ran").exists()
