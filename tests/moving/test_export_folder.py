"""`moss export --all`: everything as plain files; equal stores give equal folders."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from contract.everything import call_everything, prepare
from moss_memory.errors import MossError
from moss_memory.store import Store
from support.moved_store import check_moves, files_of
from support.store_truth import refusal

PROVENANCE = {"source_refs": [], "extracted_at": "2026-01-31T09:00:00Z", "extractor_version": "1", "agent_id": "a"}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Store:
    return open_test_store(str(tmp_path / "home"), clock)


def put(store: Store, name: str | None = "auth", text: str = FULL, **more: object) -> str:
    arguments = {"capsule_text": text, "allow_thin": True, **({} if name is None else {"name": name}), **more}
    return str(store.call("capsule_store", arguments)["id"])


def test_every_kind_of_row_is_exported_and_imported(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    prepare(home)
    with open_test_store(home, Clock()) as store:
        call_everything(StoreDoor(store))
        check_moves(store, tmp_path)


def test_a_record_of_every_capability_is_exported_and_imported(store: Store, tmp_path: Path) -> None:
    for one in store.call("record_capabilities", {})["capabilities"]:
        body = {"capability_id": one["capability_id"], "body": one["example"]}
        store.call("submit_payload", {**body, "workspace": "shop", "provenance": PROVENANCE})
    check_moves(store, tmp_path)


def test_a_capsule_is_a_markdown_file_with_its_columns_above_its_text(store: Store, tmp_path: Path) -> None:
    text = "## Objective\r\nKeep CRLF\r\n---\nand: this\n---\n\n no newline at the end"
    capsule = put(store, "Token rötation", text, workspace="My Shop!", tags=["a", "é"], title='say "hi"')
    store.call("capsule_delete", {"id": capsule})
    store.export_folder(str(tmp_path / "out"))
    path = tmp_path / "out" / "deleted" / "capsules" / "my shop!" / f"{capsule}.md"
    head, _, rest = path.read_bytes().decode().partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.removeprefix("---\n").split("\n"))
    assert rest == text
    values = {key: json.loads(value) for key, value in fields.items()}
    assert values["tags"] == ["a", "é"]
    assert values["title"] == 'say "hi"'
    assert (values["workspace"], values["name"]) == ("My Shop!", "Token rötation")
    assert values.keys() == {"id", "workspace", "name", "title", "tags", "created_at"}


def test_paths_are_plain_whatever_the_names(store: Store, tmp_path: Path) -> None:
    for workspace in ("../up", "日本", "a/b", "CON", "x" * 256, "a b", "A  B"):
        put(store, "../../etc/passwd", workspace=workspace, mode="replace")
        put(store, None, workspace=workspace)
    lines = [{"id": one, "workspace_raw": "w", "capsule_text": "t"} for one in ("../x", "a", "A", "x" * 256, "ü/\\:*")]
    exports = tmp_path / "home" / "exports"
    exports.mkdir(mode=0o700, parents=True)
    (exports / "odd.jsonl").write_text("\n".join(map(json.dumps, lines)))
    store.call("capsule_import", {"path": "odd.jsonl"})
    told = store.export_folder(str(tmp_path / "out"))
    names = [name for name in files_of(tmp_path / "out") if name.endswith(".md")]
    assert len({name.lower() for name in names}) == told["counts"]["capsules"] == len(names)
    for name in names:
        assert re.fullmatch(r"capsules/[^/.][^/]{0,254}/[^/.][^/]{0,254}\.md", name), name
        assert not set(name) & set(':*?"<>|\\')
    check_moves(store, tmp_path)


def test_an_unchanged_store_leaves_an_unchanged_folder(store: Store, tmp_path: Path, clock: Clock) -> None:
    put(store)
    out = tmp_path / "out"
    store.export_folder(str(out))
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    content = files_of(out)
    clock.advance(100)
    told = store.export_folder(str(out))
    assert (told["written"], told["removed"]) == (0, 0)
    assert files_of(out) == content
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_only_changed_files_are_written_and_those_of_deleted_rows_removed(
    store: Store, tmp_path: Path, clock: Clock
) -> None:
    put(store, "stays")
    changes, goes = put(store, "changes"), put(store, "goes", workspace="only this")
    out = tmp_path / "out"
    store.export_folder(str(out))
    (out / "README.md").write_text("mine")
    (out / "capsules" / "default" / "mine.txt").write_text("mine too")
    clock.advance(10)
    store.call("capsule_update", {"id": changes, "title": "new"})
    store.call("capsule_delete", {"id": goes})
    store.call("capsule_purge", {})
    told = store.export_folder(str(out))
    assert (told["written"], told["removed"]) == (2, 1)  # the capsule and the numbers
    assert not (out / "capsules" / "only this").exists()
    assert (out / "README.md").read_text() == "mine"
    assert (out / "capsules" / "default" / "mine.txt").read_text() == "mine too"
    assert "history.jsonl" not in files_of(out)


def test_new_files_are_private_and_existing_ones_keep_their_mode(store: Store, tmp_path: Path, clock: Clock) -> None:
    capsule = put(store)
    out = tmp_path / "deep" / "out"
    old = os.umask(0)
    try:
        store.export_folder(str(out))
        for path in [out, out.parent, *out.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
        out.chmod(0o755)
        [file] = out.rglob("*.md")
        file.chmod(0o644)
        file.parent.chmod(0o750)
        clock.advance(10)
        store.call("capsule_update", {"id": capsule, "title": "new"})
        store.export_folder(str(out))
    finally:
        os.umask(old)
    assert "new" in file.read_text()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (out, file, file.parent)] == [0o755, 0o644, 0o750]


def test_a_file_that_no_export_wrote_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    put(store)
    out = tmp_path / "out"
    out.mkdir()
    (out / "numbers.jsonl").write_text("mine")
    error = refusal(store.export_folder, str(out))
    assert error.code == "INVALID_REQUEST"
    assert files_of(out) == {"numbers.jsonl": b"mine"}
    (out / "numbers.jsonl").unlink()
    (out / "manifest.json").write_text('{"name": "an app"}')
    assert refusal(store.export_folder, str(out)).code == "INVALID_REQUEST"
    assert files_of(out) == {"manifest.json": b'{"name": "an app"}'}


@pytest.mark.parametrize(
    "named", ["../../victim", "/etc/passwd", "capsules/../x.md", "capsules/a/b/c.md", "x.txt", ".git/config"]
)
def test_a_manifest_cannot_cause_the_removal_of_other_files(store: Store, tmp_path: Path, named: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("here")
    out = tmp_path / "a" / "out"
    store.export_folder(str(out))
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["files"][named] = "x"
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert refusal(store.export_folder, str(out)).code == "INVALID_REQUEST"
    assert refusal(store.import_folder, str(out)).code == "INVALID_REQUEST"
    assert victim.read_text() == "here"


@pytest.mark.parametrize(
    "linked", ["out", "out/capsules", "out/capsules/default", "out/numbers.jsonl", "out/manifest.json"]
)
def test_no_link_is_followed(store: Store, tmp_path: Path, linked: str) -> None:
    put(store)
    out = tmp_path / "out"
    store.export_folder(str(out))
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / linked).rename(elsewhere)
    (tmp_path / linked).symlink_to(elsewhere)
    before = files_of(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()
    put(store, "another")
    assert refusal(store.export_folder, str(out)).code == "INVALID_REQUEST"
    assert refusal(store.import_folder, str(out)).code == "INVALID_REQUEST"
    assert (files_of(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()) == before


def test_a_failed_export_is_reported_and_completed_by_the_next(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "a")
    put(store, "b")
    out = tmp_path / "out"
    write, calls = os.write, []

    def no_space(fd: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(os, "write", no_space)
    assert refusal(store.export_folder, str(out)).code == "STORAGE_FULL"
    monkeypatch.undo()
    with open_test_store(str(tmp_path / "other")) as other:
        error = refusal(other.import_folder, str(out))
    assert error.code == "INVALID_REQUEST"
    assert "is incomplete" in error.message
    store.export_folder(str(out))
    check_moves(store, tmp_path, with_history=False)
    assert files_of(out) == files_of(tmp_path / "first")


def test_a_cancelled_export_is_reported_as_cancelled(store: Store, tmp_path: Path) -> None:
    put(store)
    with pytest.raises(MossError) as caught:
        store.export_folder(str(tmp_path / "out"), cancelled=lambda: True)
    assert caught.value.code == "CANCELLED"


def test_two_exports_into_one_folder_do_not_mix(store: Store, tmp_path: Path) -> None:
    import fcntl

    out = tmp_path / "out"
    store.export_folder(str(out))
    fd = os.open(out, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    assert refusal(store.export_folder, str(out)).code == "STORAGE_BUSY"
    os.close(fd)
    assert refusal(store.export_folder, "\0").code == "INVALID_REQUEST"
    assert refusal(store.export_folder, str(out / "manifest.json")).code == "INVALID_REQUEST"


def test_a_home_without_a_store_gives_a_folder_without_a_row_and_no_store(tmp_path: Path) -> None:
    with open_test_store(str(tmp_path / "none")) as store:
        told = store.export_folder(str(tmp_path / "out"))
    assert set(told["counts"].values()) == {0}
    assert sorted(files_of(tmp_path / "out")) == ["manifest.json", "numbers.jsonl"]
    assert not (tmp_path / "none").exists()
