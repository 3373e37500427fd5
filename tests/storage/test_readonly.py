"""A folder or disk that cannot be written: a typed error, reads succeed, and writes succeed again later."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.python_process import finish, run, start, without_root_powers
from support.store_truth import capsule, check_truth, open_at

PRELUDE = """
import os, sys
from support.store_truth import capsule, open_at, refusal
home = sys.argv[1]
text = {"capsule_text": capsule()}
writes = [
    ("capsule_store", {**text, "name": "c"}),
    ("capsule_update", {"name": "a", "title": "t"}),
    ("capsule_append", {"name": "a", "section": "Decisions", "content": "x"}),
    ("capsule_delete", {"name": "a"}),
    ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
    ("capsule_bulk_delete", {"workspace": "default"}),
    ("capsule_purge", {}),
]

def all_reads_and_no_writes(store):
    for tool, arguments in writes:
        error = refusal(lambda: store.call(tool, arguments))
        assert error.code == "STORAGE_READONLY", (tool, error)
        assert store.call("capsule_fetch", {"name": "a"})["capsule_text"] == capsule()
        assert store.call("capsule_list", {})["pagination"]["total"] == 1
        assert store.call("capsule_inventory", {})["items"][0]["name"] == "a"
"""


@pytest.fixture
def filled(home: Path) -> Iterator[Path]:
    """Return a home with one capsule, writable again after the test."""
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    yield home
    home.chmod(0o700)


def test_a_readonly_folder_is_a_typed_error_and_reads_go_on(filled: Path) -> None:
    filled.chmod(0o500)
    run(PRELUDE + "all_reads_and_no_writes(open_at(home))", filled, wrapped_in=without_root_powers())
    assert stat.S_IMODE(filled.stat().st_mode) == 0o500
    check_truth(filled)


def test_readonly_files_are_a_typed_error_and_reads_go_on(filled: Path) -> None:
    (filled / "moss.db").chmod(0o400)
    filled.chmod(0o500)
    run(PRELUDE + "all_reads_and_no_writes(open_at(home))", filled, wrapped_in=without_root_powers())


def test_a_folder_that_its_owner_made_readonly_for_all_stays_readonly(filled: Path) -> None:
    filled.chmod(0o555)
    run(PRELUDE + "all_reads_and_no_writes(open_at(home))", filled, wrapped_in=without_root_powers())
    assert stat.S_IMODE(filled.stat().st_mode) & 0o222 == 0


def test_the_same_store_writes_and_sees_its_writes_once_the_folder_is_writable_again(filled: Path) -> None:
    script = """
os.chmod(home, 0o500)
store = open_at(home)
all_reads_and_no_writes(store)
os.chmod(home, 0o700)
store.call("capsule_store", {**text, "name": "b"})
assert store.call("capsule_fetch", {"name": "b"})["name"] == "b"
assert store.call("capsule_list", {})["pagination"]["total"] == 2
store.close()
"""
    run(PRELUDE + script, filled, wrapped_in=without_root_powers())
    check_truth(filled)


def test_a_reader_in_a_readonly_folder_sees_writes_of_others(filled: Path) -> None:
    script = """
store = open_at(home)
assert store.call("capsule_list", {})["pagination"]["total"] == 1
print("read", flush=True)
sys.stdin.readline()
assert store.call("capsule_list", {})["pagination"]["total"] == 2
"""
    filled.chmod(0o500)
    reading = start(PRELUDE + script, filled, wrapped_in=without_root_powers())
    assert reading.stdout is not None
    assert reading.stdout.readline() == "read\n"
    filled.chmod(0o700)
    with open_at(filled) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "b"})
        filled.chmod(0o500)
        finish(reading, "\n")
        filled.chmod(0o700)


def test_reads_go_on_in_a_readonly_folder_whose_log_was_never_emptied(filled: Path, home: Path) -> None:
    script = """
store = open_at(home)
store.call("capsule_update", {"name": "a", "title": "only in the log"})
os.kill(os.getpid(), 9)
"""
    with pytest.raises(AssertionError, match="-9"):
        run(PRELUDE + script, filled)
    assert (filled / "moss.db-wal").stat().st_size > 0
    filled.chmod(0o500)
    for name in ("moss.db", "moss.db-wal", "moss.db-shm"):
        (filled / name).chmod(0o400)
    script = """
store = open_at(home)
assert store.call("capsule_fetch", {"name": "a"})["title"] == "only in the log"
assert refusal(lambda: store.call("capsule_store", text)).code == "STORAGE_READONLY"
"""
    run(PRELUDE + script, filled, wrapped_in=without_root_powers())


def test_a_disk_that_became_readonly_is_a_typed_error_and_reads_go_on(filled: Path) -> None:
    script = """
import apsw

class Disk(apsw.VFS):
    readonly = False
    def __init__(self):
        super().__init__("readonly", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return DiskFile(name, flags)

class DiskFile(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)
    def xWrite(self, data, offset):
        if Disk.readonly:
            raise apsw.ReadOnlyError("read-only file system")
        super().xWrite(data, offset)

disk = Disk()
with open_at(home) as store:
    store.call("capsule_list", {})
    Disk.readonly = True

    all_reads_and_no_writes(store)
    Disk.readonly = False
    store.call("capsule_store", {**text, "name": "b"})
    assert store.call("capsule_list", {})["pagination"]["total"] == 2
"""
    run(PRELUDE + script, filled)
    check_truth(filled)


def test_a_missing_home_in_a_readonly_folder_is_a_typed_error(tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    parent.chmod(0o500)
    script = """
with open_at(home) as store:
    assert refusal(lambda: store.call("capsule_store", text)).code == "STORAGE_READONLY"
    assert store.call("capsule_list", {})["items"] == []
"""
    run(PRELUDE + script, parent / "home", wrapped_in=without_root_powers())
    assert list(parent.iterdir()) == []
    parent.chmod(0o700)


def test_preparing_for_search_by_meaning_in_a_readonly_folder_is_storage_readonly(filled: Path) -> None:
    filled.chmod(0o500)
    (filled / "moss.db").chmod(0o400)
    script = """
store = open_at(home)
for rebuild in (False, True):
    error = refusal(lambda: store.index(rebuild=rebuild))
    assert (error.code, error.retryable) == ("STORAGE_READONLY", False), error
"""
    run(PRELUDE + script, filled, wrapped_in=without_root_powers())
