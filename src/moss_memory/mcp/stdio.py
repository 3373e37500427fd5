"""MCP over stdin and stdout: one message per line, until stdin ends or a signal arrives."""

from __future__ import annotations

import os
import select
import signal
import stat
from _thread import allocate_lock

from moss_memory.log import write_notice
from moss_memory.registry.catalog import TOOLSETS

from .line_reader import LineReader
from .messages import INVALID_REQUEST, MAX_LINE_BYTES, NO_ID, InvalidMessage, failure, parse_line
from .protocol import Cancellation, ListenRequest, Protocol, StoreRequest, SubscribeRequest
from .scheduler import CallScheduler
from .server_context import ServerContext
from .tool_list import unknown_toolsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from moss_memory.store import Store

    from .repository_context import SessionSummary
    from .scheduler import Reply
    from .subscriptions import SubscriptionManager
    from .tool_list import ToolList

READ_BYTES = 65_536
FINISH_S = 1.4
"""Time for running calls after stdin ended; the process exits within two seconds."""

STOP_S = 0.2
FULL_S = 0.05
"""Poll interval of a full queue, during which stdin is not read."""
EXIT_AFTER_SIGNAL_S = 1.0
EXIT_AFTER_EOF_S = 1.75
CLOSED_STDIN_TIMEOUT_S = 1.4
"""Seconds to wait for a client that closed stdin and does not read."""


def serve(
    *,
    home: str | None = None,
    toolsets: Sequence[str] | None = None,
    repository: Callable[[], str] = lambda: "",
) -> int:
    """Serve the store in `home` to the client on stdin and stdout and return the exit code.

    `toolsets` shortens the tool list, like the setting of that name. An unknown name is fatal: an error on stderr and
    exit code 2. `repository` returns the name of the repository that the client works in, or an empty text.
    """
    unknown = unknown_toolsets(toolsets or ())
    if unknown:
        write_notice(f"unknown toolset {', '.join(map(repr, unknown))}; known: {', '.join(TOOLSETS)}")
        return 2
    if not is_open(0) or not is_open(1):
        return 0
    context = ServerContext(home, toolsets)
    session_summary = lambda: context.session_summary(repository())  # noqa: E731
    code = StdioConnection(context.tools, context.store, private_stdout(), session_summary).run()
    context.close()
    return code


