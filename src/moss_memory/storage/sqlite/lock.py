"""The write lock: one writer at a time, among the threads of this process and among all processes, in order."""

from __future__ import annotations

import fcntl
import os
import time
from _thread import allocate_lock, get_ident

from ..folders import make_private_folder
from .failures import busy_error
from .line import Line, open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..engine import Call
    from .line import Place

LOCK = "moss.lock"
LINE = "moss.queue"
NOBODY, FORKING = 0, -1
_ASK_EVERY_S = 0.02
_LOOK_EVERY_S = 0.25
_POLL_EVERY_S = 0.005
_NOTE_BYTES = 96


class WriteLock:
    """An `flock` on a file that every process finds beside the database, and a line of those who wait for it.

    SQLite's own busy handler is not enough: with it alone, 37 of 16,000 writes from 16 processes failed. The `flock`
    is what keeps writers apart, those of older versions, too; the line only says whose turn it is.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._path = os.path.join(home, LOCK)
        self._line = Line(os.path.join(home, LINE))
        self._threads = allocate_lock()
        """This process's right to write: of the thread that holds the lock, or that keeps others from writing."""
        self._fd = -1
        """The lock file of those who need not wait; each of those who wait has it open for itself."""
        self._held = -1
        self._owner = NOBODY
        self._places: list[Place] = []
        self._opening = allocate_lock()

    def acquire(self, patience_s: float, call: Call | None = None) -> None:
        """Goes in where nobody holds the lock and nobody waits for it; else waits in line, until the deadline."""
        if not self._enter():
            if patience_s <= 0:
                raise busy_error(patience_s, self.holder())
            self._wait(patience_s, call)
        self._owner = get_ident()
        self._write_note("opening" if call is None else call.operation)

    def release(self) -> None:
        """Lets the next writer in."""
        self._owner = NOBODY
        fd, self._held = self._held, -1
        _write(fd, b"free")
        fcntl.flock(fd, fcntl.LOCK_UN)
        if fd != self._fd:
            os.close(fd)
        self._threads.release()

    def holder(self) -> dict[str, Any] | None:
        """Who holds the lock, since when and for what; none when nobody does, or one who does not say."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            state, pid, since_ms, tool = _read(fd).decode().split()
            holder = {"pid": int(pid), "since_ms": int(since_ms), "tool": tool}
            return holder if state == "held" and is_alive(int(pid)) else None
        except (ValueError, OSError):
            return None
        finally:
            os.close(fd)

    def _write_note(self, tool: str) -> None:
        # Two microseconds a write; who waits can say whom for, and can tell a lock that is free from one that
        # somebody had in between.
        since_ms = time.time_ns() // 1_000_000
        _write(self._held, f"held {os.getpid()} {since_ms} {tool}".encode()[:_NOTE_BYTES].ljust(_NOTE_BYTES))

    def _enter(self) -> bool:
        """Takes what is free and nobody waits for."""
        if not self._threads.acquire(False):
            return False
        try:
            if self._line.is_empty() and self._take():
                return True
        except BaseException:
            self._threads.release()
            raise
        self._threads.release()
        return False

    def _take(self) -> bool:
        """Whether the lock of all processes was free and is now held."""
        if self._fd < 0:
            self._fd = self._open()
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if self._is_the_lock(self._fd):
            self._held = self._fd
            return True
        os.close(self._fd)
        self._fd = -1
        return self._take()

    def _wait(self, patience_s: float, call: Call | None) -> None:
        """Waits in line until the lock is this thread's; raises at the deadline, or when the caller has given up."""
        deadline = time.monotonic() + patience_s
        while True:
            place = self._join()
            try:
                if self._wait_at(place, deadline, call):
                    return
            finally:
                place.leave()
            if time.monotonic() >= deadline:
                raise busy_error(patience_s, self.holder())

    def _join(self) -> Place:
        with self._opening:
            self._places = [place for place in self._places if place.is_open]
            place = self._line.join(self._open())
            self._places.append(place)
        return place

    def _wait_at(self, place: Place, deadline: float, call: Call | None) -> bool:
        """Whether the lock was got from this place; if not it is too late, or another place is to be taken."""
        is_kept = place.keep()
        seen: bytes | None = None
        looked_at = time.monotonic()
        while (now := time.monotonic()) < deadline:
            if place.ready.acquire(True, min(_pause_s(is_kept, call), deadline - now)):
                if not place.failed:
                    return self._go_in(place)
                is_kept = False
            if call is not None:
                call.check_cancelled()
            if is_kept and now < looked_at + _LOOK_EVERY_S:
                continue
            if place.was_passed():
                return False
            free, seen = self._look(seen)
            if free:
                self._line.call_in(place)
                return True
            looked_at = now
        return False

    def _look(self, seen: bytes | None) -> tuple[bool, bytes | None]:
        """Takes a lock that is free and that nobody had since the last look; else gives what to look for next time.

        Whose turn it is may have been stopped while it waits, by Ctrl-Z or a debugger.
        """
        if not self._threads.acquire(False):
            return False, None
        note = None
        try:
            if self._take():
                note = _read(self._held)
                if note == seen:
                    return True, note
                fcntl.flock(self._held, fcntl.LOCK_UN)
                self._held = -1
        except BaseException:
            self._threads.release()
            raise
        self._threads.release()
        return False, note

    def _go_in(self, place: Place) -> bool:
        """Takes over the lock that a place has got; false when it is not the lock any more that others find."""
        self._threads.acquire()
        try:
            if self._is_the_lock(place.room):
                self._held = self._line.go_in(place)
                return True
        except BaseException:
            self._threads.release()
            raise
        self._threads.release()
        return False

    def _is_the_lock(self, fd: int) -> bool:
        """Whether the descriptor is still the lock file that other processes find."""
        status = os.fstat(fd)
        try:
            found = os.stat(self._path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino)

    def _open(self) -> int:
        make_private_folder(self._home)
        return open_private(self._path)

    def pause(self, patience_s: float) -> bool:
        """Keeps the other threads of this process from writing, unless this very thread is; false when one goes on."""
        if self._owner == get_ident() or not self._threads.acquire(True, patience_s):
            return False
        self._opening.acquire()
        self._owner = FORKING
        return True

    def resume(self) -> None:
        """Ends a pause; nothing happens where there was none."""
        if self._owner == FORKING:
            self._owner = NOBODY
            self._opening.release()
            self._threads.release()

    def close(self) -> None:
        """Lets go of the files, in a pause; they are opened again when they are needed."""
        self._line.close()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def forget(self) -> None:
        """Closes everything, in a forked child: else a killed parent's lock would live on in it."""
        if self._held not in (-1, self._fd):
            os.close(self._held)
        for place in self._places:
            place.forget()
        self.close()


def _pause_s(is_kept: bool, call: Call | None) -> float:
    """How long to wait before looking around."""
    if not is_kept:
        return _POLL_EVERY_S
    return _LOOK_EVERY_S if call is None or call.cancelled is None else _ASK_EVERY_S


def _write(fd: int, note: bytes) -> None:
    try:
        os.pwrite(fd, note, 0)
    except OSError:
        return  # a full disk; nothing depends on it


def _read(fd: int) -> bytes:
    """The note of who has the lock or had it last, without the word that says which."""
    return os.pread(fd, _NOTE_BYTES, 0)


def is_alive(pid: int) -> bool:
    """Whether there is a process of that number."""
    if pid <= 0:
        return False  # these mean groups of processes
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
