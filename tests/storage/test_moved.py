"""A store whose files are moved, removed or replaced under a running process."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite.connections import set_pragma
from moss_memory.storage.sqlite.file_kind import EMPTY, schema_of
from moss_memory.storage.sqlite.schema_migrations import migrate
from moss_memory.store import Store
from storage.database import connect, make
from support.store_truth import capsule, check_truth, open_at, refusal


def put(store: Store, name: str) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "name": name})


@pytest.mark.parametrize("gone", ["home", "files"])
def test_a_write_after_the_store_was_moved_is_refused_until_there_is_a_store_again(
    store: Store, home: Path, tmp_path: Path, gone: str
) -> None:
    put(store, "before")
    if gone == "home":
        shutil.move(home, tmp_path / "elsewhere")
        home.mkdir(mode=0o700)
    else:
        for file in home.glob("moss.db*"):
            file.unlink()
    assert refusal(put, store, "after").code == "STORAGE_CORRUPT"
    assert not (home / "moss.db").exists()
    with open_at(home) as other:  # who opens it now begins a new store, and the first one finds that
        put(other, "new")
        put(store, "after")
        assert other.call("capsule_list", {})["pagination"]["total"] == 2
    check_truth(home)


def test_a_removed_lock_file_is_made_again_and_still_keeps_writers_apart(store: Store, home: Path) -> None:
    put(store, "one")
    os.unlink(home / "moss.lock")
    put(store, "two")
    with open_at(home) as other:
        put(other, "three")
    put(store, "four")
    assert store.call("capsule_list", {})["pagination"]["total"] == 4


def test_processes_with_the_old_lock_file_open_use_its_replacement(store: Store, home: Path) -> None:
    put(store, "one")
    os.rename(home / "moss.lock", home / "moss.lock.old")
    fd = os.open(home / "moss.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        text = {"capsule_text": capsule(), "name": "two"}
        assert refusal(store.call, "capsule_store", text, wait=False).code == "STORAGE_BUSY"
    finally:
        os.close(fd)
    put(store, "two")
    assert store.call("capsule_list", {})["pagination"]["total"] == 2


def test_threads_get_typed_errors_while_the_store_is_moved_away_and_can_continue(
    store: Store, home: Path, tmp_path: Path
) -> None:
    moves = 12
    put(store, "first")
    over = threading.Event()

    def keep_calling(number: int) -> list[str]:
        said = []
        while not over.is_set():
            if number % 2:
                said.append(outcome_of(store, "capsule_list", {}))
                said.append(outcome_of(store, "capsule_search", {"query": "plain words"}))
            else:
                said.append(outcome_of(store, "capsule_store", {"capsule_text": capsule()}))
        return said

    with ThreadPoolExecutor(6) as pool:
        callers = [pool.submit(keep_calling, number) for number in range(6)]
        for turn in range(moves):
            with open_at(home) as other:
                put(other, f"turn {turn}")
            os.rename(home, tmp_path / "aside")
            if turn % 2:
                os.rename(tmp_path / "aside", home)
            else:
                os.rename(tmp_path / "aside", tmp_path / f"aside {turn}")
                with open_at(home) as other:
                    put(other, "a new store")
        over.set()
        said = Counter(code for caller in callers for code in caller.result())
    refused = {code for code in said if code != "done"}
    assert refused <= {"STORAGE_BUSY", "STORAGE_CORRUPT", "STORAGE_READONLY", "STORAGE_UNKNOWN"}, said
    assert said["done"] > moves
    put(store, "last")
    check_truth(home)


def outcome_of(store: Store, tool: str, arguments: dict[str, Any]) -> str:
    """Return the code of the error that a call raises, or `done`."""
    try:
        store.call(tool, arguments)
    except MossError as error:
        return error.code
    return "done"


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


class FilledMeanwhile:
    """A connection to an empty database that another process fills while it is checked."""

    def __init__(self, looks: apsw.Connection, fills: apsw.Connection) -> None:
        self._looks, self._fills = looks, fills

    def pragma(self, name: str) -> Any:
        found = self._looks.pragma(name)
        if name == "application_id":
            migrate(self._fills)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._looks, name)


def test_a_store_that_is_filled_during_the_check_is_not_foreign(home: Path) -> None:
    fills = make(str(home))
    set_pragma(fills, "journal_mode = wal", "wal")
    looks: Any = FilledMeanwhile(connect(home), fills)
    path = str(home / "moss.db")
    assert schema_of(looks, path) == EMPTY
    assert schema_of(looks, path) == SCHEMA_VERSION
    assert not looks.in_transaction
    looks.close()
    fills.close()
