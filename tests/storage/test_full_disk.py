"""A disk without space: a typed error, no write half-done, reads succeed, and later writes succeed again."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moss_memory.store import Store
from support.python_process import run
from support.store_truth import capsule, check_truth, contents, open_at, refusal

LARGE = capsule("many different words " * 90)


@pytest.fixture
def full(store: Store) -> Store:
    """Return a store with two capsules whose database may not grow by another page."""
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    store.call("capsule_store", {"capsule_text": capsule(), "name": "b"})
    set_page_limit(store, 1)
    return store


def set_page_limit(store: Store, pages: int) -> None:
    """Make SQLite refuse to grow beyond the limit exactly as it does on a full disk."""
    engine: Any = store._engine
    engine._writer.execute(f"pragma max_page_count = {pages}").fetchall()


def growing_writes(home: Path) -> list[tuple[str, dict[str, Any]]]:
    exports = home / "exports"
    exports.mkdir(mode=0o700, exist_ok=True)
    lines = [{"id": f"i{n}", "workspace_raw": "w", "capsule_text": LARGE} for n in range(50)]
    (exports / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return [
        ("capsule_store", {"capsule_text": LARGE, "name": "c"}),
        ("capsule_store", {"capsule_text": LARGE, "name": "a", "mode": "replace"}),
        ("capsule_update", {"name": "a", "capsule_text": LARGE}),
        ("capsule_append", {"name": "a", "section": "Decisions", "content": LARGE.replace("#", "")}),
        ("capsule_import", {"path": "x.jsonl"}),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_full_disk_is_a_typed_error_and_changes_nothing(full: Store, home: Path, number: int) -> None:
    tool, arguments = growing_writes(home)[number]
    before = contents(home)
    error = refusal(lambda: full.call(tool, arguments))
    assert (error.code, error.status) == ("STORAGE_FULL", 507)
    assert contents(home) == before
    assert full.call("capsule_fetch", {"name": "a"})["capsule_text"] == capsule()
    assert full.call("capsule_list", {})["pagination"]["total"] == 2
    set_page_limit(full, 1_000_000)
    full.call(tool, arguments)
    check_truth(home)


FULL_VFS = """
import sys
import apsw
from support.store_truth import capsule, open_at, refusal

