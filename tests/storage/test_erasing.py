"""Erasing goes by slices: others write between them, a kill loses nothing, and no byte remains in the end."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from moss_memory.storage.sqlite import secure_delete, transaction
from moss_memory.storage.sqlite.secure_delete import SecureDelete, zero_free_space
from storage.database import connect
from storage.test_purge import OTHERS, SECRETS, on_disk, store_secrets
from support.deadly_disk import DEADLY
from support.direct_store import rows
from support.python_process import start
from support.slices import in_small_slices
from support.store_truth import capsule, check_truth, open_at
from support.thorough import complete_or, first_of
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

LETTERS = "bcdfghjklmnpqrstvwxz"


def word(chance: random.Random) -> str:
    return "".join(chance.choices(LETTERS, k=14))


def rebuilt_pages(path: Path, seed: int) -> tuple[apsw.Connection, list[str]]:
    """Return a database whose rows grew, shrank and moved, and the words of rows that were deleted completely."""
    chance = random.Random(seed)  # noqa: S311
    database = apsw.Connection(str(path))
    for pragma in ("journal_mode = wal", "synchronous = off", "secure_delete = on"):
        database.execute(f"pragma {pragma}")
    database.execute("create table t (id integer primary key, a text, b text)")
    database.execute("create index i on t (a)")
    secrets = []
    for number in range(600):
        name = word(chance)
        if is_secret := chance.random() < 0.1:
            secrets.append(name)
        values = name + " " * chance.randrange(100), (name if is_secret else "x") + "y" * chance.randrange(1500)
        database.execute("insert into t (a, b) values (?, ?)", values)
        if chance.random() < 0.5:
            more = "z" * chance.randrange(1200), chance.randrange(1, number + 2)
            database.execute("update t set b = b || ? where id = ?", more)
        if chance.random() < 0.3:
            less = chance.randrange(800), chance.randrange(1, number + 2)
            database.execute("update t set b = substr(b, 1, 14 + ?) where id = ?", less)
    gone = [row_id for row_id, name in database.execute("select id, a from t") if name.strip() in secrets]
    chance.shuffle(gone)
    for row_id in gone:
        database.execute("delete from t where id = ?", (row_id,))
    database.execute("pragma wal_checkpoint(truncate)").fetchall()
    return database, secrets


def test_the_gap_of_a_page_keeps_deleted_bytes_until_it_is_zeroed(tmp_path: Path) -> None:
    before = after = 0
    for seed in (16, 38, 45):
        path = tmp_path / str(seed)
        database, secrets = rebuilt_pages(path, seed)
        kept = database.execute("select id, a, b from t order by id").fetchall()
        database.close()
        before += sum(secret.encode() in path.read_bytes() for secret in secrets)
        done, all_done = zero_free_space(str(path), 0, seconds=60)
        assert (done * 4096, all_done) == (path.stat().st_size, True)
        after += sum(secret.encode() in path.read_bytes() for secret in secrets)
        database = apsw.Connection(str(path))
        assert database.execute("select id, a, b from t order by id").fetchall() == kept
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
        database.close()
    assert before > 0, "SQLite leaves nothing in gaps any more: erasing could do without zeroing them"
    assert after == 0


def test_gaps_are_zeroed_some_pages_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secure_delete, "_READ_PAGES", 50)
    path = tmp_path / "some"
    database, secrets = rebuilt_pages(path, 16)
    database.close()
    place, slices, done = 0, 0, False
    while not done:
        place, done = zero_free_space(str(path), place, seconds=1e-9)
        slices += 1
    assert slices == -(-path.stat().st_size // 4096 // 50) > 3
    assert not any(secret.encode() in path.read_bytes() for secret in secrets)


def test_the_index_loses_the_words_of_erased_rows_after_it_has_shrunk(store: Store, home: Path) -> None:
    """A merge keeps the words of deleted rows if the index has an empty level below."""
    chance = random.Random(7)  # noqa: S311
    secrets = [word(chance) for _ in range(4)]
    texts = {"kept": "kept", "long": " ".join(word(chance) for _ in range(700)), **{one: one for one in secrets}}
    for name, text in texts.items():
        store.call("capsule_store", {"name": name, "capsule_text": text, "allow_thin": True})
    for name in (*secrets[:2], "long", *secrets[2:]):
        assert store.call("moss_erase", {"type": "capsule", "name": name})["complete"] is True
        assert on_disk(home, name if name in secrets else texts[name].split()[0]) == {}


def test_others_write_between_the_slices_of_a_purge(store: Store, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_slices(monkeypatch)
    store_secrets(store)
    store.call("capsule_bulk_delete", {"workspace": "default"})
    slices: list[str] = []
    with open_at(home) as other:
        write_between_slices(monkeypatch, store, other, slices)
        answer = store.call("capsule_purge", {})
        assert (answer["purged"], answer["erased"], "complete" in answer) == (OTHERS + 1, True, False)
        assert slices.count("_merge") > 1
        assert slices.count("_zero_gaps") == 4  # three were interrupted, the last lets nobody in
        assert slices.count("purged") > 5
        assert on_disk(home, *SECRETS, "ordinary7 work") == {}
        assert other.call("capsule_list", {})["pagination"]["total"] == len(slices)
    check_truth(home)


def write_between_slices(monkeypatch: pytest.MonkeyPatch, store: Store, other: Store, slices: list[str]) -> None:
    """Store a capsule from another process after every slice."""
    real, yield_lock = SecureDelete._run_slice, transaction.SqliteWrite.yield_lock

    def write(name: str) -> None:
        slices.append(name)
        other.call(
            "capsule_store", {"capsule_text": capsule("kept " * 40 * (len(slices) % 9)), "name": f"n{len(slices)}"}
        )

    def alone(self: SecureDelete, step: Any) -> bool:
        done = real(self, step)
        if self._engine is store._engine:
            write(step.__name__)
        return done

    def yielded(self: transaction.SqliteWrite) -> bool:
        going_on = yield_lock(self)
        write("purged")
        return going_on

    monkeypatch.setattr(SecureDelete, "_run_slice", alone)
    monkeypatch.setattr(transaction.SqliteWrite, "yield_lock", yielded)


def test_a_writer_does_not_join_another_processs_erasure(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_small_slices(monkeypatch)
    store.call("capsule_delete", {"id": store_secrets(store)})
    at_work: list[object] = []
    real = SecureDelete._run_slice

    def alone(self: SecureDelete, step: Any) -> bool:
        at_work.append(self._engine)
        done = real(self, step)
        if step.__name__ == "_zero_gaps" and self._engine is store._engine and not done:
            other.call("capsule_store", {"capsule_text": capsule(), "name": f"n{len(at_work)}"})
        return done

    with open_at(home) as other:
        monkeypatch.setattr(SecureDelete, "_run_slice", alone)
        assert store.call("capsule_purge", {})["erased"] is True
    assert set(at_work) == {store._engine}


KILLED = """
import json, os, sys
from moss_memory.storage.sqlite import transaction
from moss_memory.storage.sqlite.secure_delete import SecureDelete
from support.slices import in_small_slices
from support.store_truth import open_at

