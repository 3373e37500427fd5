"""MCP over stdin and stdout: one message a line, until the client hangs up or a signal asks to stop."""

from __future__ import annotations

import os
import select
import signal
from _thread import allocate_lock

from moss_memory.registry.catalog import TOOLSETS

from .line_reader import LineReader
from .message_writer import MessageWriter, is_open, private_stdout, say
from .messages import INVALID_REQUEST, MAX_LINE_BYTES, NO_ID, InvalidMessage, failure, read
from .protocol import Cancellation, Listening, Protocol, StoreRequest, SubscribeRequest
from .scheduler import CallScheduler
from .server_context import ServerContext
from .tool_list import unknown_toolsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from moss_memory.store import Store

    from .scheduler import Reply
    from .subscriptions import SubscriptionManager
    from .tool_list import ToolList

READ_BYTES = 65_536
FINISH_S = 1.4
"""How long calls may go on after the client hung up; a process is gone within two seconds."""

STOP_S = 0.2
FULL_S = 0.05
"""How often a full queue is looked at, until there is room and the client is read again."""
SIGNAL_GONE_S = 1.0
HANG_UP_GONE_S = 1.75


def serve(*, home: str | None = None, toolsets: Sequence[str] | None = None) -> int:
    """Serves the store in `home` to the client on stdin and stdout; returns the exit code when it is over.

    `toolsets` slims the list of tools, as the configuration's setting of that name does. An unknown name
    is fatal: the server says so on stderr and returns 2.
    """
    unknown = unknown_toolsets(toolsets or ())
    if unknown:
        say(f"unknown toolset {', '.join(map(repr, unknown))}; known: {', '.join(TOOLSETS)}")
        return 2
    if not is_open(0) or not is_open(1):
        return 0
    context = ServerContext(home, toolsets)
    code = Server(context.offer, context.store, private_stdout()).run()
    context.close()
    return code


class Server:
    """One connection: reads lines, has them answered, and ends."""

    def __init__(self, offer: Callable[[], ToolList], store: Callable[[], Store], stdout: int) -> None:
        self._protocol = Protocol(offer)
        self._store = store
        self._hearing: SubscriptionManager | None = None
        self._wake, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        self._wake_writer = wake_writer
        self._output = MessageWriter(stdout, stdin=0, on_closed=lambda: os.write(wake_writer, b"."))
        self._calls = CallScheduler(store, self._output.send)
        self._lines = LineReader(MAX_LINE_BYTES)
        self._stopping = False

    def run(self) -> int:
        """Serves until stdin ends, stdout closes or a signal comes, and then for two seconds at most."""
        self._heed_signals()
        self._loop()
        signal.setitimer(signal.ITIMER_REAL, SIGNAL_GONE_S if self._stopping else HANG_UP_GONE_S)
        if not self._over():
            for line in self._lines.end():
                self._line(line)
            self._calls.finish(FINISH_S)
        at_rest = self._calls.stop(STOP_S)
        self._output.release()
        if not at_rest:
            os._exit(0)
        return 0

    def _heed_signals(self) -> None:
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGALRM, _leave)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        signal.setitimer(signal.ITIMER_REAL, SIGNAL_GONE_S)

    def _loop(self) -> None:
        while not self._over():
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
                    if self._over():
                        return
                    self._line(line)
            self._calls.run_due()
            if self._hearing is not None:
                self._hearing.look()

    def _wait_s(self) -> float | None:
        """How long the loop may sleep; none means for ever."""
        if self._hearing is None:
            return self._calls.wait_s()
        waits = [wait_s for wait_s in (self._calls.wait_s(), self._hearing.wait_s()) if wait_s is not None]
        return min(waits) if waits else None

    def _over(self) -> bool:
        return self._stopping or self._output.closed

    def _line(self, line: bytes | None) -> None:
        if line is None:
            message: Any = InvalidMessage(INVALID_REQUEST, f"Invalid request: a line is at most {MAX_LINE_BYTES} bytes")
        elif not line or line.isspace():
            return
        else:
            message = read(line)
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
        outcome = self._protocol.answer(message)
        if outcome is None or isinstance(outcome, bytes):
            reply(outcome)
        elif isinstance(outcome, Cancellation):
            reply(None)
            self._calls.cancel(outcome.key)
            if self._hearing is not None:
                self._hearing.cancel(outcome.key)
        elif isinstance(outcome, StoreRequest):
            reply(self._run_store_request(outcome))
        elif isinstance(outcome, SubscribeRequest):
            reply(self._hears().subscribe(outcome))
        elif isinstance(outcome, Listening):
            reply(self._hears().listen(outcome))
        else:
            self._calls.take(outcome, reply)

    def _run_store_request(self, store_request: StoreRequest) -> bytes:
        from .handlers import handle  # most sessions ask for tools alone

        answer = handle(store_request, self._store)
        if store_request.request.method == "resources/list" and not store_request.request.stateless:
            self._hears().subscribe_list(store_request.offer)
        return answer

    def _hears(self) -> SubscriptionManager:
        if self._hearing is None:
            from .subscriptions import SubscriptionManager

            self._hearing = SubscriptionManager(self._store, self._output.send)
        return self._hearing

    def _reply(self, answer: bytes | None) -> None:
        if answer is not None:
            self._output.send(answer)


class Batch:
    """The answers to one array of messages, sent together when the last is there."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._lock = allocate_lock()
        self._answers: list[bytes] = []
        self._missing = 1

    def expect(self) -> Reply:
        """Makes room for one more answer and returns how to give it."""
        with self._lock:
            self._missing += 1
        return self._add

    def seal(self) -> None:
        """Says that no further answer will be expected."""
        self._add(None)

    def _add(self, answer: bytes | None) -> None:
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._missing -= 1
            complete = self._missing == 0
        if complete and self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")


def read_some(fd: int) -> bytes | None:
    """What stdin has: nothing when it is at its end or was never open, none when it is not there yet."""
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _leave(*_: object) -> None:
    os._exit(0)
