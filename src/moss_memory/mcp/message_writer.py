"""Where messages go, and the guard that nothing else goes there."""

from __future__ import annotations

import os
import select
import stat
import sys
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

UNHEARD_S = 1.4
"""How long an answer is offered to a client that has hung up and does not read."""


class MessageWriter:
    """Writes messages, one a line, never mixed; a client that stopped listening is noticed quietly."""

    def __init__(self, fd: int, *, stdin: int, on_closed: Callable[[], object]) -> None:
        self._fd = fd
        self._stdin = stdin
        self._on_closed = on_closed
        self._lock = allocate_lock()
        self.closed = False
        mode = os.fstat(fd).st_mode
        # A write that blocks would not see the client hang up.
        self._waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        if self._waits:
            os.set_blocking(fd, False)

    def send(self, message: bytes) -> None:
        """Writes one message, whole, unless nobody listens any more."""
        rest = memoryview(message + b"\n")
        with self._lock:
            while rest and not self.closed:
                try:
                    rest = rest[os.write(self._fd, rest) :]
                except BlockingIOError:
                    if not self._writable():
                        self._close()
                except OSError:
                    self._close()

    def release(self) -> None:
        """Leaves stdout as it was found, for whoever shares it."""
        if self._waits:
            os.set_blocking(self._fd, True)

    def _close(self) -> None:
        self.closed = True
        self._on_closed()

    def _writable(self) -> bool:
        """Waits until the client reads; false when it hung up and still does not."""
        poll = select.poll()
        poll.register(self._fd, select.POLLOUT)
        poll.register(self._stdin, 0)
        if self._fd in dict(poll.poll()):
            return True
        poll.unregister(self._stdin)
        return bool(poll.poll(UNHEARD_S * 1000))


def private_stdout() -> int:
    """A descriptor of stdout that only messages use; what anything else prints there goes to stderr."""
    fd = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
    return fd


def is_open(fd: int) -> bool:
    """Whether the process was started with this descriptor."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def say(text: str) -> None:
    """Tells the person who runs the server, if anybody reads stderr."""
    try:
        sys.stderr.write(f"moss: {text}\n".encode("ascii", "backslashreplace").decode())
        sys.stderr.flush()
    except (OSError, AttributeError):
        # The client closed stderr, or started the server without one.
        return