class FullDisk(apsw.VFS):
    full = False
    def __init__(self):
        super().__init__("full", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return FullDiskFile(name, flags)

class FullDiskFile(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)
    def xWrite(self, data, offset):
        if FullDisk.full:
            raise apsw.FullError("no space")
        super().xWrite(data, offset)

disk = FullDisk()
home, phase = sys.argv[1:]
"""


def test_every_write_survives_a_disk_that_takes_no_byte(home: Path) -> None:
    run(
        FULL_VFS
        + """
store = open_at(home)
store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
writes = [
    ("capsule_store", {"capsule_text": capsule(), "name": "c"}),
    ("capsule_update", {"name": "a", "title": "t"}),
    ("capsule_append", {"name": "a", "section": "Decisions", "content": "x"}),
    ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
    ("capsule_delete", {"name": "a"}),
    ("capsule_bulk_delete", {"workspace": "default"}),
]
for tool, arguments in writes:
    disk.__class__.full = True
    assert refusal(lambda: store.call(tool, arguments)).code == "STORAGE_FULL", tool
    assert store.call("capsule_fetch", {"name": "a"})["capsule_text"] == capsule(), tool
    assert store.call("capsule_list", {})["pagination"]["total"] == 1, tool
    disk.__class__.full = False
store.call("capsule_store", {"capsule_text": capsule(), "name": "c"})
assert store.call("capsule_list", {})["pagination"]["total"] == 2
store.close()
""",
        home,
        "",
    )
    check_truth(home)


def test_a_first_start_on_a_full_disk_is_a_typed_error_and_can_be_repeated(home: Path) -> None:
    run(
        FULL_VFS
        + """
FullDisk.full = True
with open_at(home) as store:
    error = refusal(lambda: store.call("capsule_store", {"capsule_text": capsule()}))
    assert error.code == "STORAGE_FULL", error
    assert store.call("capsule_list", {})["items"] == []
    FullDisk.full = False
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
""",
        home,
        "",
    )
    check_truth(home)


@pytest.mark.parametrize("free_writes", range(0, 12, 2))
def test_a_first_start_on_a_nearly_full_disk_is_a_typed_error_and_can_be_repeated(home: Path, free_writes: int) -> None:
    run(
        FULL_VFS
        + """
class NearlyFull(FullDiskFile):
    left = int(phase)
    def xWrite(self, data, offset):
        NearlyFull.left -= 1
        if NearlyFull.left < 0:
            raise apsw.FullError("no space")
        apsw.VFSFile.xWrite(self, data, offset)
FullDiskFile = NearlyFull
with open_at(home) as store:
    error = refusal(lambda: store.call("capsule_store", {"capsule_text": capsule()}))
    assert error.code == "STORAGE_FULL", error
    NearlyFull.left = 1 << 60
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
""",
        home,
        free_writes,
    )
    check_truth(home)


def test_a_purge_that_committed_is_acknowledged_when_the_disk_has_no_room_to_erase(home: Path) -> None:
    run(
        FULL_VFS
        + """
class FullMain(FullDiskFile):
    # Only the database itself is full: the commit fits into the log, the checkpoint after it does not.
    def __init__(self, name, flags):
        self.main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__(name, flags)
    def xWrite(self, data, offset):
        if FullDisk.full and self.main:
            raise apsw.FullError("no space")
        apsw.VFSFile.xWrite(self, data, offset)
FullDiskFile = FullMain
with open_at(home) as store:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    store.call("capsule_delete", {"name": "a"})
    FullDisk.full = True
    answer = store.call("capsule_purge", {})
    assert (answer["purged"], answer["erased"]) == (1, False), answer
    store.call("capsule_store", {"capsule_text": capsule(), "name": "b"})
    FullDisk.full = False
    store.call("capsule_store", {"capsule_text": capsule(), "name": "c"})
    assert store.call("capsule_list", {})["pagination"]["total"] == 2
    assert store.call("capsule_purge", {})["erased"] is True
""",
        home,
        "",
    )
    check_truth(home)


def test_an_export_onto_a_full_disk_keeps_the_old_file_and_leaves_no_other(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    path = Path(store.call("capsule_export", {"path": "x.jsonl"})["path"])
    before = path.read_bytes()
    write = os.write

    def no_space(fd: int, data: bytes) -> int:
        if bytes(data).startswith(b'{"id"'):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data)

    monkeypatch.setattr(os, "write", no_space)
    for arguments in ({"path": "x.jsonl"}, {}):
        assert refusal(store.call, "capsule_export", arguments).code == "STORAGE_FULL"
    assert os.listdir(home / "exports") == ["x.jsonl"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_home_that_cannot_be_made_for_want_of_space_is_storage_full(
    home: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def no_space(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "mkdir", no_space)
    with open_at(home) as store:
        assert refusal(lambda: store.call("capsule_store", {"capsule_text": capsule()})).code == "STORAGE_FULL"


NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
"""A namespace in which to mount a small disk that no other process sees."""

SMALL_DISK = """
import os, subprocess, sys
import apsw
from moss_memory.storage.sqlite import connections
from support.store_truth import capsule, open_at, refusal

disk = sys.argv[1]
mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk]
mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
home, filler = os.path.join(disk, "home"), os.path.join(disk, "filler")
schema_of = connections.schema_of

def without_space(connection, path):
    if not connection.readonly("main"):
        raise apsw.FullError("no space")  # where nothing can be mounted
    return schema_of(connection, path)

def fill():
    with open(filler, "wb", buffering=0) as file:
        try:
            while mounted:
                file.write(b"x" * 4096)
        except OSError:
            pass
    connections.schema_of = schema_of if mounted else without_space

def make_room():
    os.unlink(filler)
    connections.schema_of = schema_of
"""


def test_a_store_that_was_closed_cleanly_is_read_on_a_disk_without_a_free_byte(tmp_path: Path) -> None:
    can_mount = shutil.which("unshare") and not subprocess.call([*NAMESPACE, "true"], stderr=subprocess.DEVNULL)
    run(
        SMALL_DISK
        + """
with open_at(home) as store:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
assert not os.path.exists(os.path.join(home, "moss.db-wal"))
fill()
store = open_at(home)
assert store.call("capsule_fetch", {"name": "a"})["capsule_text"] == capsule()
assert len(store.call("capsule_search", {"query": "plain words"})["items"]) == 1
error = refusal(store.call, "capsule_store", {"capsule_text": capsule(), "name": "b"})
assert error.code == "STORAGE_FULL", (error.code, error.message, error.__cause__)
make_room()
store.call("capsule_store", {"capsule_text": capsule(), "name": "b"})
assert store.call("capsule_list", {})["pagination"]["total"] == 2
""",
        tmp_path,
        wrapped_in=NAMESPACE if can_mount else (),
    )


def test_preparing_for_search_by_meaning_on_a_full_disk_is_storage_full(home: Path) -> None:
    script = """
with open_at(home) as store:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    FullDisk.full = True
    for rebuild in (False, True):
        error = refusal(lambda: store.index(rebuild=rebuild))
        assert (error.code, error.retryable) == ("STORAGE_FULL", False), error
    FullDisk.full = False
    assert store.index() == {"indexed": 1, "pending": 0}
"""
    run(FULL_VFS + script, home, "once")
