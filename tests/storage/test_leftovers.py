"""Parts of copies that a killed process left are found by `doctor` and removed by the next writer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moss_memory.cli.commands.doctor import examine
from moss_memory.storage.sqlite.lock import is_alive
from support.cli_typist import Cli
from support.store_truth import capsule, open_at

GONE = 2**22 + 1
"""A number that no process has: above the largest that Linux gives out."""


@pytest.fixture
def filled(home: Path) -> Path:
    with open_at(home) as store:
        store.call("capsule_store", {"name": "a", "capsule_text": capsule()})
    return home


def names(home: Path) -> list[str]:
    return sorted(name for name in os.listdir(home) if ".part" in name)


def leave(home: Path, *parts: str) -> None:
    for part in parts:
        (home / part).write_bytes(b"a copy")


LEFT = (
    f"moss.db.restored-{GONE}.part",
    f"moss.db.restored-{GONE}.part-journal",
    f"moss.db.restored-{GONE}.part-1",
    f"moss.db.restored-{os.getpid()}.part",  # of an earlier process that had this number
    "moss.db.restored-999999999999999999999.part",
    "moss.db.before-2026-01-01T000000.part",
    "moss.db.v1-2026-01-01T000000.part",
)


def test_leftovers_are_removed_by_the_next_write_and_not_by_a_read(filled: Path) -> None:
    leave(filled, *LEFT)
    with open_at(filled) as store:
        store.call("capsule_list", {})
        assert names(filled) == sorted(LEFT)
        store.call("capsule_update", {"name": "a", "title": "t"})
    assert names(filled) == []


def test_leftovers_are_removed_by_restoring(filled: Path) -> None:
    cli = Cli(str(filled), {**os.environ, "MOSS_HOME": str(filled)})
    assert cli("--home", str(filled), "backup", str(filled.parent / "b.db")).code == 0
    leave(filled, *LEFT)
    assert cli("--home", str(filled), "restore-backup", str(filled.parent / "b.db")).code == 0
    assert names(filled) == []


def test_files_of_running_processes_and_other_programs_are_not_removed(filled: Path) -> None:
    parent = os.getppid()
    assert is_alive(parent)
    kept = [f"moss.db.restored-{parent}.part", "moss.db.mine-1.part", "notes.part", "moss.db.before-2026.db"]
    leave(filled, *kept)
    with open_at(filled) as store:
        store.call("capsule_update", {"name": "a", "title": "t"})
    assert all((filled / name).exists() for name in kept)


def test_doctor_names_and_removes_leftovers(filled: Path) -> None:
    leave(filled, LEFT[0])
    [check] = [one for one in examine(str(filled))["checks"] if one["name"] == "leftovers"]
    assert check["status"] == "warn"
    assert LEFT[0] in check["message"]
    assert names(filled) == [LEFT[0]]
    assert not [one for one in examine(str(filled), fix=True)["checks"] if one["name"] == "leftovers"]
    assert names(filled) == []


@pytest.mark.parametrize("number", [0, -1, -5, 2**31, 2**63])
def test_an_invalid_process_number_is_no_process(number: int) -> None:
    assert not is_alive(number)
