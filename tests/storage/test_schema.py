"""The schema: one version, made once, refused if newer, reported if damaged."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite import schema_migrations
from moss_memory.storage.sqlite.file_kind import APPLICATION_ID
from moss_memory.store import Store
from storage.database import connect
from support.store_truth import capsule, check_truth, open_at, refusal

MIGRATIONS = os.path.join(os.path.dirname(schema_migrations.__file__), "migrations")
TEXT = {"capsule_text": capsule()}
GARBAGE = [
    b"this is not a database, it is a letter\n" * 200,
    b"\0" * 100 + b"x" * 8192,
    b"SQLite format 3\0" + b"\xff" * 5000,
    b"SQLite format 3\0" + b"\0" * 20,
    b"x",
]


def test_the_schema_version_is_the_highest_migration() -> None:
    numbers = [int(name.partition("_")[0]) for name in os.listdir(MIGRATIONS)]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) == SCHEMA_VERSION


def test_a_new_store_has_the_newest_schema_and_is_marked_as_moss(store: Store, home: Path) -> None:
    store.call("capsule_store", TEXT)
    connection = connect(home)
    assert connection.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
    assert connection.execute("pragma application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
@pytest.mark.parametrize("tool", ["capsule_store", "capsule_list"])
def test_a_newer_schema_is_refused_and_not_one_byte_is_changed(home: Path, journal_mode: str, tool: str) -> None:
    home.mkdir(mode=0o700)
    connection = apsw.Connection(str(home / "moss.db"))
    connection.execute(f"pragma journal_mode = {journal_mode}").fetchall()
    connection.execute("create table from_the_future (x)")
    connection.execute(f"pragma application_id = {APPLICATION_ID}")
    connection.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = (home / "moss.db").read_bytes()
    with open_at(home) as store:
        error = refusal(lambda: store.call(tool, TEXT if tool == "capsule_store" else {}))
    assert error.code == "STORAGE_READONLY"
    assert error.details == {
        "database_version": SCHEMA_VERSION + 1,
        "known_version": SCHEMA_VERSION,
    }
    assert "upgrade" in error.message
    assert (home / "moss.db").read_bytes() == before


@pytest.mark.parametrize("tool", ["capsule_store", "capsule_list"])
@pytest.mark.parametrize("garbage", GARBAGE, ids=["letter", "zeros", "header", "cut", "byte"])
def test_a_file_that_is_no_database_is_no_store_and_kept(home: Path, tool: str, garbage: bytes) -> None:
    home.mkdir(mode=0o700)
    (home / "moss.db").write_bytes(garbage)
    with open_at(home) as store:
        error = refusal(lambda: store.call(tool, TEXT if tool == "capsule_store" else {}))
    assert (error.code, error.status) == ("NOT_A_STORE", 500)
    assert str(home / "moss.db") in error.message
    assert (home / "moss.db").read_bytes() == garbage


def test_a_damaged_page_is_reported_as_corrupt(home: Path) -> None:
    with open_at(home) as store:
        for number in range(40):
            store.call("capsule_store", {"capsule_text": capsule(f"word{number} " * 200), "name": f"n{number}"})
    database = home / "moss.db"
    content = bytearray(database.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 64] = b"\xee" * 64
    database.write_bytes(bytes(content))
    with open_at(home) as store:
        assert refusal(lambda: store.call("capsule_fetch", {"name": "n7"})).code == "STORAGE_CORRUPT"
        assert refusal(lambda: store.call("capsule_store", TEXT)).code == "STORAGE_CORRUPT"


@pytest.mark.parametrize("tool", ["capsule_store", "capsule_list"])
@pytest.mark.parametrize("harm", ["magic", "cut", "schema"])
def test_a_truncated_store_is_reported_as_corrupt(home: Path, harm: str, tool: str) -> None:
    with open_at(home) as store:
        store.call("capsule_store", TEXT)
    database = home / "moss.db"
    content = bytearray(database.read_bytes())
    if harm == "magic":
        content[:16] = b"\xee" * 16
    elif harm == "schema":
        content[100:300] = b"\xee" * 200
    else:
        del content[3000:]
    database.write_bytes(content)
    with open_at(home) as store:
        error = refusal(lambda: store.call(tool, TEXT if tool == "capsule_store" else {}))
    assert error.code == "STORAGE_CORRUPT"
    assert "doctor" in error.message
    assert database.read_bytes() == content


@pytest.mark.parametrize("tool", ["capsule_store", "capsule_list"])
@pytest.mark.parametrize("special", ["folder", "pipe"])
def test_a_folder_or_a_pipe_in_its_place_is_no_store(home: Path, tool: str, special: str) -> None:
    home.mkdir(mode=0o700)
    (os.mkdir if special == "folder" else os.mkfifo)(home / "moss.db")
    with open_at(home) as store:
        assert refusal(lambda: store.call(tool, TEXT if tool == "capsule_store" else {})).code == "NOT_A_STORE"


def test_a_migration_that_fails_leaves_the_database_as_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [(1, "create table half (x); create table half (x)")]
    monkeypatch.setattr(schema_migrations, "migrations_after", lambda version: broken)
    with open_at(home) as store:
        assert refusal(lambda: store.call("capsule_store", TEXT)).code == "INTERNAL"
    connection = connect(home)
    assert connection.execute("select count(*) from sqlite_schema").fetchone() == (0,)
    assert connection.execute("pragma user_version").fetchone() == (0,)
    connection.close()
    monkeypatch.undo()
    with open_at(home) as store:
        store.call("capsule_store", TEXT)
    check_truth(home)


@pytest.mark.parametrize("broken", ["moss.lock", "home"])
def test_a_home_that_cannot_be_one_is_a_typed_error(home: Path, broken: str, tmp_path: Path) -> None:
    if broken == "home":
        home.write_text("a file")
    else:
        home.mkdir(mode=0o700)
        (home / "moss.lock").symlink_to(tmp_path / "elsewhere")
    with open_at(home) as store:
        assert refusal(lambda: store.call("capsule_store", TEXT)).code == "STORAGE_READONLY"
    assert not (tmp_path / "elsewhere").exists()


def test_a_home_whose_name_is_too_long_is_a_typed_error(home: Path) -> None:
    with open_at(home / ("x" * 300)) as store:
        assert refusal(lambda: store.call("capsule_store", TEXT)).code == "STORAGE_READONLY"
