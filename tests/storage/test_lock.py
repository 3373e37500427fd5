"""The write lock: one writer at a time and no starvation, even if processes are killed, stopped or give up."""

from __future__ import annotations

import fcntl
import os
import select
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from moss_memory.storage.files.private_files import open_private
from moss_memory.storage.sqlite import lock as lock_module
from support.lock_user import LockUser, SimpleLock, call, watched
from support.store_truth import refusal
from support.timeouts import TIMEOUT_S, wait_until


@pytest.fixture
def lock(home: Path) -> SimpleLock:
    return SimpleLock(home)


class Waiter:
    """A thread that waits for the lock, records that it had it, and releases it."""

    def __init__(self, home: Path, served: list[object], name: object) -> None:
        self.joined = threading.Event()
        self.lock = watched(home, self.joined.set)
        self.thread = threading.Thread(target=self._work, args=(served, name))
        self.thread.start()
        assert self.joined.wait(TIMEOUT_S)

    def _work(self, served: list[object], name: object) -> None:
        self.lock.acquire(TIMEOUT_S)
        served.append(name)
        self.lock.release()

    def join(self) -> None:
        self.thread.join(TIMEOUT_S)
        assert not self.thread.is_alive()


def is_queued(home: Path) -> bool:
    """Return whether a waiter is first in the queue: it has locked the queue file."""
    with open(home / "moss.queue", "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_until_queued(home: Path) -> None:
    wait_until(lambda: is_queued(home), "nobody waits")


def next_holder(users: list[LockUser]) -> LockUser:
    """Return the process that reports first that it has the lock, asserting that no other does."""
    pipes = {user.answers: user for user in users}
    ready = select.select(list(pipes), [], [], TIMEOUT_S)[0]
    assert len(ready) == 1
    holder = pipes[ready[0]]
    assert holder.hear() == "has it"
    return holder


def test_each_process_that_waits_gets_the_lock_and_never_two_at_once(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0)
    with ExitStack() as stack:
        waiting = [stack.enter_context(LockUser(home)) for _ in range(6)]
        for user in waiting:
            assert user.take() == "waits"
        lock.release()
        while waiting:
            holder = next_holder(waiting)
            assert refusal(lock.acquire, 0).code == "STORAGE_BUSY"
            waiting.remove(holder)
            holder.let_go()
    lock.acquire(TIMEOUT_S)


def test_threads_wait_in_the_same_queue_as_processes(home: Path, lock: SimpleLock) -> None:
    served: list[object] = []
    lock.acquire(0)
    with LockUser(home) as one, LockUser(home) as two:
        first = Waiter(home, served, "first")
        wait_until_queued(home)
        assert one.take() == "waits"
        assert two.take() == "waits"
        second = Waiter(home, served, "second")
        lock.release()
        waiting = [one, two]
        while waiting:  # the order among those who did not come first is not promised
            holder = next_holder(waiting)
            assert served[0] == "first", "the one who was first in the queue is served first"
            waiting.remove(holder)
            holder.let_go()
        first.join()
        second.join()
    assert served == ["first", "second"]


def test_threads_of_one_store_are_all_served_one_at_a_time(home: Path) -> None:
    served: list[int] = []
    inside: list[int] = []
    waits = threading.Semaphore(0)
    lock = watched(home, waits.release)

    def work(number: int) -> None:
        with lock.lock.new_hold() as hold:
            hold.acquire(TIMEOUT_S)
            inside.append(number)
            os.stat(home)  # other threads run meanwhile
            served.append(len(inside))
            inside.remove(number)

    lock.acquire(0)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
        assert waits.acquire(timeout=TIMEOUT_S)
    lock.release()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert served == [1] * 8


def test_a_writer_that_releases_and_acquires_again_is_behind_the_one_that_waits(home: Path, lock: SimpleLock) -> None:
    served: list[object] = []
    lock.acquire(0)
    for number in range(20):
        waiter = Waiter(home, served, number)
        wait_until_queued(home)
        lock.release()
        lock.acquire(TIMEOUT_S)
        assert served == list(range(number + 1))
        waiter.join()
    lock.release()


def test_without_a_timeout_a_writer_does_not_overtake_the_waiters(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0)
    with LockUser(home) as user:
        assert user.take() == "waits"
        wait_until_queued(home)
        user.stop()
        lock.release()
        assert refusal(lock.acquire, 0).code == "STORAGE_BUSY"
        user.go_on()
        assert user.hear() == "has it"
        user.let_go()
    lock.acquire(0)


def test_a_stopped_waiter_does_not_keep_the_others_waiting(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0)
    with LockUser(home) as first, LockUser(home) as second, LockUser(home) as third:
        assert first.take() == "waits"
        wait_until_queued(home)
        for user in (second, third):
            assert user.take() == "waits"
        first.stop()
        second.stop()
        lock.release()
        assert third.hear() == "has it"
        third.let_go()
        assert third.take() == "waits", "one stands in the queue and does not come"
        assert third.hear() == "has it"
        third.let_go()
        first.go_on()
        second.go_on()
        with ThreadPoolExecutor() as pool:  # either may be the first
            assert list(pool.map(_take_a_turn, (first, second))) == ["has it", "has it"]
    lock.acquire(TIMEOUT_S)


def _take_a_turn(user: LockUser) -> str:
    word = user.hear_in_the_end()
    user.let_go()
    return word


def test_a_waiter_that_gives_up_does_not_block_the_others(home: Path, lock: SimpleLock) -> None:
    served: list[object] = []
    lock.acquire(0)
    with LockUser(home) as user:
        assert user.take(0.01) == "waits"
        waiter = Waiter(home, served, "behind")
        assert user.hear() == "STORAGE_BUSY"
        lock.release()
        waiter.join()
        assert user.take() == "has it"
        user.let_go()
    lock.acquire(TIMEOUT_S)


def test_a_wait_ends_when_the_caller_gives_up(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0)
    joined = threading.Event()
    waiting = watched(home, joined.set)
    error = refusal(waiting.acquire, TIMEOUT_S, call(joined.is_set))
    assert error.code == "CANCELLED"
    thread_of_the_same = refusal(lock.acquire, TIMEOUT_S, call(lambda: True))
    assert thread_of_the_same.code == "CANCELLED"
    lock.release()
    waiting.acquire(TIMEOUT_S)
    waiting.release()


def test_the_refusal_names_the_holder_its_start_and_its_operation(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0, call(operation="capsule_import"))
    other = SimpleLock(home)
    for timeout_s in (0, 0.01):
        error = refusal(other.acquire, timeout_s)
        assert error.details is not None
        holder = error.details["holder"]
        assert (holder["pid"], holder["tool"]) == (os.getpid(), "capsule_import")
        assert f"process {os.getpid()} has held it since 20" in error.message
        assert "with `capsule_import`" in error.message
    lock.release()
    assert other.holder() is None


def test_a_dead_or_unnamed_holder_is_not_named(home: Path, lock: SimpleLock) -> None:
    with LockUser(home) as user:
        assert user.take() == "has it"
        assert (lock.holder() or {})["pid"] == user.pid
        user.kill()
    assert lock.holder() is None
    own = os.getpid()
    for note in (b"", b"held", b"held x y z", b"held -99999999999999999999 1 x", b"\xff" * 200):
        (home / "moss.lock").write_bytes(note)
        assert lock.holder() is None
    (home / "moss.lock").write_bytes(b"held %d 99999999999999999999999999 x" % own)
    other = SimpleLock(home)
    lock.acquire(0)
    (home / "moss.lock").write_bytes(b"held %d 99999999999999999999999999 x" % own)
    assert f"process {own} has held it since an unknown time" in refusal(other.acquire, 0).message
    lock.release()


@pytest.mark.parametrize("name", ["moss.lock", "moss.queue"])
def test_files_made_by_a_wait_are_private_and_existing_ones_keep_their_mode(home: Path, name: str) -> None:
    home.mkdir(mode=0o700)
    other = ({"moss.lock", "moss.queue"} - {name}).pop()
    (home / name).touch()
    (home / name).chmod(0o640)
    served: list[object] = []
    lock = SimpleLock(home)
    lock.acquire(0)
    waiter = Waiter(home, served, "one")
    lock.release()
    waiter.join()
    assert stat.S_IMODE((home / name).stat().st_mode) == 0o640
    assert stat.S_IMODE((home / other).stat().st_mode) == 0o600


def test_a_lock_file_that_was_replaced_during_a_wait_is_not_taken_for_the_lock(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0)
    with LockUser(home) as user, LockUser(home) as other:
        assert user.take() == "waits"
        (home / "moss.lock").unlink()
        (home / "moss.queue").unlink()
        assert other.take() == "has it"
        lock.release()
        assert user.hear() == "waits", "he found that he had waited for what is not the lock"
        other.let_go()
        assert user.hear() == "has it"
        user.let_go()


@pytest.mark.parametrize("content", [b"\xff" * 64, b"\x01"])
def test_the_content_of_the_queue_file_does_not_matter(home: Path, lock: SimpleLock, content: bytes) -> None:
    served: list[object] = []
    lock.acquire(0)
    (home / "moss.queue").write_bytes(content)
    waiters = [Waiter(home, served, number) for number in range(3)]
    lock.release()
    for waiter in waiters:
        waiter.join()
    assert sorted(map(str, served)) == ["0", "1", "2"]


def spoil(home: Path, instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove a resource that waiters need."""

    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    home.mkdir(mode=0o700)
    if instead == "folder":
        (home / "moss.queue").mkdir()
    elif instead == "link":
        (home / "moss.queue").symlink_to(home / "elsewhere")
    else:
        monkeypatch.setattr(lock_module, "start_new_thread", fail)


@pytest.mark.parametrize("instead", ["folder", "link", "no threads"])
def test_without_a_queue_writers_are_still_kept_apart(
    home: Path, monkeypatch: pytest.MonkeyPatch, instead: str
) -> None:
    spoil(home, instead, monkeypatch)
    counts = {"inside": 0, "most": 0, "served": 0}

    together = threading.Barrier(4)

    def work() -> None:
        mine = SimpleLock(home)
        together.wait()
        for _ in range(5):
            mine.acquire(TIMEOUT_S)
            counts["inside"] += 1
            for _ in range(50):
                os.stat(home)  # other threads run meanwhile
            counts["most"] = max(counts["most"], counts["inside"])
            counts["served"] += 1
            counts["inside"] -= 1
            mine.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert counts == {"inside": 0, "most": 1, "served": 20}
    assert not (home / "elsewhere").exists()


def test_a_writer_that_locks_only_the_lock_file_excludes_others_and_is_excluded(home: Path, lock: SimpleLock) -> None:
    lock.acquire(0)
    fd = os.open(home / "moss.lock", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lock.release()
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    error = refusal(lock.acquire, 0)
    assert (error.code, error.details) == ("STORAGE_BUSY", {"retryable": True})
    with LockUser(home) as user:
        assert user.take() == "waits"
        os.close(fd)
        assert user.hear() == "has it"


def open_files(folder: Path) -> list[str]:
    """Return the files of a folder that this process has open."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            continue  # the one by which they are listed
    return sorted(path for path in found if path.startswith(str(folder)))


def test_a_wait_leaves_no_descriptor_behind(home: Path, lock: SimpleLock) -> None:
    served: list[object] = []
    for _ in range(2):  # the first makes the home
        lock.acquire(0)
        lock.release()
    before = open_files(home)
    assert [os.path.basename(path) for path in before] == ["moss.lock", "moss.queue"]
    for number in range(3):
        lock.acquire(TIMEOUT_S)
        waiter = Waiter(home, served, number)
        assert refusal(lock.acquire, 0.01).code == "STORAGE_BUSY"
        lock.release()
        waiter.join()
        waiter.lock.close()
    # The thread of one who gave up ends when it gets its turn.
    wait_until(lambda: open_files(home) == before, "a descriptor is left")


def test_a_writer_opens_no_file_while_the_process_may_not_open_any(home: Path) -> None:
    lock = lock_module.WriteLock(str(home))
    with lock.new_hold() as pause, lock.new_hold() as writer:
        assert pause.block_process_writes(TIMEOUT_S)
        assert refusal(writer.acquire, 0.05).code == "STORAGE_BUSY"
        assert not (home / lock_module.LOCK_FILE).exists()
    with lock.new_hold() as writer:
        writer.acquire(TIMEOUT_S)


def test_a_free_lock_is_stolen_only_if_it_was_not_used_since_the_last_poll(home: Path, lock: SimpleLock) -> None:
    lock.acquire(TIMEOUT_S)
    lock.release()
    hold = lock_module.WriteLock(str(home)).new_hold()
    acquired, record = hold._acquire_if_unused_since_last_try(None)
    assert not acquired
    assert hold._acquire_if_unused_since_last_try(record) == (True, record)
    hold.release()


def test_a_closed_waiter_unlocks_also_for_a_forked_child_that_has_its_files(home: Path, lock: SimpleLock) -> None:
    lock.acquire(TIMEOUT_S)
    lock.release()
    waiter = lock_module.Waiter(open_private(str(home / "moss.lock")), None)
    inherited = os.dup(waiter.lock_file.fileno())  # a fork copies descriptors in the same way
    fcntl.flock(inherited, fcntl.LOCK_EX | fcntl.LOCK_NB)
    waiter.close()
    lock.acquire(0.0)
    lock.release()
    os.close(inherited)
