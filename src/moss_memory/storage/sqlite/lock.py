"""The write lock: one writer at a time, among the threads of this process and among all processes.

A waiter locks the queue file, then the lock file, then unlocks the queue file. A writer that finds the queue file
locked waits for it, so a new writer does not overtake the first waiter. The kernel decides the order of those behind
it, which may overtake each other; every one of them gets the lock. A blocking `flock` has no timeout other than by
signals, which a library must not use. So a thread blocks, and the writer waits for that thread.

`Hold.acquire` takes these steps:

1. `_acquire_if_free`: if nobody waits, lock the lock file without waiting; the queue file is locked meanwhile.
2. `_wait`: start a `Waiter`, whose thread blocks on both files, and use the lock that it gets.
3. `_acquire_if_unused_since_last_try`, while it waits: acquire the lock itself if it is free and the first in the
   queue does not take it, for example because it is stopped by Ctrl-Z.

Two mutexes exclude the other threads of the process: `opening_mutex` while the files of a waiter are opened, and
`writing_mutex` while the lock is tried, used or held. Several threads may wait at once.

Measured with eight processes on two cores that only store capsules on a file system in memory (rough figures of
prototypes; only their order is certain):

                                                      writes/s     delay     longest wait   overtaken by up to
  all poll                                               1,310       18 µs         866 ms                1,755
  a ticket queue over byte locks                         1,098      181 µs          46 ms                    5
  two plain flocks (the present design)                  1,310       46 µs          46 ms                   72

In the store, `bench/writers.py` measures 1.27 times the time of polling. A ticket queue, in an earlier version of Moss,
took 1.19 times, but its longest wait was 34 ms against 23 ms. Polling three times before waiting changes nothing,
polling more often makes it slower (1.33 times).
"""

from __future__ import annotations

import fcntl
import os
import time
from _io import FileIO
from _thread import allocate_lock, get_ident, start_new_thread
from _weakref import ref

from moss_memory.log import INFO, log
from moss_memory.storage.files.private_files import make_private_folder, open_owned, open_private

from .error_mapping import busy_error, missing_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.storage.call import CallContext

    Token = tuple[int]
    """The id of a thread, in a tuple of its own for each hold: tokens are compared by identity."""

LOCK_FILE = "moss.lock"
QUEUE_FILE = "moss.queue"
_CHECK_CANCELLED_S = 0.02
_TRY_UNUSED_S = 0.25
_POLL_S = 0.005
_SPIN_S = 0.0002
_RECORD_BYTES = 96