class Patch:
    setattr = staticmethod(setattr)

home, last = sys.argv[1], int(sys.argv[2])
in_small_slices(Patch())
slices = []

def count(name):
    slices.append(name)
    if len(slices) == last:
        print(json.dumps(slices), flush=True)
        os._exit(9)

real_alone, real_yield = SecureDelete._run_slice, transaction.SqliteWrite.yield_lock

def alone(self, step):
    def stepped(connection):
        done = step(connection)
        count(step.__name__)  # the lock is still held
        return done
    done = real_alone(self, stepped)
    count("after")
    return done

def yield_and_count(self):
    count("purging")  # not committed yet
    going_on = real_yield(self)
    count("after")
    return going_on

SecureDelete._run_slice, transaction.SqliteWrite.yield_lock = alone, yield_and_count
with open_at(home) as store:
    print(json.dumps(store.call("capsule_purge", {})), flush=True)
"""


def killed_at(home: Path, place: int) -> Any:
    """Return the slices of a purge that was killed at a place, or its answer if it finished."""
    said, _ = start(KILLED, home, place).communicate(timeout=TIMEOUT_S)
    return json.loads(said)


@pytest.mark.parametrize("place", first_of([1, 21, 24, 67, 2, 3, 20, 23, 25, 27, 28, 40], 4))
def test_a_purge_killed_in_any_slice_keeps_whole_slices_and_is_completed_by_the_next_write(
    home: Path, place: int
) -> None:
    with open_at(home) as store:
        store_secrets(store)
        store.call("capsule_bulk_delete", {"workspace": "default"})
    slices = killed_at(home, place)
    assert isinstance(slices, list), "it ended before it was killed"
    [(left,)] = rows(home, "select count(*) from capsules")
    assert (OTHERS + 1 - left) % 3 == 0 or left == 0
    with open_at(home) as store:
        check_truth(home)
        store.call("capsule_store", {"capsule_text": capsule(), "name": "next"})
        if left < OTHERS + 1:
            assert on_disk(home, *SECRETS) == {}  # it was the first to go
            assert rows(home, "select count(*) from erasures") == [(0,)]
        assert store.call("capsule_purge", {})["purged"] == left
        assert on_disk(home, *SECRETS, "ordinary7 work") == {}
    check_truth(home)


DIES = (
    DEADLY
    + """
