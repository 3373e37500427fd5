"""Export and import files: whole or absent, private, and correct during concurrent changes of the paths."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from moss_memory.errors import MossError
from moss_memory.store import Store
from support.store_truth import capsule, check_truth, contents, open_at, refusal

ROUNDS = 300


@pytest.fixture
def filled(store: Store) -> Store:
    for number in range(5):
        store.call("capsule_store", {"capsule_text": capsule(f"number {number}"), "name": f"n{number}"})
    return store


def record(id: str, text: str = "imported") -> str:
    return json.dumps({"id": id, "workspace_raw": "w", "capsule_text": text}) + "\n"


def cancel_after(calls: int) -> Callable[[], bool]:
    left = [calls]

    def cancelled() -> bool:
        left[0] -= 1
        return left[0] < 0

    return cancelled


def test_a_cancelled_export_leaves_the_old_file_and_no_other(filled: Store, home: Path) -> None:
    path = Path(filled.call("capsule_export", {"path": "x.jsonl"})["path"])
    before = path.read_bytes()
    filled.call("capsule_delete", {"name": "n0"})
    for arguments in ({"path": "x.jsonl"}, {}):
        for calls in range(5):
            with pytest.raises(MossError) as caught:
                filled.call("capsule_export", arguments, cancelled=cancel_after(calls))
            assert caught.value.code == "CANCELLED"
            assert os.listdir(home / "exports") == ["x.jsonl"]
            assert path.read_bytes() == before


def test_a_cancelled_import_leaves_no_row(filled: Store, home: Path) -> None:
    (home / "exports").mkdir(mode=0o700)
    (home / "exports" / "x.jsonl").write_text("".join(record(f"i{number}") for number in range(5)))
    before = contents(home)
    for calls in range(5):
        error = refusal(filled.call, "capsule_import", {"path": "x.jsonl"}, cancelled=cancel_after(calls))
        assert error.code == "CANCELLED"
        assert contents(home) == before
    assert filled.call("capsule_import", {"path": "x.jsonl"})["imported"] == 5
    check_truth(home)


def test_an_export_is_invisible_until_it_is_whole(filled: Store, home: Path) -> None:
    (home / "exports").mkdir(mode=0o700)
    seen: list[tuple[str, int, int]] = []

    def look() -> bool:
        for name in os.listdir(home / "exports"):
            status = (home / "exports" / name).stat()
            seen.append((name, stat.S_IMODE(status.st_mode), status.st_size))
        return False

    old_umask = os.umask(0)
    try:
        for arguments in ({"path": "x.jsonl"}, {}):
            seen.clear()
            path = Path(filled.call("capsule_export", arguments, cancelled=look)["path"])
            assert len(seen) >= 6
            assert {mode for _, mode, _ in seen} == {0o600}
            assert path.name not in {name for name, *_ in seen}
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            path.unlink()
    finally:
        os.umask(old_umask)


def test_two_exports_of_the_same_second_have_different_files(home: Path) -> None:
    with open_at(home, clock_ms=lambda: 1_700_000_000_000) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
        paths = [store.call("capsule_export", {})["path"] for _ in range(5)]
        inner: list[str] = []

        def export_inside() -> bool:
            if not inner:
                inner.append("")
                with open_at(home, clock_ms=lambda: 1_700_000_000_000) as other:
                    inner[0] = other.call("capsule_export", {})["path"]
            return False

        paths.append(store.call("capsule_export", {}, cancelled=export_inside)["path"])
        paths += inner
    assert len(set(paths)) == 7
    assert sorted(os.listdir(home / "exports")) == sorted(os.path.basename(path) for path in paths)
    assert all(Path(path).read_text().count("\n") == 2 for path in paths)


@pytest.mark.parametrize(
    "workspace", ["../../etc", "a/b", "..", "...", "x" * 256, "~", "é" * 256, "con:nul", "a b", "-rf", ".hidden"]
)
def test_the_name_of_a_workspace_does_not_affect_the_path_of_its_export(
    home: Path, store: Store, workspace: str
) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "workspace": workspace})
    path = store.call("capsule_export", {"workspace": workspace})["path"]
    assert os.path.dirname(path) == str(home / "exports")
    assert os.listdir(home / "exports") == [os.path.basename(path)]
    assert not os.path.basename(path).startswith((".", "-", "~"))
    assert store.call("capsule_import", {"path": path, "mode": "rename"})["imported"] == 1


def test_an_export_replaces_a_plain_file_in_one_step(filled: Store, home: Path) -> None:
    path = Path(filled.call("capsule_export", {"path": "x.jsonl"})["path"])
    with path.open() as old:
        before = old.read()
        old.seek(0)
        filled.call("capsule_delete", {"name": "n0"})
        filled.call("capsule_export", {"path": "x.jsonl"})
        assert old.read() == before
    assert path.read_text().count("\n") == 5
    assert os.listdir(home / "exports") == ["x.jsonl"]


@pytest.mark.parametrize("failing", ["fsync", "rename", "write"])
def test_an_export_that_fails_leaves_the_old_file_and_no_other(
    filled: Store, home: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    path = Path(filled.call("capsule_export", {"path": "x.jsonl"})["path"])
    before = path.read_bytes()
    filled.call("capsule_delete", {"name": "n0"})

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    for arguments in ({"path": "x.jsonl"}, {}):
        with monkeypatch.context() as patch:
            patch.setattr(os, failing, fail)
            error = refusal(filled.call, "capsule_export", arguments)
        assert error.code == "STORAGE_READONLY"
        assert os.listdir(home / "exports") == ["x.jsonl"]
        assert path.read_bytes() == before


@contextmanager
def swapping(swap: Callable[[], None]) -> Iterator[None]:
    """Run the swap repeatedly in a thread while the test runs."""
    stop = threading.Event()

    def keep_swapping() -> None:
        while not stop.is_set():
            swap()

    thread = threading.Thread(target=keep_swapping)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def swap_with_link(path: Path, target: Path, text: str | None) -> Callable[[], None]:
    """Put a link to the target, then a plain file (or nothing), in place of the path, each in one step."""
    beside = path.with_suffix(".swap")

    def swap() -> None:
        beside.symlink_to(target)
        os.replace(beside, path)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            beside.write_text(text)
            os.replace(beside, path)

    return swap


def test_a_link_put_in_place_at_the_last_moment_is_not_followed(
    store: Store, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "exports" / "x.jsonl"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text(record("good"))
    secret = tmp_path / "secret.jsonl"
    secret.write_text(record("secret"))
    really_open, really_rename = os.open, os.rename

    def put_link() -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(secret)

    def open_late(name: str, *arguments: Any, **named: Any) -> int:
        if name == path.name:
            put_link()
        return really_open(name, *arguments, **named)

    def rename_late(*arguments: Any, **named: Any) -> None:
        put_link()
        really_rename(*arguments, **named)

    monkeypatch.setattr(os, "open", open_late)
    assert refusal(store.call, "capsule_import", {"path": "x.jsonl"}).code == "INVALID_REQUEST"
    monkeypatch.setattr(os, "open", really_open)
    monkeypatch.setattr(os, "rename", rename_late)
    path.unlink()
    store.call("capsule_export", {"path": "x.jsonl"})
    assert not path.is_symlink()
    assert secret.read_text() == record("secret")
    assert store.call("capsule_inventory", {})["items"] == []


def test_an_import_never_reads_through_a_link_that_races_with_it(store: Store, home: Path, tmp_path: Path) -> None:
    exports = home / "exports"
    exports.mkdir(parents=True, mode=0o700)
    secret = tmp_path / "secret.jsonl"
    secret.write_text(record("secret", "from outside"))
    (exports / "x.jsonl").write_text(record("good"))
    codes = set()
    with swapping(swap_with_link(exports / "x.jsonl", secret, record("good"))):
        for attempt in range(50 * ROUNDS):  # on a busy machine the file may be missing in all of the first rounds
            if attempt >= ROUNDS and "read" in codes:
                break
            try:
                store.call("capsule_import", {"path": "x.jsonl", "mode": "replace"})
                codes.add("read")
            except MossError as error:
                codes.add(error.code)
    assert codes <= {"read", "INVALID_REQUEST", "NOT_FOUND"}
    assert "read" in codes
    ids = [item["id"] for item in store.call("capsule_inventory", {})["items"]]
    assert ids == ["good"]


def test_an_export_never_writes_through_a_link_that_races_with_it(filled: Store, home: Path, tmp_path: Path) -> None:
    exports = home / "exports"
    exports.mkdir(mode=0o700)
    secret = tmp_path / "secret.jsonl"
    secret.write_text("untouched")
    codes = set()
    with swapping(swap_with_link(exports / "x.jsonl", secret, None)):
        for _ in range(ROUNDS):
            try:
                filled.call("capsule_export", {"path": "x.jsonl"})
                codes.add("written")
            except MossError as error:
                codes.add(error.code)
    assert codes <= {"written", "INVALID_REQUEST"}
    assert "written" in codes
    assert secret.read_text() == "untouched"
    assert [name for name in os.listdir(exports) if not name.startswith("x.")] == []


def test_a_folder_that_is_swapped_with_a_link_never_leads_outside(filled: Store, home: Path, tmp_path: Path) -> None:
    exports, aside, outside = home / "exports", home / "aside", tmp_path / "outside"
    exports.mkdir(mode=0o700)
    outside.mkdir()
    (outside / "x.jsonl").write_text(record("secret", "from outside"))

    def swap() -> None:
        os.rename(exports, aside)
        with suppress(FileExistsError):
            exports.symlink_to(outside)
            exports.unlink()
        while aside.exists():
            with suppress(OSError):
                os.rename(aside, exports)
                return
            shutil.rmtree(exports, ignore_errors=True)  # an export found no folder and made one

    codes = set()
    with swapping(swap):
        for _ in range(ROUNDS):
            for tool in ("capsule_export", "capsule_import"):
                try:
                    filled.call(tool, {"path": "x.jsonl", **({"mode": "replace"} if "import" in tool else {})})
                    codes.add(tool)
                except MossError as error:
                    codes.add(error.code)
    # STORAGE_READONLY: the folder was taken away while the export was writing into it.
    assert codes <= {"capsule_export", "capsule_import", "INVALID_REQUEST", "NOT_FOUND", "STORAGE_READONLY"}
    assert os.listdir(outside) == ["x.jsonl"]
    assert (outside / "x.jsonl").read_text() == record("secret", "from outside")
    assert "secret" not in [item["id"] for item in filled.call("capsule_inventory", {})["items"]]


def test_an_import_larger_than_allowed_is_refused_unread(home: Path) -> None:
    with open_at(home, import_max_bytes=1000) as store:
        (home / "exports").mkdir(parents=True, mode=0o700)
        with (home / "exports" / "x.jsonl").open("wb") as file:
            file.truncate(1 << 40)
        error = refusal(lambda: store.call("capsule_import", {"path": "x.jsonl"}))
    assert error.code == "FILE_TOO_LARGE"
    assert error.details == {"max_bytes": 1000, "actual_bytes": 1 << 40}


def test_calls_leave_no_descriptor_behind(filled: Store, home: Path) -> None:
    filled.call("capsule_export", {"path": "x.jsonl"})
    (home / "exports" / "link.jsonl").symlink_to(home / "exports" / "x.jsonl")
    before = os.listdir("/dev/fd")
    for _ in range(20):
        filled.call("capsule_export", {"path": "x.jsonl"})
        filled.call("capsule_import", {"path": "x.jsonl", "mode": "replace"})
        for tool in ("capsule_export", "capsule_import"):
            for path in ("link.jsonl", "../x.jsonl", "x" * 300 + ".jsonl"):
                refusal(filled.call, tool, {"path": path})
        refusal(lambda: filled.call("capsule_export", {}, cancelled=lambda: True))
    assert len(os.listdir("/dev/fd")) == len(before)