class WriteLock:
    """An `flock` on a file beside the database; `new_hold` returns objects that acquire it.

    SQLite's own busy handler is not enough: with it alone, 37 of 16,000 writes from 16 processes failed.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._path = os.path.join(home, LOCK_FILE)
        self._queue_path = os.path.join(home, QUEUE_FILE)
        self.writing_mutex = ThreadMutex()
        """Owned by the hold that has the lock, or that keeps this process from writing."""
        self.opening_mutex = ThreadMutex()
        """Owned by the hold that opens files, or that keeps this process from opening any."""
        self._lock_file: FileIO | None = None
        self._queue_file: FileIO | None = None
        self._waiters: list[ref[Waiter]] = []
        self.creates_home = True
        """True if a missing home is created: not while a store is open in it."""

    def new_hold(self, before_release: Callable[[], None] | None = None) -> Hold:
        """Return a new attempt to hold the lock; nothing is acquired yet."""
        return Hold(self, before_release)

    def holder(self) -> dict[str, Any] | None:
        """Return pid, start and tool of the process that holds the lock; None if it is free or unknown."""
        try:
            with open_owned(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, "rb") as file:
                state, pid, since_ms, tool = read_record(file).decode().split()
            holder = {"pid": int(pid), "since_ms": int(since_ms), "tool": tool}
            return holder if state == "held" and is_alive(int(pid)) else None
        except (ValueError, OSError, OverflowError):
            return None

    def is_current(self, file: FileIO) -> bool:
        """Return True if an open file is still the lock file that other processes find."""
        status = os.fstat(file.fileno())
        try:
            current = os.stat(self._path)
        except OSError:
            return False
        return (current.st_dev, current.st_ino) == (status.st_dev, status.st_ino)

    def lock_file(self) -> FileIO:
        """Return the lock file that the owner of `writing_mutex` uses."""
        if self._lock_file is None:
            self._lock_file = self._open_lock()
        return self._lock_file

    def queue_file(self) -> FileIO | None:
        """Return the queue file that the owner of `writing_mutex` uses; None if it cannot be opened."""
        if self._queue_file is None:
            self._queue_file = self._open_queue()
        return self._queue_file

    def new_waiter(self) -> Waiter:
        """Return a waiter with files of its own; the caller owns `opening_mutex`."""
        waiter = Waiter(self._open_lock(), self._open_queue())
        self._waiters.append(ref(waiter, self._waiters.remove))
        return waiter

    def _open_lock(self) -> FileIO:
        if self.creates_home:
            make_private_folder(self._home)
        try:
            return open_private(self._path)
        except FileNotFoundError:
            raise missing_store(self._home) from None

    def _open_queue(self) -> FileIO | None:
        try:
            return open_private(self._queue_path)
        except OSError:
            return None  # another kind of file is there; writers are still exclusive, but may be overtaken

    def close(self) -> None:
        """Close the files; the caller owns `writing_mutex`. They are opened again if they are needed."""
        for file in (self._lock_file, self._queue_file):
            if file is not None:
                file.close()
        self._lock_file = self._queue_file = None

    def close_in_child(self) -> None:
        """Close everything, in a forked child: else the lock of a killed parent would stay held."""
        for waiter in [reference() for reference in self._waiters]:
            if waiter is not None:
                waiter.close_files()
        self.close()


class Hold:
    """One attempt to hold the write lock.

    Each step is recorded before it is taken, and `release`, which is idempotent, undoes every recorded step: so no
    exception at any moment leaves the lock held. Enter it twice (`with lock.new_hold() as hold, hold:`): if an
    interrupt comes at the first exit, there is still the second.
    """

    _token: Token = (0,)
    _is_held = False
    _file: FileIO | None = None
    _queue: FileIO | None = None
    _waiter: Waiter | None = None

    def __init__(self, lock: WriteLock, before_release: Callable[[], None] | None = None) -> None:
        self._lock = lock
        self.before_release = before_release
        """Called by `release` while the lock is still held."""
        self._token = (get_ident(),)

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self, timeout_s: float, call: CallContext | None = None) -> None:
        """Acquire the lock if it is free and nobody waits for it; else wait, until the timeout or a cancellation."""
        try:
            if not self._acquire_if_free():
                if timeout_s <= 0:
                    raise busy_error(timeout_s, self._lock.holder())
                began_s = time.monotonic()
                self._wait(timeout_s, call)
                log(INFO, "waited %.3f s for the write lock", time.monotonic() - began_s)
            self._is_held = True
            self._record_holder("opening" if call is None else call.operation)
        except BaseException:
            self.release()
            raise

    def _acquire_if_free(self) -> bool:
        """Acquire the lock, unless another writer has it or waits for it."""
        lock = self._lock
        if not lock.writing_mutex.acquire_if_free(self._token):
            return False
        queue = self._queue = lock.queue_file()
        acquired = (queue is None or flock_if_free(queue)) and self._flock_if_free()
        if queue is not None:
            unlock(queue)
            self._queue = None
        if not acquired:
            lock.writing_mutex.release(self._token)
        return acquired

    def _flock_if_free(self) -> bool:
        """Lock the lock file that other processes find, if it is free; the caller owns `writing_mutex`."""
        while True:
            file = self._file = self._lock.lock_file()
            if not flock_if_free(file):
                self._file = None
                return False
            if self._lock.is_current(file):
                return True
            self._file = None
            self._lock.close()

    def _wait(self, timeout_s: float, call: CallContext | None) -> None:
        """Wait for the lock; raise at the timeout or if the call is cancelled."""
        deadline = time.monotonic() + timeout_s
        while True:
            waiter = self._make_waiter(deadline)
            if waiter is not None and self._wait_with(waiter, deadline, call):
                return
            self.release()
            if time.monotonic() >= deadline:
                raise busy_error(timeout_s, self._lock.holder())

    def _make_waiter(self, deadline: float) -> Waiter | None:
        """Return a new waiter; None if another hold keeps this process from opening files until the deadline."""
        mutex = self._lock.opening_mutex
        if not mutex.acquire(self._token, deadline - time.monotonic()):
            return None
        waiter = self._waiter = self._lock.new_waiter()
        mutex.release(self._token)
        return waiter

    def _wait_with(self, waiter: Waiter, deadline: float, call: CallContext | None) -> bool:
        """Return True if the lock was acquired, False at the deadline or if the lock file was replaced."""
        is_blocking = waiter.start()
        last_record: bytes | None = None
        tried_at = time.monotonic()
        while (now := time.monotonic()) < deadline:
            if waiter.ready.acquire(True, min(_poll_interval_s(is_blocking, call), deadline - now)):
                if not waiter.failed:
                    return self._use_lock_of(waiter, deadline)
                is_blocking = False
            if call is not None:
                call.check_cancelled()
            if is_blocking and now < tried_at + _TRY_UNUSED_S:
                continue
            acquired, last_record = self._acquire_if_unused_since_last_try(last_record)
            if acquired:
                waiter.leave()
                return True
            tried_at = now
        return False

    def _use_lock_of(self, waiter: Waiter, deadline: float) -> bool:
        """Use the lock that a waiter has acquired; return False if other processes find another lock file by now."""
        if not self._lock.writing_mutex.acquire(self._token, deadline - time.monotonic()):
            return False
        self._file = waiter.lock_file
        if not self._lock.is_current(waiter.lock_file):
            return False
        waiter.leave_queue()
        return True

    def _acquire_if_unused_since_last_try(self, last_record: bytes | None) -> tuple[bool, bytes | None]:
        """Acquire a lock that is free and that nobody had since the last try; else return the record to compare next.

        The first in the queue may be stopped by Ctrl-Z or a debugger.
        """
        lock = self._lock
        if not lock.writing_mutex.acquire_if_free(self._token):
            return False, None
        record = None
        if self._flock_if_free():
            assert self._file is not None
            record = read_record(self._file)
            if record == last_record:
                return True, record
            unlock(self._file)
            self._file = None
        lock.writing_mutex.release(self._token)
        return False, record

    def _record_holder(self, tool: str) -> None:
        # Two microseconds a write. A waiter can name the holder, and can see if anybody had the lock meanwhile.
        assert self._file is not None
        since_ms = int(time.time() * 1000)
        record = f"held {os.getpid()} {since_ms} {tool}".encode()[:_RECORD_BYTES]
        write_record(self._file, record.ljust(_RECORD_BYTES))

    def release(self) -> None:
        """Release everything that this attempt has acquired; idempotent."""
        try:
            if self._is_held and self.before_release is not None:
                self.before_release()
        finally:
            self._release()

    def _release(self) -> None:
        queue, file, waiter = self._queue, self._file, self._waiter
        if queue is not None:
            unlock(queue)
        if file is not None:
            if self._is_held:
                self._is_held = False
                write_record(file, b"free")  # the rest of the record stays, so the next holder's differs from it
            unlock(file)
        if waiter is not None:
            waiter.leave()
        self._lock.writing_mutex.release(self._token)
        self._lock.opening_mutex.release(self._token)
        self._waiter = self._file = self._queue = None

    def block_process_writes(self, timeout_s: float) -> bool:
        """Keep this process from writing until `release`.

        Return False if this thread writes, or if another one still writes at the timeout.
        """
        lock = self._lock
        if lock.writing_mutex.is_owned_by_this_thread():
            return False
        return lock.writing_mutex.acquire(self._token, timeout_s) and lock.opening_mutex.acquire(self._token, timeout_s)


class Waiter:
    """One writer that waits; its files are its own, so they can be locked apart from those of other threads."""

    __slots__ = ("__weakref__", "_is_abandoned", "_is_done", "failed", "lock_file", "queue_file", "ready")

    def __init__(self, lock_file: FileIO, queue_file: FileIO | None) -> None:
        self.lock_file = lock_file
        self.queue_file = queue_file
        self.ready = allocate_lock()
        """Released when the thread is done: it holds the lock by `lock_file`, unless it `failed`."""
        self.ready.acquire()
        self.failed = False
        self._is_abandoned = False
        self._is_done = False

    def start(self) -> bool:
        """Start the thread that blocks; return False if there can be none."""
        try:
            start_new_thread(self._block, ())
        except RuntimeError:
            self._is_done = True
            return False
        return True

    def _block(self) -> None:
        try:
            if self.queue_file is not None:
                fcntl.flock(self.queue_file, fcntl.LOCK_EX)
            if not self._is_abandoned:
                fcntl.flock(self.lock_file, fcntl.LOCK_EX)
        except (OSError, ValueError):
            self.failed = True
        # This thread sets "done" and then reads "abandoned"; `leave` does the reverse. So one of them closes the files.
        self._is_done = True
        if self._is_abandoned:
            self.close()
        self.ready.release()

    def leave_queue(self) -> None:
        """Let the next waiter block on the lock itself."""
        if self.queue_file is not None:
            unlock(self.queue_file)

    def leave(self) -> None:
        """Stop waiting, and release whatever was locked.

        The thread cannot be interrupted in `flock`. It ends when it gets the lock, and releases it at once.
        """
        if not self._is_abandoned:
            self.leave_queue()  # before the thread may close the file
            self._is_abandoned = True
        if self._is_done:
            self.close()

    def close(self) -> None:
        """Unlock and close the files."""
        # Unlocked explicitly: a child that was forked meanwhile has these files open, too.
        unlock(self.lock_file)
        self.leave_queue()
        self.close_files()

    def close_files(self) -> None:
        """Close the files without unlocking: a forked child shares the locks of its parent."""
        self.lock_file.close()
        if self.queue_file is not None:
            self.queue_file.close()


class ThreadMutex:
    """Mutual exclusion between threads that records the owner in the same step; any thread may release it.

    A lock of Python has no owner: after an interrupt right after `acquire` the owner is unknown.
    """

    __slots__ = ("_owner",)

    def __init__(self) -> None:
        self._owner: dict[str, Token] = {}

    def acquire_if_free(self, token: Token) -> bool:
        return self._owner.setdefault("owner", token) is token

    def acquire(self, token: Token, timeout_s: float) -> bool:
        """Become the owner; return False if another is the owner until the timeout."""
        deadline = time.monotonic() + timeout_s
        while not self.acquire_if_free(token):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_SPIN_S)
        return True

    def release(self, token: Token) -> None:
        """Stop being the owner; do nothing if it is another."""
        if self._owner.get("owner") is token:
            self._owner.clear()

    def is_owned_by_this_thread(self) -> bool:
        return self._owner.get("owner", (0,))[0] == get_ident()


def _poll_interval_s(is_blocking: bool, call: CallContext | None) -> float:
    if not is_blocking:
        return _POLL_S
    return _TRY_UNUSED_S if call is None or call.cancelled is None else _CHECK_CANCELLED_S


def flock_if_free(file: FileIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(file: FileIO) -> None:
    """Unlock a file; do nothing if it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_UN)
    except (OSError, ValueError):
        return


def write_record(file: FileIO, record: bytes) -> None:
    try:
        os.pwrite(file.fileno(), record, 0)
    except (OSError, ValueError):
        return  # a full disk, or closed after a fork: only the holder's name and the order of waiters depend on it


def read_record(file: FileIO) -> bytes:
    """Return the record of the present or last holder in the lock file."""
    return os.pread(file.fileno(), _RECORD_BYTES, 0)


def is_alive(pid: int) -> bool:
    """Return True if there is a process with that number."""
    if pid <= 0:
        return False  # these mean groups of processes
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
