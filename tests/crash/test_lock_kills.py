"""A holder or a waiter of the write lock is killed at any step: the next waiter gets the lock, and no other."""

from __future__ import annotations

import os
import select
import signal
import threading
from pathlib import Path

from support.lock_user import LockUser, SimpleLock, watched
from support.python_process import start

LONG_S = 60.0
MOST_STEPS = 120
"""More system calls than one turn makes; the loop ends at the first step that a turn does not have."""


class Behind:
    """Two threads that queue behind the victim; each counts the holders at the time that it has the lock."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.inside = 0
        self.met: list[int] = []
        self.threads = []
        for _ in range(2):
            joined = threading.Event()
            thread = threading.Thread(target=self._work, args=(watched(home, joined.set), joined))
            thread.start()
            self.threads.append(thread)
            assert joined.wait(LONG_S), "neither got the lock nor a place"

    def _work(self, lock: SimpleLock, joined: threading.Event) -> None:
        lock.acquire(LONG_S)
        joined.set()
        self.inside += 1
        os.stat(self.home)  # other threads run meanwhile
        self.met.append(self.inside)
        self.inside -= 1
        lock.release()
        lock.close()

    def check(self) -> None:
        for thread in self.threads:
            thread.join(LONG_S)
            assert not thread.is_alive(), "the killed one is still waited for"
        assert self.met == [1, 1]


def test_a_waiter_may_be_killed_at_any_step(home: Path) -> None:
    lock = SimpleLock(home)
    killed = 0
    for step in range(1, MOST_STEPS):
        lock.acquire(LONG_S)
        with LockUser(home, killed_at=step) as victim:
            victim.take()  # waits now, or is dead
            behind = Behind(home)
            lock.release()
            if victim.hear() == "has it":
                victim.tell("go")
                if victim.hear() == "let go":
                    behind.check()
                    break
            behind.check()
            killed += 1
    else:
        raise AssertionError("no turn came to its end")
    assert killed > 15, "the steps are not seen"
    lock.acquire(LONG_S)
    lock.release()


def test_a_writer_that_gets_the_lock_at_once_may_be_killed_at_any_step(home: Path) -> None:
    lock = SimpleLock(home)
    for step in range(1, MOST_STEPS):
        with LockUser(home, killed_at=step) as victim:
            if victim.take() == "has it":
                behind = Behind(home)
                victim.tell("go")
                if victim.hear() == "let go":
                    behind.check()
                    break
                behind.check()
        lock.acquire(LONG_S)
        lock.release()
    else:
        raise AssertionError("no turn came to its end")
    assert step > 8, "the steps are not seen"


def test_after_killed_holders_and_waiters_the_remaining_waiters_get_the_lock(home: Path) -> None:
    users = [LockUser(home) for _ in range(5)]
    holder, *waiting = users
    assert holder.take() == "has it"
    for user in waiting:
        assert user.take() == "waits"
    waiting.pop(2).kill()
    while waiting:
        holder.kill()
        ready = select.select([user.answers for user in waiting], [], [], LONG_S)[0]
        assert len(ready) == 1
        holder = next(user for user in waiting if user.answers in ready)
        assert holder.hear() == "has it"
        waiting.remove(holder)
    for user in users:
        user.__exit__(None, None, None)


# A thread waits in line, the process forks, and is killed; its child lives on.
FORK_WHILE_WAITING = """
import os, signal, sys, threading
from moss_memory.storage.sqlite.lock import WriteLock
from support.store_truth import capsule, open_at
joined = threading.Event()
new_waiter = WriteLock.new_waiter
def new_and_tell(lock):
    waiter = new_waiter(lock)
    joined.set()
    return waiter
WriteLock.new_waiter = new_and_tell
store = open_at(sys.argv[1])
write = threading.Thread(target=store.call, args=("capsule_store", {"capsule_text": capsule()}), daemon=True)
write.start()
joined.wait()
if os.fork() == 0:
    print("lingers", flush=True)
    sys.stdin.read()
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_forked_child_does_not_keep_the_place_of_its_killed_parent_in_the_queue(home: Path) -> None:
    lock = SimpleLock(home)
    lock.acquire(0)
    victim = start(FORK_WHILE_WAITING, home)
    assert victim.stdin is not None
    assert victim.stdout is not None
    try:
        assert victim.stdout.readline() == "lingers\n"
        assert victim.wait(timeout=LONG_S) == -signal.SIGKILL
        lock.release()
        lock.acquire(0)
    finally:
        victim.stdin.close()
        victim.stdout.close()
