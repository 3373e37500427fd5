"""Sixteen processes open a home that does not exist: all succeed, and there is one schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from moss_memory.storage.schema_version import SCHEMA_VERSION
from storage.database import connect
from support.python_process import finish, start, without_root_powers
from support.store_truth import check_truth, modes, open_at
from support.thorough import first_of

pytestmark = pytest.mark.sqlite("who comes first makes the files of the store; a server's schema has a test of its own")

RACERS = 16
RACE = """
import sys
from support.store_truth import capsule, open_at
import moss_memory.tools.capsule.capsule_tools
home, number = sys.argv[1], int(sys.argv[2])
store = open_at(home)
print("ready", flush=True)
sys.stdin.readline()
if number % 2:
    store.call("capsule_list", {})
store.call("capsule_store", {"capsule_text": capsule(), "name": f"racer {number}"})
store.call("capsule_list", {})
if number % 4 == 0:
    store.call("capsule_export", {"path": f"{number}.jsonl"})
store.close()
print("done")
"""


def race(home: Path, *, racers: int = RACERS, umask: int = -1) -> None:
    """Start all racers, release them at once, and wait until all have succeeded.

    They run without root's powers, so that permission bits bind them as they bind anyone.
    """
    wrapped_in = without_root_powers()
    running = [start(RACE, home, number, umask=umask, wrapped_in=wrapped_in) for number in range(racers)]
    for racer in running:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in running:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    for racer in running:
        assert finish(racer) == "done\n"


def check_one_store(home: Path, racers: int = RACERS) -> None:
    check_truth(home)
    connection = connect(home)
    assert connection.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()
    with open_at(home) as store:
        listed = store.call("capsule_list", {"limit": 100})["items"]
    assert sorted(item["name"] for item in listed) == sorted(f"racer {number}" for number in range(racers))


def test_all_succeed_on_a_home_that_does_not_exist(home: Path) -> None:
    race(home)
    check_one_store(home)


@pytest.mark.thorough
def test_all_succeed_on_an_empty_database_of_version_0(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "moss.db").touch(mode=0o600)
    race(home)
    check_one_store(home)


# Alone where the umask takes the owner's own bits: SQLite itself makes its files a moment before it opens them up.
@pytest.mark.parametrize(
    ("umask", "racers"), [(0o277, 1), (0o777, 1), *first_of([(0o000, RACERS), (0o022, RACERS), (0o077, RACERS)])]
)
def test_modes_are_private_whatever_the_umask(home: Path, umask: int, racers: int) -> None:
    race(home, umask=umask, racers=racers)
    # The log is there while a store is open; it takes the mode of the database.
    with open_at(home) as store:
        store.call("capsule_list", {})
        found = modes(home)
    assert {".", "moss.db", "moss.db-wal", "moss.db-shm", "moss.lock", "exports", "exports/0.jsonl"} <= set(found)
    assert found == {name: 0o700 if name in (".", "exports") else 0o600 for name in found}
    check_one_store(home, racers)


def test_the_parents_of_a_home_are_made_whatever_the_umask(home: Path) -> None:
    race(home / "two" / "levels", umask=0o777, racers=1)
    check_one_store(home / "two" / "levels", racers=1)
