"""Files of a database that are removed, cut or migrated under a running process: detected before it acknowledges."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from moss_memory.storage.sqlite.engine import SqliteEngine
from moss_memory.store import Store
from storage.database import connect
from support.python_process import run
from support.store_truth import capsule, check_truth, open_at, refusal


def put(store: Store, name: str) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "name": name})


def names(store: Store) -> set[str]:
    return {item["name"] for item in store.call("capsule_list", {"limit": 100})["items"]}


def as_another_process_finds_it(home: Path, tmp_path: Path) -> set[str]:
    """Return the capsules in a copy of the files as they are now, as after a kill of all other processes."""
    left = tmp_path / "as left"
    left.mkdir()
    for file in home.glob("moss.db*"):
        shutil.copy(file, left / file.name)
    (left / "moss.db-shm").unlink(missing_ok=True)
    with open_at(left) as other:
        return names(other)


def test_a_write_acknowledged_after_the_log_was_removed_is_visible_to_all_processes(
    store: Store, home: Path, tmp_path: Path
) -> None:
    put(store, "before")
    (home / "moss.db-wal").unlink()
    put(store, "after")
    assert as_another_process_finds_it(home, tmp_path) == {"before", "after"}
    with open_at(home) as other:
        assert names(other) == {"before", "after"}
        put(other, "theirs")
    put(store, "ours")
    assert names(store) == {"before", "after", "theirs", "ours"}
    check_truth(home)


def test_a_log_that_is_removed_while_a_call_writes_is_noticed_before_it_is_acknowledged(
    store: Store, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "before")
    begin = SqliteEngine.begin_immediate

    def removed(engine: Any, *arguments: Any) -> Any:
        connection = begin(engine, *arguments)
        (home / "moss.db-wal").unlink()
        return connection

    monkeypatch.setattr(SqliteEngine, "begin_immediate", removed)
    put(store, "after")
    monkeypatch.undo()
    assert as_another_process_finds_it(home, tmp_path) == {"before", "after"}
    check_truth(home)


def test_a_reader_with_the_removed_log_open_is_reported_and_no_write_is_acknowledged(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "before")
    reader = connect(home)
    reader.execute("begin")
    reader.execute("select count(*) from capsules").fetchall()
    put(store, "meanwhile")
    monkeypatch.setattr(
        "moss_memory.storage.sqlite.open_files.OpenFiles.checkpoint_orphaned_wal.__kwdefaults__", {"timeout_s": 0.0}
    )
    (home / "moss.db-wal").unlink()
    error = refusal(put, store, "after")
    assert error.code == "STORAGE_BUSY"
    assert "moss.db-wal" in error.message
    reader.execute("rollback")
    reader.close()
    put(store, "later")
    assert names(store) >= {"before", "meanwhile", "later"}
    check_truth(home)


@pytest.mark.parametrize("pages", [0, 1, 5])
@pytest.mark.parametrize("emptied", [True, False])
def test_a_database_that_is_cut_under_a_writer_is_noticed_before_the_next_acknowledgement(
    store: Store, home: Path, pages: int, emptied: bool
) -> None:
    for number in range(30):
        put(store, f"n{number}")
    connection = connect(home)
    connection.execute(f"pragma wal_checkpoint({'truncate' if emptied else 'passive'})").fetchall()
    connection.close()
    put(store, "one more")
    os.truncate(home / "moss.db", pages * 4096)
    error = refusal(put, store, "after")
    assert error.code in ("STORAGE_CORRUPT", "NOT_A_STORE"), error
    assert "moss" in error.message


def test_a_store_that_shrank_because_it_was_purged_is_no_damage(store: Store, home: Path) -> None:
    for number in range(60):
        put(store, f"n{number}")
    with open_at(home) as other:
        other.call("capsule_bulk_delete", {"name_prefix": "n"})
        put(other, "stays")
        assert other.call("capsule_purge", {})["erased"]
    put(store, "after")
    assert names(store) == {"stays", "after"}
    check_truth(home)


# A store that another Moss has migrated


def migrated(home: Path, version: int) -> None:
    """Change a store as a newer Moss, or an older one with its backup, would do."""
    connection = connect(home)
    connection.execute(f"pragma user_version = {version}")
    connection.close()


def test_a_store_that_a_newer_moss_has_migrated_is_not_written(store: Store, home: Path) -> None:
    put(store, "before")
    migrated(home, 999)
    error = refusal(put, store, "after")
    assert error.code == "STORAGE_READONLY"
    assert "upgrade moss-memory" in error.message
    migrated(home, version_of(home.parent / "pristine"))
    put(store, "after")
    assert names(store) == {"before", "after"}


def version_of(home: Path) -> int:
    with open_at(home) as store:
        put(store, "x")
    connection = connect(home)
    found: int = connection.pragma("user_version")
    connection.close()
    return found


def test_a_read_that_is_under_way_goes_on_while_a_migration_is_noticed(store: Store, home: Path) -> None:
    for number in range(30):
        put(store, f"n{number}")
    engine: Any = store._engine
    from moss_memory.storage.call import CallContext

    call = CallContext(
        operation="t", config=store.config, clock_ms=lambda: 0, new_id=lambda _: "", cancelled=None, progress=None
    )
    tx = engine.read_transaction(snapshot=True, call=call)
    rows = tx.rows("select id from capsules order by row_id")
    seen = [next(rows) for _ in range(3)]
    migrated(home, 999)
    assert refusal(put, store, "after").code == "STORAGE_READONLY"
    seen += list(rows)
    assert len(seen) == 30
    tx.rollback()
    tx.release()


def test_a_read_that_fails_because_of_a_newer_schema_says_so(store: Store, home: Path) -> None:
    put(store, "before")
    assert names(store) == {"before"}
    connection = connect(home)
    connection.execute("alter table capsules rename column title to headline")
    connection.execute("pragma user_version = 999")
    connection.close()
    error = refusal(store.call, "capsule_fetch", {"name": "before"})
    assert error.code == "STORAGE_READONLY"
    assert "upgrade moss-memory" in error.message


# Closing


def test_closing_waits_for_the_thread_that_writes(home: Path) -> None:
    run(
        """
import sys, threading
from support.store_truth import capsule, open_at

home = sys.argv[1]
store = open_at(home)
store.call("capsule_store", {"capsule_text": capsule(), "name": "first"})
inside, closing = threading.Event(), threading.Event()
order = []
engine, hold = type(store._engine), type(store._engine.new_hold())
verify, pause = engine.verify_committed, hold.block_process_writes

def slow(self):
    inside.set()
    closing.wait(60)
    order.append("written")
    verify(self)

def begun(self, timeout_s):
    closing.set()
    return pause(self, timeout_s)

def close():
    store.close()
    order.append("closed")

engine.verify_committed, hold.block_process_writes = slow, begun
threads = [threading.Thread(target=store.call, args=("capsule_store", {"capsule_text": capsule(), "name": "second"}))]
threads[0].start()
inside.wait(60)
threads.append(threading.Thread(target=close))
threads[1].start()
for thread in threads:
    thread.join(60)
assert order == ["written", "closed"], order
engine.verify_committed = verify
assert store.call("capsule_list", {})["pagination"]["total"] == 2
""",
        str(home),
    )
