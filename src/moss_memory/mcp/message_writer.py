"""The writer of messages to stdout, which keeps all other output away from stdout."""

from __future__ import annotations

import os
import select
import stat
import sys
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CLOSED_STDIN_TIMEOUT_S = 1.4
"""Seconds to wait for a client that closed stdin and does not read."""


class MessageWriter:
    """Writer of one message per line, under a lock; a closed stdout is not an error."""

    def __init__(self, fd: int, *, stdin: int, on_closed: Callable[[], object]) -> None:
        self._fd = fd
        self._stdin = stdin
        self._on_closed = on_closed
        self._lock = allocate_lock()
        self.closed = False
        mode = os.fstat(fd).st_mode
        # A write that blocks would not see the client hang up.
        self._is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        if self._is_pipe:
            os.set_blocking(fd, False)

    def send(self, message: bytes) -> None:
        """Write one message completely, unless stdout is closed."""
        rest = memoryview(message + b"\n")
        with self._lock:
            while rest and not self.closed:
                try:
                    rest = rest[os.write(self._fd, rest) :]
                except BlockingIOError:
                    if not self._wait_writable():
                        self._close()
                except OSError:
                    self._close()

    def release(self) -> None:
        """Restore the blocking mode of stdout for other processes that share it."""
        if self._is_pipe:
            os.set_blocking(self._fd, True)

    def _close(self) -> None:
        self.closed = True
        self._on_closed()

    def _wait_writable(self) -> bool:
        """Wait until the client reads; return False if it closed stdin and does not read."""
        poll = select.poll()
        poll.register(self._fd, select.POLLOUT)
        poll.register(self._stdin, 0)
        if self._fd in dict(poll.poll()):
            return True
        poll.unregister(self._stdin)
        return bool(poll.poll(CLOSED_STDIN_TIMEOUT_S * 1000))


def private_stdout() -> int:
    """Return a duplicate of stdout for messages and redirect all other output to stderr."""
    fd = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
    return fd


def is_open(fd: int) -> bool:
    """Return True if the descriptor is open."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


class LogStyle:
    """The format of the log: lines of text, or one JSON object on each line."""

    is_json = False


def say(text: str) -> None:
    """Write a line for the operator to stderr, if stderr is open."""
    if LogStyle.is_json:
        write_json_line("warning", {"message": text})
    else:
        _write_stderr(f"moss: {text}\n")


def write_json_line(level: str, fields: dict[str, object]) -> None:
    """Write a JSON object with the time, the level and these fields to stderr."""
    import json

    from moss_memory.rows.times import format_time, wall_clock_ms

    _write_stderr(json.dumps({"time": format_time(wall_clock_ms()), "level": level, **fields}) + "\n")


def _write_stderr(text: str) -> None:
    try:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode())
        sys.stderr.flush()
    except (OSError, AttributeError):
        # The client closed stderr, or started the server without one.
        return
