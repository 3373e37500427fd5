"""`moss migrate`: everything into a new store, compared row by row; resumed if killed, never opened incomplete."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from contract.everything import call_everything, prepare
from moss_memory.transfer import copy_store
from support.direct_store import DirectStore, dump, rows, run
from support.moved_store import files_of
from support.python_process import start
from support.store_truth import open_at, refusal
from support.thorough import first_of

pytestmark = pytest.mark.sqlite("it moves from a folder into another; a server has a test of its own")

DERIVED = (
    "select doc, model, vector from vectors order by doc",
    "select doc from unembedded order by seq",
    "select workspace, day, tool, changes from activity order by workspace, day, tool",
)
KILLED = """
import os, sys
from moss_memory.transfer import copy_store
from support.store_truth import open_at
home, to, after, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
copy_store._BATCH_ROWS = at_once
write, written = copy_store._write, [0]
def counted(*given):
    if written[0] == after:
        os._exit(9)
    write(*given)
    written[0] += 1
copy_store._write = counted
with open_at(home) as store:
    store.migrate(to)
os._exit(0 if after < 0 else 3)
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Return a store with all kinds of rows that tools can write, and some vectors."""
    home = str(tmp_path / "source")
    prepare(home)
    with open_test_store(home, Clock()) as store:
        call_everything(StoreDoor(store))
        store.call("capsule_store", {"workspace": "more", "name": "x", "capsule_text": FULL})
        store.call("capsule_update", {"workspace": "more", "name": "x", "title": "second"})
        store.call("capsule_delete", {"workspace": "more", "name": "x"})
    waiting = [doc for (doc,) in rows(home, "select doc from unembedded order by doc")]
    assert len(waiting) > 6
    for doc in waiting[:3]:
        run(
            home,
            f"delete from unembedded where doc = {doc}",
            f"insert into vectors (doc, model, vector) values ({doc}, 'm', x'00ff{doc % 256:02x}')",
        )
    return home


def check_same(one: str, other: str, tmp_path: Path) -> None:
    """Assert that two stores are equal, down to the bytes of their exports."""
    kept = {table: found for table, found in dump(one).items() if table not in ("erasures", "upkeep")}
    assert {table: found for table, found in dump(other).items() if table not in ("erasures", "upkeep")} == kept
    for sql in DERIVED:
        assert rows(other, sql) == rows(one, sql)
    folders: list[Path] = []
    for home in (one, other):
        folders.append(tmp_path / f"export of {len(folders)} of {os.path.basename(other)}")
        with open_at(home) as store:
            store.export_folder(str(folders[-1]), with_history=True)
    assert files_of(folders[0]) == files_of(folders[1])
    with DirectStore(other) as direct:
        assert direct.problems() == []


def files(home: str) -> dict[str, bytes]:
    """Return every file of the store in a home that is not open."""
    return {path.name: path.read_bytes() for path in sorted(Path(home).glob("moss.db*"))}


def test_every_row_is_migrated_there_and_back(source: str, tmp_path: Path) -> None:
    there, back = str(tmp_path / "there"), str(tmp_path / "back")
    before = files(source)
    with open_at(source) as store:
        answer = store.migrate(f"sqlite:{there}")
    assert files(source).get("moss.db") == before["moss.db"], "the source is as it was"
    assert answer["rows"] == sum(table["rows"] for table in answer["tables"]) == answer["changed"] - waiting(source)
    check_same(source, there, tmp_path)
    with open_at(there) as store:
        assert store.migrate(f"sqlite:{back}")["tables"] == answer["tables"]
    check_same(source, back, tmp_path)


def waiting(home: str) -> int:
    """Count the numbers of a new store, each of which is replaced by one that moves."""
    return len(rows(home, "select series from numbers"))


def test_migrated_rows_are_usable_and_numbers_continue(source: str, tmp_path: Path) -> None:
    with open_at(source) as store:
        store.migrate(f"sqlite:{tmp_path / 'there'}")
        here = store.call("tasks_create", {"workspace": "w2", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
    with open_at(tmp_path / "there") as store:
        there = store.call("tasks_create", {"workspace": "w2", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
        assert there["id"] == here["id"]
        stored = store.call("capsule_store", {"name": "after", "capsule_text": FULL})
        assert store.call("capsule_fetch", {"name": "after"})["id"] == stored["id"]
        assert store.call("capsule_search", {"query": "objective"})["pagination"]["total"] > 0
    seqs = [seq for (seq,) in rows(tmp_path / "there", "select seq from events order by seq")]
    assert seqs[-2:] == [seqs[-3] + 1, seqs[-3] + 2]


def test_a_dry_run_counts_and_makes_nothing(source: str, tmp_path: Path) -> None:
    with open_at(source) as store:
        counted = store.migrate(f"sqlite:{tmp_path / 'there'}", dry_run=True)
        assert not (tmp_path / "there").exists()
        assert counted["dry_run"] is True
        assert counted["rows"] == store.migrate(f"sqlite:{tmp_path / 'there'}")["rows"]


def test_a_target_with_a_store_is_refused_and_not_changed(source: str, tmp_path: Path) -> None:
    with open_at(tmp_path / "there") as other:
        other.call("capsule_store", {"name": "mine", "capsule_text": FULL})
    before = dump(tmp_path / "there")
    with open_at(source) as store:
        for to in (f"sqlite:{tmp_path / 'there'}", f"sqlite:{source}"):
            assert refusal(store.migrate, to).code == "CONFLICT"
            assert refusal(store.migrate, to, dry_run=True).code == "CONFLICT"
    assert dump(tmp_path / "there") == before


def test_migrating_without_a_store_is_refused(tmp_path: Path) -> None:
    with open_at(tmp_path / "none") as store:
        assert refusal(store.migrate, f"sqlite:{tmp_path / 'there'}").code == "NOT_FOUND"
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize("at_once", first_of([40, 1]))
def test_a_migration_killed_at_any_point_is_resumed_and_never_opened_incomplete(
    source: str, tmp_path: Path, at_once: int
) -> None:
    there = str(tmp_path / "there")
    points = [0, 1, 2, 5, 30, 90, 150] if at_once == 1 else [1, 4, 9, 14]
    for after in points:
        process = start(KILLED, source, f"sqlite:{there}", after, at_once)
        process.communicate()
        assert process.returncode == 9
        if os.path.exists(there):
            check_refused(there)
    with open_at(source) as store:
        answer = store.migrate(f"sqlite:{there}")
    assert answer["resumed"] is True
    assert answer["changed"] < answer["rows"], "what was there was not written again"
    check_same(source, there, tmp_path)


def check_refused(home: str) -> None:
    """Assert that every way to open an incomplete store fails, and leaves it unchanged."""
    unfinished = os.path.join(home, "moss.db.unfinished")
    if not os.path.exists(unfinished):
        return
    with open_at(home) as store:
        for call in (
            lambda: store.call("capsule_list", {}),
            lambda: store.call("capsule_store", {"capsule_text": FULL}),
        ):
            error = refusal(call)
            assert error.code == "NOT_A_STORE"
            assert "moss migrate" in error.message
    assert not os.path.exists(os.path.join(home, "moss.db"))


def test_rows_changed_meanwhile_are_migrated_again(source: str, tmp_path: Path) -> None:
    there = str(tmp_path / "there")
    process = start(KILLED, source, f"sqlite:{there}", 60, 5)
    process.communicate()
    assert process.returncode == 9
    with open_at(source) as store:
        first, second = [store.call("capsule_list", {"limit": 2})["items"][at] for at in (0, 1)]
        store.call("moss_rename", {"type": "capsule", "id": first["id"], "new_name": "swap"})
        store.call("moss_rename", {"type": "capsule", "id": second["id"], "new_name": "first"})
        store.call("capsule_delete", {"id": first["id"]})
        store.call("capsule_purge", {})
        store.migrate(f"sqlite:{there}")
    check_same(source, there, tmp_path)


def test_a_cancelled_migration_goes_on_later(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_store, "_BATCH_ROWS", 10)
    told: list[int] = []
    with open_at(source) as store:
        error = refusal(
            store.migrate,
            f"sqlite:{tmp_path / 'there'}",
            cancelled=lambda: bool(told),
            progress=lambda *at: told.append(at[0]),
        )
        assert error.code == "CANCELLED"
        store.migrate(f"sqlite:{tmp_path / 'there'}")
    check_same(source, str(tmp_path / "there"), tmp_path)


def test_a_target_that_differs_in_the_end_is_not_opened(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = copy_store.StoreCopy._fill_queue

    def spoil(self: copy_store.StoreCopy, tx: Any) -> None:
        fill(self, tx)
        copy_store._write(self._target, self._call, lambda write: write.run("update capsules set title = 'spoilt'"))

    monkeypatch.setattr(copy_store.StoreCopy, "_fill_queue", spoil)
    there = str(tmp_path / "there")
    with open_at(source) as store:
        error = refusal(store.migrate, f"sqlite:{there}")
        assert (error.code, error.details) == ("STORAGE_CORRUPT", {"table": "capsules"})
        check_refused(there)
        monkeypatch.undo()
        store.migrate(f"sqlite:{there}")
    check_same(source, there, tmp_path)


NO_ADDRESSES = [
    "", "x", "sqlite", "sqlite:", "sqlite:  ", "sqlite://host/path", "sqlite:a\nb", "sqlite:a\0b",
    "sqlite:\\\\host", "mysql://user:swordfish@host/db", "POSTGRESQL://user:swordfish@host/db", "file:///etc",
    "/x", "sqlite:" + "x" * 5000, "sqlite:\udcff\n",
]  # fmt: skip


def test_an_invalid_address_is_refused_and_never_repeated(source: str, subtests: pytest.Subtests) -> None:
    for to in NO_ADDRESSES:
        with subtests.test(to=to[:40]):
            with open_at(source) as store:
                error = refusal(store.migrate, to)
            assert error.code in ("INVALID_REQUEST", "STORAGE_READONLY")
            assert "swordfish" not in str(error.payload())


def test_a_file_in_place_of_the_target_is_refused(source: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with open_at(source) as store:
        assert refusal(store.migrate, f"sqlite:{tmp_path / 'file'}").code == "CONFLICT"
    assert (tmp_path / "file").read_text() == "mine"


def test_every_table_is_migrated_or_listed_as_left_out(tmp_path: Path) -> None:
    """Compare the moved tables with the schema; a new table is moved by itself, but needs a key."""
    with open_at(tmp_path) as store:
        store.call("capsule_store", {"capsule_text": FULL})
    with DirectStore(tmp_path) as direct:
        tx = direct.engine.read_transaction(snapshot=True, call=direct._call)
        try:
            for table in direct.engine.tables(tx):
                columns, key = direct.engine.columns(tx, table)
                assert key, table
                assert set(key) <= set(columns)
        finally:
            tx.release()
