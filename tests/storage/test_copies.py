"""Copies of a store in its home: which are listed, which are removed on request, and which never."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moss_memory.tools.everything.backup_scan import copies_in, remove_own_copies
from support.python_process import start
from support.store_truth import capsule, open_at

OURS = b"SQLite format 3\0" + bytes(52) + b"Moss" + bytes(28)
"""The beginning of a database of Moss."""
EXPORT = b'{"_moss_export": true}\n'


def put(path: Path, content: bytes = b"x") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def exported(folder: Path, *names: str) -> list[str]:
    """Return a folder as `moss export --all` writes it."""
    listed = ", ".join(f'"{name}": ""' for name in names)
    manifest = put(folder / "manifest.json", f'{{"format": 1, "files": {{{listed}}}}}'.encode())
    return [manifest, *(put(folder / name) for name in names)]


def test_an_exported_folder_is_removed_whatever_the_order_of_its_folders(tmp_path: Path) -> None:
    for number in range(40):
        folder = tmp_path / f"saved {number}"
        exported(folder, "capsules/a/one.md", "capsules/b/two.md", "artifacts.jsonl")
        assert remove_own_copies(str(tmp_path), copies_in(str(tmp_path))) == []
        assert not folder.exists()


def test_copies_are_listed_at_any_depth_by_their_content(tmp_path: Path) -> None:
    named = [
        *exported(tmp_path / "work" / "2026" / "all", "capsules/a/one.md", "records.jsonl"),
        put(tmp_path / "old" / "deep" / "renamed.bin", OURS),
        put(tmp_path / "old" / "notes.txt", EXPORT),
        put(tmp_path / "backups" / "saved.db"),
        put(tmp_path / "backups" / "saved.db-wal"),
        put(tmp_path / "moss.db.restored-999999999.part"),
        put(tmp_path / "moss.db.before-2026-01-01T000000"),
        put(tmp_path / "exports" / "in" / "anything"),
    ]
    for other in ("moss.db", "moss.db-wal", "moss.lock", "config.toml", "old/mine.md"):
        put(tmp_path / other)
    assert copies_in(str(tmp_path)) == sorted(named)


def test_only_unused_copies_made_by_moss_are_removed(tmp_path: Path) -> None:
    stays = [
        put(tmp_path / "another home" / "moss.db", OURS),
        put(tmp_path / "exports" / "mine.txt"),
        put(tmp_path / "foreign.db"),
        put(tmp_path / "foreign.db-wal"),
        put(tmp_path / f"moss.db.restored-{os.getpid()}.part", OURS),
        put(tmp_path / "moss.db.unfinished", OURS),
    ]
    for gone in ("saved.db", "saved.db-wal", "moss.db.restored-999999999.part", "moss.db.restored-999999999.part-wal"):
        put(tmp_path / gone, OURS)
    put(tmp_path / "moss.db", OURS)
    os.link(tmp_path / "moss.db", tmp_path / "the store itself.db")
    left = remove_own_copies(str(tmp_path), [*copies_in(str(tmp_path)), "capsule shop/auth"])
    assert left == [*sorted(stays), "capsule shop/auth"]
    assert sorted(map(str, tmp_path.rglob("*.db*"))) == sorted(
        [*(one for one in stays if ".db" in one), str(tmp_path / "moss.db"), str(tmp_path / "the store itself.db")]
    )


def test_no_link_leads_out_of_the_home(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", put(tmp_path / "outside" / "one.md")
    exported(home / "saved", "artifacts.jsonl")
    (home / "saved" / "manifest.json").write_text('{"format": 1, "files": {"capsules/one.md": "", "link.md": ""}}')
    (home / "saved" / "capsules").symlink_to(tmp_path / "outside")
    (home / "saved" / "link.md").symlink_to(outside)
    remove_own_copies(str(home), copies_in(str(home)))
    assert os.path.exists(outside)


def test_a_missing_or_unremovable_copy_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [put(tmp_path / "a.db", OURS), put(tmp_path / "b.db", OURS)]
    os.unlink(paths[0])
    assert remove_own_copies(str(tmp_path), paths) == []

    def refuse(path: str) -> None:
        raise PermissionError(13, "not allowed", path)

    put(tmp_path / "b.db", OURS)
    monkeypatch.setattr(os, "unlink", refuse)
    assert remove_own_copies(str(tmp_path), paths[1:]) == paths[1:]


ERASES = """
import os, sys
from moss_memory.cli.main import main
os.environ["MOSS_HOME"] = sys.argv[1]
sys.argv[1:] = ["erase", sys.argv[2], "--copies"]
main()
"""


def test_processes_that_erase_at_once_with_copies_all_succeed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_at(home) as store:
        for number in range(6):
            store.call("capsule_store", {"name": f"n{number}", "capsule_text": capsule()})
    for number in range(5):
        exported(home / f"saved {number}", "capsules/a/one.md", "capsules/b/two.md")
        put(home / "backups" / f"{number}.db", OURS)
    running = [start(ERASES, home, f"n{number}") for number in range(6)]
    for process in running:
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said
    assert copies_in(str(home)) == []
