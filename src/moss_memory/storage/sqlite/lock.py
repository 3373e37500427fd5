"""The write lock: one writer at a time, among the threads of this process and among all processes."""

from __future__ import annotations

import fcntl
import os
import time
from _thread import allocate_lock, get_ident

from ..folders import make_private_folder
from .failures import busy_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine import Call

LOCK = "moss.lock"
NOBODY, FORKING = 0, -1
_ASK_EVERY_S = 0.02
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class WriteLock:
    """A lock of this process, and within it an `flock` on a file that every process finds beside the database.

    SQLite's own busy handler is not enough: with it alone, 37 of 16,000 writes from 16 processes failed.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._path = os.path.join(home, LOCK)
        self._threads = allocate_lock()
        self._fd = -1
        self._owner = NOBODY

    def acquire(self, patience_s: float, call: Call | None = None) -> None:
        """Takes the lock of this process, then that of all processes, or gives up at the deadline."""
        deadline = time.monotonic() + patience_s
        if not self._threads.acquire(False):
            self._wait_for_threads(patience_s, deadline, call)
        try:
            if self._fd < 0:
                self._fd = self._open()
            pause_s = 0.0005
            while not self._take():
                if time.monotonic() >= deadline:
                    raise busy_error(patience_s)
                if call is not None:
                    call.check_cancelled()
                time.sleep(pause_s)
                pause_s = min(pause_s * 1.5, 0.005)
        except BaseException:
            self._threads.release()
            raise
        self._owner = get_ident()

    def release(self) -> None:
        """Lets the next writer in."""
        self._owner = NOBODY
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._threads.release()

    def _wait_for_threads(self, patience_s: float, deadline: float, call: Call | None) -> None:
        """Waits for another thread's write, and asks in between whether the caller still wants to."""
        while True:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise busy_error(patience_s)
            if self._threads.acquire(True, min(left_s, _ASK_EVERY_S)):
                return
            if call is not None:
                call.check_cancelled()

    def _take(self) -> bool:
        """Whether the lock of all processes was free and is now held."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return self._is_the_lock() or self._take()

    def _is_the_lock(self) -> bool:
        """Whether the descriptor is still the lock file that other processes find; if not, that one is opened."""
        status = os.fstat(self._fd)
        try:
            found = os.stat(self._path)
        except OSError:
            found = None
        if found is not None and (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino):
            return True
        os.close(self._fd)
        self._fd = -1
        self._fd = self._open()
        return False

    def _open(self) -> int:
        """Opens the lock file as it is; one that is not there is made, private whatever the umask."""
        make_private_folder(self._home)
        while True:
            try:
                return os.open(self._path, _FLAGS)
            except FileNotFoundError:
                pass
            try:
                fd = os.open(self._path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue  # another process was quicker
            os.fchmod(fd, 0o600)
            return fd

    def pause(self, patience_s: float) -> bool:
        """Keeps the other threads of this process from writing, unless this very thread is; false when one goes on."""
        if self._owner == get_ident() or not self._threads.acquire(True, patience_s):
            return False
        self._owner = FORKING
        return True

    def resume(self) -> None:
        """Ends a pause; nothing happens where there was none."""
        if self._owner == FORKING:
            self._owner = NOBODY
            self._threads.release()

    def close(self) -> None:
        """Lets go of the file. In a forked child: else a killed parent's lock would live on in it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
