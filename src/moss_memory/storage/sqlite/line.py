"""The line of those who wait for the write lock: first come, first served, among threads and among processes.

Whoever waits draws a number and locks the byte of that number in a file beside the lock; whoever dies or leaves
loses it, by the kernel's hand. So the line holds no state that a kill could leave behind: those before me are those
whose bytes are locked. The numbers are written down only to be drawn.

A kernel lock that may be waited for cannot be waited for with a deadline unless by signals, which are not a
library's to use. So each place in the line is kept by a thread, and whoever waits waits for that thread.

Measured beside the polling that there was before, with eight processes on two cores that did nothing but store
capsules on a file system in memory; rough figures of prototypes on a busy machine, of which only the order is sure:

                                                      writes/s   hand-over   longest wait   overtaken by up to
  all poll, luck decides                                 1,310       18 µs         866 ms                1,755
  numbers; each sleeps by its distance to the lock         851       95 µs          50 ms                    -
  numbers; the next is woken by a datagram                 770      150 µs          56 ms                    -
  numbers; each waits in the kernel for the one before   1,098      181 µs          46 ms                    5
  no numbers; all wait in the kernel, for two locks      1,310       46 µs          46 ms                   72

Who sends a datagram is expected to sleep soon, so a tenth of those that it woke came milliseconds late. The last but
one was chosen: order costs a hand-over, and a cache of pages to which others have written meanwhile. The last
one, a door and a room, serves where there are no numbers.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import time
from _thread import allocate_lock, start_new_thread

_NUMBER = struct.Struct("=q")
_DRAWING, _SEATS = 0, 1 << 10
"""The byte that is locked while a number is drawn, and the one after which those of the numbers come."""
_MOST = 1 << 60
_DRAW_TRIES, _DRAW_PAUSE_S = 200, 0.0001
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW

# Locks that belong to an open file, not to a process: POSIX's own are lost when a process closes any descriptor of
# the file. The layout of the structure is Linux's; elsewhere there are no numbers but the door and the room.
NUMBERED = sys.platform == "linux" and hasattr(fcntl, "F_OFD_SETLK")
_FLOCK = struct.Struct("hhqqi4x")


class Line:
    """The line at one lock; its file may be removed or replaced at any time, which costs order and nothing else.

    Only the thread that has this process's right to write uses it, but for `join`, which any may.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._called = 0

    def is_empty(self) -> bool:
        """Whether nobody waits, so that who comes may go in at once."""
        try:
            if self._fd < 0:
                self._fd = open_private(self._path)
            if NUMBERED:
                return not _is_locked(self._fd, _SEATS + self._called + 1, 0)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        except BlockingIOError:
            return False
        except OSError:
            pass  # there can be no line here
        return True

    def join(self, room: int) -> Place:
        """A place at the end of the line; it owns the descriptor of the lock from now on."""
        fd, number = -1, 0
        try:
            fd = open_private(self._path)
            number = _draw(fd) if NUMBERED else 0
        except OSError:
            number = 0  # there can be no line here, or none with numbers
        return Place(fd, number, room)

    def call_in(self, place: Place) -> None:
        """Writes down that a place has its turn, so that nobody waits for it again; its owner has the lock."""
        if not place.number:
            return
        self._called = place.number
        _write_head(place.fd, place.number, _NUMBER.size)

    def go_in(self, place: Place) -> int:
        """Ends a wait that is over; the descriptor by which the lock is held. The file is the one to look at now."""
        self.call_in(place)
        self._close()
        self._fd, room = place.give_up()
        return room

    def close(self) -> None:
        """Lets go of the file."""
        self._close()
        self._called = 0

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


