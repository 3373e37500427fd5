"""One store used by eight threads, and one inherited by a forked child: no write is lost, no answers are mixed up."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from moss_memory import store as door
from moss_memory.store import Store
from support.python_process import run, start
from support.store_truth import capsule, check_truth, events, open_at
from support.timeouts import TIMEOUT_S

THREADS = 8
ROUNDS = 25


def test_eight_threads_on_one_store_lose_nothing(store: Store, home: Path) -> None:
    together = Barrier(THREADS)

    def work(thread: int) -> None:
        together.wait()
        for number in range(ROUNDS):
            name = f"{thread}.{number}"
            store.call("capsule_store", {"name": name, "capsule_text": capsule(f"word{thread}x{number}")})
            assert f"word{thread}x{number}" in store.call("capsule_fetch", {"name": name})["capsule_text"]
            store.call("capsule_append", {"name": name, "section": "Decisions", "content": "more"})
            assert store.call("capsule_list", {})["pagination"]["total"] > number
        assert store.call("capsule_export", {"path": f"{thread}.jsonl"})["count"] >= ROUNDS

    with ThreadPoolExecutor(THREADS) as pool:
        for future in [pool.submit(work, thread) for thread in range(THREADS)]:
            future.result()
    assert store.call("capsule_list", {})["pagination"]["total"] == THREADS * ROUNDS
    assert len(events(home)) == 2 * THREADS * ROUNDS
    check_truth(home)


# The child and the parent wait for each other over pipes; os._exit keeps the child from the parent's clean-up.
FORK = """
import os, sys
from support.store_truth import capsule, check_truth, open_at
home = sys.argv[1]
clock_ms = (lambda: 1_700_000_000_000) if "still clock" in sys.argv else None
store = open_at(home, clock_ms=clock_ms)

def put(name):
    return store.call("capsule_store", {"capsule_text": capsule(), "name": name})["id"]

def names():
    with open_at(home) as fresh:
        return sorted(item["name"] for item in fresh.call("capsule_list", {"limit": 100})["items"])

def in_child(work):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            sys.stderr.flush()
            try:
                if code:
                    import traceback
                    traceback.print_exc()
            finally:
                os._exit(code)
    return pid

def ended_well(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

def pipe():
    read, write = os.pipe()
    return (lambda: os.read(read, 1)), (lambda: os.write(write, b"x"))

put("before")
store.call("capsule_list", {})
"""


def test_parent_and_child_both_write_after_a_fork(home: Path) -> None:
    run(
        FORK
        + """
def work():
    for number in range(20):
        put(f"child {number}")
        assert store.call("capsule_fetch", {"name": f"child {number}"})
pid = in_child(work)
for number in range(20):
    put(f"parent {number}")
assert ended_well(pid)
put("after")
assert len(names()) == 42, names()
""",
        home,
    )
    check_truth(home)


def test_a_child_can_write_after_its_parent_closed_the_store(home: Path) -> None:
    run(
        FORK
        + """
child_wrote, tell_parent = pipe()
parent_closed, tell_child = pipe()
def work():
    put("child 1")
    tell_parent()
    parent_closed()
    put("child 2")
    store.call("capsule_list", {})
    store.close()
pid = in_child(work)
child_wrote()
store.close()
tell_child()
assert ended_well(pid)
assert names() == ["before", "child 1", "child 2"], names()
""",
        home,
    )
    check_truth(home)


def test_a_parent_can_write_after_its_child_closed_the_store(home: Path) -> None:
    run(
        FORK
        + """
def work():
    put("child")
    store.close()
assert ended_well(in_child(work))
put("parent")
assert store.call("capsule_fetch", {"name": "child"})
store.close()
assert names() == ["before", "child", "parent"], names()
""",
        home,
    )
    check_truth(home)


IMPORT_THREE = """
import json
from moss_memory.storage.sqlite import connections
connections.BUSY_TIMEOUT_MS = 100
os.makedirs(os.path.join(home, "exports"), 0o700)
with open(os.path.join(home, "exports", "x.jsonl"), "w") as file:
    for number in range(3):
        print(json.dumps({"id": f"i{number}", "workspace_raw": "w", "capsule_text": "t"}), file=file)
asked = []
def in_the_middle():
    asked.append(1)  # an import asks before each record, and has the lock from the first one on
    return len(asked) == 2
"""


@pytest.mark.sqlite("the lock of writers is a file beside the store")
def test_a_fork_during_a_write_leaves_parent_and_child_with_correct_answers(home: Path) -> None:
    """The child may be refused, for its parent's transaction cannot be taken from it; it may not get a wrong answer."""
    run(
        FORK
        + IMPORT_THREE
        + """
from moss_memory.errors import MossError
acknowledged, tell = pipe()
pids = []
def work():
    try:
        put("child")
    except MossError as error:
        assert error.code.startswith("STORAGE_"), error
    else:
        tell()
def fork_inside():
    if in_the_middle():
        pids.append(in_child(work))
        assert ended_well(pids[0])
    return False
sys.stdout.flush()
import moss_memory.store
moss_memory.store.WRITE_TIMEOUT_S = 0.5
assert store.call("capsule_import", {"path": "x.jsonl"}, cancelled=fork_inside)["imported"] == 3
put("parent")
tell()
found = names()
assert found in (["before", "parent"], ["before", "child", "parent"]), found
""",
        home,
    )
    check_truth(home)


FORK_AND_DIE = (
    FORK
    + IMPORT_THREE
    + """
import signal
def linger():
    print("lingers", flush=True)
    sys.stdin.read()
def fork_and_die():
    if in_the_middle():
        in_child(linger)
        os.kill(os.getpid(), signal.SIGKILL)
store.call("capsule_import", {"path": "x.jsonl"}, cancelled=fork_and_die)
"""
)


@pytest.mark.sqlite("the lock of writers is a file beside the store")
def test_a_child_that_outlives_a_killed_writer_does_not_keep_its_lock(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = start(FORK_AND_DIE, home)
    assert writer.stdout is not None
    assert writer.stdin is not None
    try:
        assert writer.stdout.readline() == "lingers\n"
        assert writer.wait(timeout=TIMEOUT_S) == -signal.SIGKILL
        monkeypatch.setattr(door, "WRITE_TIMEOUT_S", 1.0)
        with open_at(home) as store:
            store.call("capsule_store", {"name": "another", "capsule_text": capsule()})
            assert store.call("capsule_inventory", {})["pagination"]["total"] == 2
    finally:
        writer.stdin.close()
        writer.stdout.close()
    check_truth(home)


def test_ids_of_parent_and_child_differ_if_the_clock_stops(home: Path) -> None:
    run(
        FORK
        + """
pid = in_child(lambda: [put(f"child {number}") for number in range(20)])
for number in range(20):
    put(f"parent {number}")
assert ended_well(pid)
assert len(names()) == 41, names()
""",
        home,
        "still clock",
    )
    check_truth(home)
