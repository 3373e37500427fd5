"""A write-ahead log that another program changes in place under a running process, as programs that sync files do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from moss_memory.storage.sqlite.engine import SqliteEngine
from moss_memory.store import Store
from storage.database import connect
from support.direct_store import DirectStore
from support.store_truth import capsule, check_truth, open_at, refusal


def put(store: Store, name: str) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "name": name})


def names(store: Store) -> set[str]:
    return {item["name"] for item in store.call("capsule_list", {"limit": 100})["items"]}


def overwrite(path: Path, content: bytes, *, at: int = 0) -> None:
    """Write into a file without replacing it."""
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(content)


def truncate_to_nothing(log: Path, _: bytes) -> None:
    os.truncate(log, 0)


def truncate_last_frame(log: Path, _: bytes) -> None:
    os.truncate(log, log.stat().st_size - 100)


def truncate_half(log: Path, _: bytes) -> None:
    os.truncate(log, log.stat().st_size // 2)


def zero(log: Path, _: bytes) -> None:
    overwrite(log, bytes(log.stat().st_size))


def zero_header(log: Path, _: bytes) -> None:
    overwrite(log, bytes(32))


def zero_first_frame(log: Path, _: bytes) -> None:
    """Zero the header of the first frame: a process that opens the store later would ignore the whole log."""
    overwrite(log, bytes(24), at=32)


def zero_end(log: Path, _: bytes) -> None:
    overwrite(log, bytes(8000), at=log.stat().st_size - 8000)


def put_older_back(log: Path, older: bytes) -> None:
    os.truncate(log, 0)
    overwrite(log, older)


def put_older_over(log: Path, older: bytes) -> None:
    """Write the bytes of an older generation, of the present length, over the log."""
    overwrite(log, older[: log.stat().st_size])


def put_another(log: Path, _: bytes) -> None:
    overwrite(log, os.urandom(log.stat().st_size))


CHANGES = [
    truncate_to_nothing, truncate_last_frame, truncate_half, zero, zero_header, zero_first_frame, zero_end,
    put_older_back, put_older_over, put_another,
]  # fmt: skip
Change = Callable[[Path, bytes], None]


@pytest.mark.parametrize(
    ("by", "change"),
    [
        *(("the last writer", change) for change in CHANGES),
        # One that has not written before cannot know of which generation the log must be.
        *(("another writer", change) for change in CHANGES if change not in (put_older_back, put_older_over)),
    ],
)
def test_a_changed_log_is_refused_and_the_database_keeps_its_rows(home: Path, change: Change, by: str) -> None:
    log = home / "moss.db-wal"
    with open_at(home) as store:
        for number in range(5):
            put(store, f"older {number}")
        names(store)
        older = log.read_bytes()
        connection = connect(home)
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        connection.close()
        for number in range(8):
            put(store, f"newer {number}")
        assert log.stat().st_size < len(older)
        before = (home / "moss.db").read_bytes()
        change(log, older)
        if by == "the last writer":
            errors = [refusal(put, store, "after") for _ in range(3)]
        else:
            with open_at(home) as other:
                errors = [refusal(put, other, "after")]
        for error in errors:
            if by == "another writer" and error.code == "STORAGE_READONLY":
                continue  # SQLite itself could not read a page of which the end is missing
            assert error.code in ("STORAGE_CORRUPT", "STORAGE_BUSY"), error
            assert "moss.db-wal" in error.message
    assert (home / "moss.db").read_bytes() == before, "the changed log was moved into the database"
    with open_at(home) as later:
        found = names(later)
        assert found >= {f"older {number}" for number in range(5)}
        assert "after" not in found
        put(later, "later")
    check_truth(home)


def test_a_log_that_changes_at_a_commit_leaves_the_outcome_unknown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verify = SqliteEngine.verify_committed

    def change_and_verify(engine: SqliteEngine) -> None:
        zero(home / "moss.db-wal", b"")
        verify(engine)

    with open_at(home) as store:
        put(store, "before")
        monkeypatch.setattr(SqliteEngine, "verify_committed", change_and_verify)
        error = refusal(put, store, "after")
    assert error.code == "STORAGE_CORRUPT"
    assert "it is not known if this call was written" in error.message


@pytest.mark.parametrize("has_read", [True, False])
@pytest.mark.parametrize("change", [zero, truncate_to_nothing, put_another])
def test_a_read_that_a_changed_log_breaks_names_the_log(home: Path, change: Change, has_read: bool) -> None:
    with open_at(home) as store:
        for number in range(10):
            put(store, f"n{number}")
        if has_read:
            names(store)
        put(store, "in the log")  # a reader forgets the pages that it has read
        change(home / "moss.db-wal", b"")
        for _ in range(2):
            error = refusal(names, store)
            assert (error.code, "moss.db-wal" in error.message) == ("STORAGE_CORRUPT", True), error


@pytest.mark.parametrize("change", [truncate_half, zero, truncate_to_nothing, put_another])
def test_a_reader_that_closes_does_not_move_a_changed_log_into_the_database(home: Path, change: Change) -> None:
    with open_at(home) as store:
        for number in range(10):
            put(store, f"n{number}")
        connection = connect(home)
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        connection.close()
        put(store, "in the log")
        with open_at(home) as reader:
            assert len(names(reader)) == 11
            store.close()
            before = (home / "moss.db").read_bytes()
            if (home / "moss.db-wal").exists():
                change(home / "moss.db-wal", b"")
    assert (home / "moss.db").read_bytes() == before
    with open_at(home) as later:
        assert names(later) >= {f"n{number}" for number in range(10)}
    check_truth(home)


def test_logs_emptied_restarted_or_removed_by_other_processes_are_no_damage(home: Path) -> None:
    with open_at(home) as store, open_at(home) as other:
        for number, mode in enumerate(["passive", "full", "restart", "truncate"] * 3):
            put(store, f"a{number}")
            put(other, f"b{number}")
            connection = connect(home)
            connection.execute(f"pragma wal_checkpoint({mode})").fetchall()
            connection.close()
            put(other, f"c{number}")
            put(store, f"d{number}")
        assert len(names(store)) == 48
    check_truth(home)


# An older log in the place of one that nobody has open


def older_log(home: Path) -> bytes:
    """Return the log of five writes, after ten that were checkpointed one after the other."""
    with open_at(home) as store:
        for number in range(5):
            put(store, f"n{number}")
        content = (home / "moss.db-wal").read_bytes()
    with open_at(home) as store:
        for number in range(5, 10):
            put(store, f"n{number}")
    assert not (home / "moss.db-wal").exists()
    return content


def replaced(home: Path) -> list[Path]:
    return sorted(home.glob("moss.db-wal.replaced-*"))


@pytest.mark.parametrize("by", [names, lambda store: put(store, "after")])
def test_an_older_log_is_set_aside_and_the_database_keeps_its_rows(home: Path, by: Callable[[Store], object]) -> None:
    older = older_log(home)
    before = (home / "moss.db").read_bytes()
    (home / "moss.db-wal").write_bytes(older)
    with open_at(home) as store:
        error = refusal(by, store)
        assert error.code == "STORAGE_CORRUPT"
        assert "moss.db-wal is older than the database" in error.message
        (kept,) = replaced(home)
        assert kept.name in error.message
        assert (home / "moss.db").read_bytes() == before
        assert kept.read_bytes() == older
        assert kept.stat().st_mode & 0o777 == 0o600
        assert names(store) == {f"n{number}" for number in range(10)}
        put(store, "later")
        erased = store.call("moss_erase", {"type": "capsule", "name": "n1", "dry_run": True})
        assert str(kept) in erased["copies"]
    assert replaced(home) == [kept]
    check_truth(home)


def test_doctor_names_a_log_that_was_set_aside(home: Path) -> None:
    older = older_log(home)
    (home / "moss.db-wal").write_bytes(older)
    with open_at(home) as store:
        refusal(names, store)
        call = store._context("doctor")
        found = {one.subject: one for one in store._engine.check_health(call=call, fix=False)}
        assert found["replaced"].facts["found"] == [str(one) for one in replaced(home)]
        assert {one.state for subject, one in found.items() if subject != "replaced"} <= {"sound", "pending"}


@pytest.mark.parametrize("writes", [0, 1, 3])
def test_an_older_log_under_an_open_store_loses_nothing_of_the_database(home: Path, writes: int) -> None:
    older = older_log(home)
    held = {f"n{number}" for number in range(10)}
    log = home / "moss.db-wal"
    with open_at(home) as first:
        assert names(first) == held
        for number in range(writes):
            put(first, f"in the log {number}")
        before = (home / "moss.db").read_bytes()
        os.truncate(log, 0)
        overwrite(log, older)
        with open_at(home) as second:
            if writes:
                assert refusal(put, second, "after").code == "STORAGE_CORRUPT"
                error = refusal(put, first, "after")
                assert (error.code, "moss.db-wal" in error.message) == ("STORAGE_CORRUPT", True), error
                assert (home / "moss.db").read_bytes() == before
            else:
                put(second, "after")  # the log is known to be empty, and is begun anew
                held |= {"after"}
    with open_at(home) as later:
        if log.exists():
            assert "moss.db-wal" in refusal(names, later).message
        assert names(later) == held
        put(later, "later")
    check_truth(home)


def test_a_page_of_another_table_after_a_killed_checkpoint_is_no_older_log(home: Path) -> None:
    body = {"started_at": "2026-01-31T09:00:00Z", "ended_at": "2026-01-31T10:00:00Z"}
    provenance = {"source_refs": [], "extracted_at": "2026-01-31T10:00:00Z", "extractor_version": "1", "agent_id": "a"}
    with open_at(home) as store:
        for number in range(60):
            session = {"capability_id": "neotoma:store_agent_session:v1", "body": {**body, "session_id": f"s{number}"}}
            store.call("submit_payload", {"workspace": "shop", **session, "provenance": provenance})
    database, log = home / "moss.db", home / "moss.db-wal"
    events, others = (last_leaf(home, table) for table in ("events", "timeline_events"))
    with open_at(home) as store:
        put(store, "in the log")
        content, written = bytearray(database.read_bytes()), log.read_bytes()
    # The pages of a deleted table's rows are used again; the checkpoint was killed before it copied the new content.
    content[events] = content[others]
    database.write_bytes(content)
    log.write_bytes(written)
    with open_at(home) as store:
        assert names(store) == {"in the log"}
        put(store, "later")
    assert replaced(home) == []
    with DirectStore(home) as direct:
        assert direct.problems() == []


def last_leaf(home: Path, table: str) -> slice:
    """Return the place of the last page of a table with two levels."""
    connection = connect(home)
    size: int = connection.pragma("page_size")
    root: int = connection.execute("select rootpage from sqlite_schema where name = ?", (table,)).get
    connection.close()
    page = (home / "moss.db").read_bytes()[(root - 1) * size : root * size]
    assert page[0] == 5, "the root is no interior page of a table"
    last = int.from_bytes(page[8:12], "big")
    return slice((last - 1) * size, last * size)


# A home that is moved away


def test_a_store_whose_home_was_moved_is_an_error_and_no_new_one_is_made(home: Path, tmp_path: Path) -> None:
    with open_at(home) as store:
        put(store, "before")
        names(store)
        shutil.move(home, tmp_path / "elsewhere")
        store._engine.readers.check_at_next_call()  # type: ignore[attr-defined]
        for call in (lambda: put(store, "after"), lambda: names(store)):
            error = refusal(call)
            assert error.code == "STORAGE_CORRUPT"
            assert "moved or removed" in error.message
        assert not home.exists()
        shutil.move(tmp_path / "elsewhere", home)
        put(store, "back")
        assert names(store) == {"before", "back"}
    check_truth(home)
