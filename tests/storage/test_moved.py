"""A store whose files are moved, removed or replaced under a running process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import pytest

from moss_memory.store import Store
from support.store_truth import capsule, check_truth, open_at, refusal


def put(store: Store, name: str) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "name": name})


@pytest.mark.parametrize("gone", ["home", "files"])
def test_a_write_after_the_store_was_moved_lands_where_everybody_finds_it(
    store: Store, home: Path, tmp_path: Path, gone: str
) -> None:
    put(store, "before")
    if gone == "home":
        shutil.move(home, tmp_path / "elsewhere")
        home.mkdir(mode=0o700)
    else:
        for file in home.glob("moss.db*"):
            file.unlink()
    put(store, "after")
    assert store.call("capsule_fetch", {"name": "after"})["name"] == "after"
    with open_at(home) as other:
        assert other.call("capsule_list", {})["pagination"]["total"] == 1
    check_truth(home)


def test_a_removed_lock_file_is_made_again_and_still_keeps_writers_apart(store: Store, home: Path) -> None:
    put(store, "one")
    os.unlink(home / "moss.lock")
    put(store, "two")
    with open_at(home) as other:
        put(other, "three")
    put(store, "four")
    assert store.call("capsule_list", {})["pagination"]["total"] == 4


@pytest.mark.parametrize("version", [0, 1, 2, 99])
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_store"])
def test_a_database_of_another_program_is_refused_and_untouched(home: Path, version: int, tool: str) -> None:
    home.mkdir(mode=0o700)
    foreign = apsw.Connection(str(home / "moss.db"))
    foreign.execute("create table capsules (id text primary key, workspace_raw text)")
    foreign.execute(f"pragma user_version = {version}")
    foreign.close()
    before = (home / "moss.db").read_bytes()
    arguments = {"capsule_text": capsule()} if tool == "capsule_store" else {}
    with open_at(home) as store:
        error = refusal(lambda: store.call(tool, arguments))
    assert error.code == "NOT_A_STORE"
    assert "not a database of Moss" in error.message
    assert (home / "moss.db").read_bytes() == before