class Place:
    """One who waits: a number in the line, and a thread that waits for those before and then for the lock itself."""

    __slots__ = ("_guard", "_is_over", "_left", "failed", "fd", "number", "ready", "room")

    def __init__(self, fd: int, number: int, room: int) -> None:
        self.fd = fd
        self.number = number
        self.room = room
        self.ready = allocate_lock()
        """Released when the wait is over: the lock is held by `room`, unless it `failed`."""
        self.ready.acquire()
        self.failed = False
        self._guard = allocate_lock()
        self._left = False
        self._is_over = False

    @property
    def is_open(self) -> bool:
        """Whether it still has descriptors."""
        return self.fd >= 0 or self.room >= 0

    def keep(self) -> bool:
        """Begins to wait, in a thread; false where none can be started."""
        try:
            start_new_thread(self._wait, ())
        except RuntimeError:
            self._is_over = True
            return False
        return True

    def _wait(self) -> None:
        try:
            if not self.number and self.fd >= 0:
                fcntl.flock(self.fd, fcntl.LOCK_EX)  # the door: one stands in it, the others behind
            while before := self._nearest_before():
                _lock(self.fd, fcntl.F_RDLCK, _SEATS + before, wait=True)
                _lock(self.fd, fcntl.F_UNLCK, _SEATS + before)
            fcntl.flock(self.room, fcntl.LOCK_EX)
        except OSError:
            self.failed = True
        with self._guard:
            self._is_over = True
            if self._left:
                self._close()
        self.ready.release()

    def _nearest_before(self) -> int:
        """The last of those who came before and still wait; 0 when there is none."""
        if not self.number:
            return 0
        called = _read_head(self.fd)[1]
        if self.number <= called + 1 or not _is_locked(self.fd, _SEATS + called + 1, self.number - called - 1):
            return 0
        numbers = range(self.number - 1, called, -1)
        return next((number for number in numbers if _is_locked(self.fd, _SEATS + number, 1)), 0)

    def was_passed(self) -> bool:
        """Whether one who came later was called in, because somebody before did not come when it was free."""
        return self.number > 0 and _read_head(self.fd)[1] >= self.number

    def give_up(self) -> tuple[int, int]:
        """Ends a wait that is over: the descriptors of line and lock are the caller's, the number is nobody's."""
        self._step_out()
        given = self.fd, self.room
        self.fd = self.room = -1
        return given

    def _step_out(self) -> None:
        """Lets those behind come forward."""
        if self.number:
            _lock(self.fd, fcntl.F_UNLCK, _SEATS + self.number)
        elif self.fd >= 0:
            fcntl.flock(self.fd, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Ends the wait, over or not: nobody waits for this place any more, and what it got it gives back.

        Its thread cannot be called back from the kernel. It ends when those it waits for are gone.
        """
        with self._guard:
            if self._is_over:
                self._close()
            else:
                self._left = True
                self._step_out()

    def _close(self) -> None:
        # Unlocked in so many words: a child that was forked meanwhile has these files open, too.
        if self.room >= 0:
            fcntl.flock(self.room, fcntl.LOCK_UN)
        if self.fd >= 0:
            self._step_out()
        self.forget()

    def forget(self) -> None:
        """Closes the files, and unlocks nothing that another process may hold by the same files."""
        for fd in (self.fd, self.room):
            if fd >= 0:
                os.close(fd)
        self.fd = self.room = -1


def _draw(fd: int) -> int:
    """The next number, its byte locked; 0 when somebody else has been drawing for too long."""
    for _ in range(_DRAW_TRIES):
        if _lock(fd, fcntl.F_WRLCK, _DRAWING):
            break
        time.sleep(_DRAW_PAUSE_S)
    else:
        return 0
    number = max(_read_head(fd)) + 1
    while not _lock(fd, fcntl.F_WRLCK, _SEATS + number):
        number += 1  # somebody waits by a number that was not written down, or in a file that was written anew
    _write_head(fd, number, 0)
    _lock(fd, fcntl.F_UNLCK, _DRAWING)
    return number


def _write_head(fd: int, number: int, at: int) -> None:
    try:
        os.pwrite(fd, _NUMBER.pack(number), at)
    except OSError:
        return  # a full disk; the bytes that are locked still tell


def _read_head(fd: int) -> tuple[int, int]:
    """The last number that was drawn, and the last that was called in; zeros where something else stands there."""
    head = os.pread(fd, 2 * _NUMBER.size, 0).ljust(2 * _NUMBER.size, b"\0")
    drawn, called = _NUMBER.unpack_from(head)[0], _NUMBER.unpack_from(head, _NUMBER.size)[0]
    return (drawn, called) if 0 <= called <= _MOST and 0 <= drawn <= _MOST else (0, 0)


def _lock(fd: int, kind: int, byte: int, *, wait: bool = False) -> bool:
    """Locks or unlocks one byte; false when another has it."""
    command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
    try:
        fcntl.fcntl(fd, command, _FLOCK.pack(kind, os.SEEK_SET, byte, 1, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is_locked(fd: int, first: int, count: int) -> bool:
    """Whether somebody has one of so many bytes, or of all from the first one on."""
    asked = _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, first, count, 0)
    return int(fcntl.fcntl(fd, fcntl.F_OFD_GETLK, asked)[0]) != fcntl.F_UNLCK


def open_private(path: str) -> int:
    """Opens a file as it is; one that is not there is made, private whatever the umask."""
    while True:
        try:
            return os.open(path, _FLAGS)
        except FileNotFoundError:
            pass
        try:
            fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue  # another process was quicker
        os.fchmod(fd, 0o600)
        return fd