from support.store_truth import open_at
home = sys.argv[2]
with open_at(home) as store:
    left = 10**9
    store.call("capsule_list", {})
    left = int(sys.argv[1])
    answer = store.call("capsule_purge", {})
    left = 10**9
assert answer["erased"]
print("whole", flush=True)
"""
)


def test_a_purge_killed_at_any_step_on_the_disk_is_completed_by_the_next_write(home: Path) -> None:
    with open_at(home) as store:
        identity = store_secrets(store)
        store.call("capsule_delete", {"id": identity})
    image = {name: (home / name).read_bytes() for name in os.listdir(home) if name.startswith("moss.db")}
    steps = 0
    while "whole" not in start(DIES, steps, home).communicate(timeout=TIMEOUT_S)[0]:
        check_truth(home)
        with open_at(home) as store:
            store.call("capsule_store", {"capsule_text": capsule(), "name": f"after {steps}"})
            left = store.call("capsule_list", {"include_deleted": True})["pagination"]["total"]
            assert left in (OTHERS + 1, OTHERS + 2)
            if left == OTHERS + 1:
                assert on_disk(home, *SECRETS) == {}
            assert store.call("capsule_purge", {})["purged"] == left - OTHERS - 1
            assert on_disk(home, *SECRETS) == {}
        check_truth(home)
        for name in os.listdir(home):
            (home / name).unlink()
        for name, content in image.items():
            (home / name).write_bytes(content)
            (home / name).chmod(0o600)
        steps += complete_or(13, 39)
    assert steps > 30
    assert on_disk(home, *SECRETS) == {}


def test_an_interrupted_purge_keeps_its_slices_and_reports_remaining_work(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_small_slices(monkeypatch)
    store_secrets(store)
    store.call("capsule_bulk_delete", {"workspace": "default"})
    asked: list[None] = []

    def cancelled() -> bool:
        asked.append(None)
        return len(asked) > 4

    answer = store.call("capsule_purge", {}, cancelled=cancelled)
    assert (answer["complete"], answer["erased"]) == (False, False)
    assert 0 < answer["purged"] < OTHERS + 1
    assert answer["message"].endswith("there are more, purge again")
    rest = store.call("capsule_purge", {})
    assert (answer["purged"] + rest["purged"], rest["erased"]) == (OTHERS + 1, True)
    assert on_disk(home, *SECRETS) == {}


def test_a_page_rewritten_from_another_processs_cache_has_no_gap(store: Store, home: Path) -> None:
    """A process that writes a page again writes its cached copy, with the gap."""
    with open_at(home) as other:
        identity = store_secrets(store)
        other.call("capsule_store", {"capsule_text": capsule(), "name": "the pages are read"})
        store.call("capsule_delete", {"id": identity})
        assert store.call("capsule_purge", {})["erased"] is True
        for number in range(OTHERS):
            other.call("capsule_update", {"name": f"other {number}", "phase": "again"})
            store.call("capsule_update", {"name": f"other {number}", "phase": "and again"})
        assert on_disk(home, *SECRETS) == {}
    assert os.path.getsize(home / "moss.db") > 0
    connection = connect(home)
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    connection.close()