class StdioConnection:
    """The connection to one client: reads lines and dispatches them."""

    def __init__(
        self,
        tools: Callable[[], ToolList],
        store: Callable[[], Store],
        stdout: int,
        session_summary: Callable[[], SessionSummary | None] | None = None,
    ) -> None:
        self._protocol = Protocol(tools, session_summary)
        self._store = store
        self._subscriptions: SubscriptionManager | None = None
        self._wake, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        self._wake_writer = wake_writer
        self._output = MessageWriter(stdout, stdin=0, on_closed=lambda: os.write(wake_writer, b"."))
        self._calls = CallScheduler(store, self._output.send)
        self._lines = LineReader(MAX_LINE_BYTES)
        self._stopping = False

    def run(self) -> int:
        """Serve until stdin ends, stdout closes or a signal arrives, then for at most two seconds more."""
        self._install_signal_handlers()
        self._loop()
        signal.setitimer(signal.ITIMER_REAL, EXIT_AFTER_SIGNAL_S if self._stopping else EXIT_AFTER_EOF_S)
        if not self._is_over():
            for line in self._lines.end():
                self._handle_line(line)
            self._calls.finish(FINISH_S)
        stopped = self._calls.stop(STOP_S)
        self._output.release()
        if not stopped:
            os._exit(0)
        return 0

    def _install_signal_handlers(self) -> None:
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGALRM, _exit)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        signal.setitimer(signal.ITIMER_REAL, EXIT_AFTER_SIGNAL_S)

    def _loop(self) -> None:
        while not self._is_over():
            full = self._calls.is_full()
            watched = (self._wake,) if full else (0, self._wake)
            wait_s = self._wait_s()
            if full:
                wait_s = FULL_S if wait_s is None else min(FULL_S, wait_s)
            ready = select.select(watched, (), (), wait_s)[0]
            if self._wake in ready:
                os.read(self._wake, 512)
            elif 0 in ready:
                chunk = read_some(0)
                if chunk == b"":
                    return
                for line in self._lines.feed(chunk or b""):
                    if self._is_over():
                        return
                    self._handle_line(line)
            self._calls.run_due()
            if self._subscriptions is not None:
                self._subscriptions.poll()

    def _wait_s(self) -> float | None:
        """Return the timeout of the loop's select; None means no timeout."""
        if self._subscriptions is None:
            return self._calls.wait_s()
        waits = [wait_s for wait_s in (self._calls.wait_s(), self._subscriptions.wait_s()) if wait_s is not None]
        return min(waits) if waits else None

    def _is_over(self) -> bool:
        return self._stopping or self._output.closed

    def _handle_line(self, line: bytes | None) -> None:
        if line is None:
            message: Any = InvalidMessage(INVALID_REQUEST, f"Invalid request: a line is at most {MAX_LINE_BYTES} bytes")
        elif not line or line.isspace():
            return
        else:
            message = parse_line(line)
        if not isinstance(message, list):
            self._handle(message, self._reply)
        elif message:
            batch = Batch(self._output.send)
            for part in message:
                self._handle(part, batch.expect())
            batch.seal()
        else:
            self._output.send(failure(NO_ID, INVALID_REQUEST, "Invalid request: the batch is empty"))

    def _handle(self, message: Any, reply: Reply) -> None:
        self._protocol.note_client(message)
        outcome = self._protocol.answer(message)
        if outcome is None or isinstance(outcome, bytes):
            reply(outcome)
        elif isinstance(outcome, Cancellation):
            reply(None)
            self._calls.cancel(outcome.key)
            if self._subscriptions is not None:
                self._subscriptions.cancel(outcome.key)
        elif isinstance(outcome, StoreRequest):
            reply(self._run_store_request(outcome))
        elif isinstance(outcome, SubscribeRequest):
            reply(self._get_subscriptions().subscribe(outcome))
        elif isinstance(outcome, ListenRequest):
            reply(self._get_subscriptions().listen(outcome))
        else:
            self._calls.submit(outcome, reply)

    def _run_store_request(self, store_request: StoreRequest) -> bytes:
        from .handlers import handle  # most sessions use only tools

        answer = handle(store_request, self._store)
        if store_request.request.method == "resources/list" and not store_request.request.stateless:
            self._get_subscriptions().subscribe_list(store_request.tools)
        return answer

    def _get_subscriptions(self) -> SubscriptionManager:
        if self._subscriptions is None:
            from .subscriptions import SubscriptionManager

            self._subscriptions = SubscriptionManager(self._store, self._output.send)
        return self._subscriptions

    def _reply(self, answer: bytes | None) -> None:
        if answer is not None:
            self._output.send(answer)


class Batch:
    """The responses to one array of messages, sent together once complete."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._lock = allocate_lock()
        self._answers: list[bytes] = []
        self._missing = 1

    def expect(self) -> Reply:
        """Count one more response and return its callback."""
        with self._lock:
            self._missing += 1
        return self._add

    def seal(self) -> None:
        """Declare that no further response is expected."""
        self._add(None)

    def _add(self, answer: bytes | None) -> None:
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._missing -= 1
            complete = self._missing == 0
        if complete and self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")


class MessageWriter:
    """Writer of one message per line, under a lock; a closed stdout is not an error."""

    def __init__(self, fd: int, *, stdin: int, on_closed: Callable[[], object]) -> None:
        self._fd = fd
        self._stdin = stdin
        self._on_closed = on_closed
        self._lock = allocate_lock()
        self.closed = False
        mode = os.fstat(fd).st_mode
        # A blocked write would not notice that the client disconnected.
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
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def read_some(fd: int) -> bytes | None:
    """Return available input; empty at the end of stdin or if it is closed, None if there is none yet."""
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _exit(*_: object) -> None:
    os._exit(0)
