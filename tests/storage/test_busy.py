"""A write lock held elsewhere: a typed error at the deadline, no row written, reads succeed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moss_memory import store as door
from moss_memory.store import Store
from support.python_process import finish, start
from support.store_truth import capsule, contents, open_at, refusal
from support.timeouts import TIMEOUT_S

HOLD_THE_LOCK = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""
TEXT = {"capsule_text": capsule(), "name": "late"}


@contextmanager
def lock_held_elsewhere(home: Path) -> Iterator[subprocess.Popen[str]]:
    holder = start(HOLD_THE_LOCK, home / "moss.lock")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        yield holder
    finally:
        if holder.poll() is None:
            finish(holder, "\n")


@pytest.fixture
def filled(store: Store) -> Store:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "early"})
    return store


def test_a_write_past_the_deadline_is_storage_busy_and_writes_nothing(
    filled: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "WRITE_TIMEOUT_S", 0.05)
    before = contents(home)
    with lock_held_elsewhere(home):
        error = refusal(lambda: filled.call("capsule_store", TEXT))
        assert (error.code, error.status) == ("STORAGE_BUSY", 503)
        assert error.details == {"retryable": True}
        assert contents(home) == before
        assert filled.call("capsule_fetch", {"name": "early"})["name"] == "early"
        assert filled.call("capsule_list", {})["pagination"]["total"] == 1
        with open_at(home) as newcomer:
            assert newcomer.call("capsule_fetch", {"name": "early"})["name"] == "early"
    filled.call("capsule_store", TEXT)
    assert filled.call("capsule_list", {})["pagination"]["total"] == 2


def test_a_write_without_a_timeout_never_polls(filled: Store, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_sleep(seconds: float) -> None:
        raise AssertionError(f"it waited for {seconds} s")

    with lock_held_elsewhere(home):
        monkeypatch.setattr(time, "sleep", no_sleep)
        error = refusal(lambda: filled.call("capsule_store", TEXT, wait=False))
        monkeypatch.undo()
    assert error.code == "STORAGE_BUSY"
    assert filled.call("capsule_store", TEXT, wait=False)["id"]


def test_a_write_without_a_timeout_is_busy_while_another_thread_writes(filled: Store, home: Path) -> None:
    writing, go_on = threading.Event(), threading.Event()

    asked = iter(range(3))

    def wait_inside() -> bool:
        if next(asked) == 1:  # the first record is written, and the lock with it taken
            writing.set()
            assert go_on.wait(TIMEOUT_S)
        return False

    (home / "exports").mkdir(mode=0o700)
    (home / "exports" / "x.jsonl").write_text(
        "".join(f'{{"id": "{name}", "workspace_raw": "w", "capsule_text": "t"}}\n' for name in ("one", "two"))
    )
    importing = threading.Thread(
        target=lambda: filled.call("capsule_import", {"path": "x.jsonl"}, cancelled=wait_inside)
    )
    importing.start()
    try:
        assert writing.wait(TIMEOUT_S)
        assert refusal(lambda: filled.call("capsule_store", TEXT, wait=False)).code == "STORAGE_BUSY"
        assert filled.call("capsule_fetch", {"name": "early"})["name"] == "early"
    finally:
        go_on.set()
        importing.join()
    assert filled.call("capsule_fetch", {"id": "one"})["id"] == "one"
    filled.call("capsule_store", TEXT, wait=False)


def test_a_write_with_a_timeout_succeeds_once_the_lock_is_released(filled: Store, home: Path) -> None:
    answers = []
    with lock_held_elsewhere(home) as holder:
        waiting = threading.Thread(target=lambda: answers.append(filled.call("capsule_store", TEXT)))
        waiting.start()
        assert answers == []
        finish(holder, "\n")
        waiting.join()
    assert len(answers) == 1


def test_a_refused_write_releases_the_lock(filled: Store, home: Path) -> None:
    assert refusal(lambda: filled.call("capsule_store", {"capsule_text": "too thin"})).code == "CAPSULE_TOO_THIN"
    fd = os.open(home / "moss.lock", os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


def test_a_read_keeps_its_snapshot_while_others_write(filled: Store, home: Path) -> None:
    seen: list[int] = []

    def store_more() -> bool:
        with open_at(home) as other:
            other.call("capsule_store", {"capsule_text": capsule(), "name": f"more-{len(seen)}"})
        seen.append(1)
        return False

    items = [{"name": "early"}, {"name": "more-0"}, {"name": "more-1"}]
    answer = filled.call("capsule_fetch_many", {"items": items}, cancelled=store_more)
    assert len(seen) == 3
    assert [item["name"] for item in answer["items"]] in (["early"], ["early", "more-0"])
    assert filled.call("capsule_list", {})["pagination"]["total"] == 4
