"""The scheduler of tool calls: fast calls run at once, slow ones on one worker thread in the order of arrival."""

from __future__ import annotations

import time
from collections import deque

from moss_memory.errors import MossError, descriptor_limit_error, is_busy

from .background_index import BackgroundIndexer
from .protocol import progress, tool_answer, tool_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Condition

    from moss_memory.store import Store

    from .protocol import ToolCall

    Reply = Callable[[bytes | None], None]

OVERTAKE_AFTER_S = 0.3
"""A fast call queued behind slow ones runs after 0.3 s: reads may pass any call, writes only searches. Until then it
waits, so that a script reads its own writes."""

RETRY_S = 0.05

PROGRESS_EVERY_S = 0.1

MAX_QUEUED = 64
"""Maximum length of the queue; further calls stay in the client's pipe."""


class Job:
    """A call that is queued or running on the worker."""

    __slots__ = ("call", "deadline_s", "is_search", "reply")

    def __init__(self, call: ToolCall, reply: Reply, *, wait: bool) -> None:
        self.call = call
        self.reply = reply
        self.is_search = is_vector_search(call) or call.operation.slow_when_large
        self.deadline_s = None if wait else time.monotonic() + OVERTAKE_AFTER_S


class CallScheduler:
    """The calls of one connection; every method except the worker's runs on the loop's thread."""

    def __init__(self, store: Callable[[], Store], send: Callable[[bytes], None]) -> None:
        self._open_store = store
        self._opened: Store | None = None
        self._send = send
        self._queue: deque[Job] = deque()
        self._running: Job | None = None
        self._stopping = False
        self._changed: Condition | None = None
        self._indexing = BackgroundIndexer(store)

    def submit(self, call: ToolCall, reply: Reply) -> None:
        """Run or queue a call; `reply` gets None if the client cancels it."""
        if self._indexing.is_running:
            self._indexing.note_call()
        try:
            answer = self._run_or_queue(call, reply)
        except Exception as error:
            answer = tool_failure(call, error)
        if answer is not None:
            reply(answer)

    def _run_or_queue(self, call: ToolCall, reply: Reply) -> bytes | None:
        """Return the response to a fast call; None if the call was queued."""
        try:
            operation = call.operation
            long = operation.is_slow(call.arguments) or (operation.slow_when_large and self._store().is_large())
            if not long and not self._is_busy():
                return self._run_now(call)
        except Exception as error:
            if not is_busy(error):
                raise
            long = False
        self._enqueue(Job(call, reply, wait=long))
        return None

    def _run_now(self, call: ToolCall) -> bytes:
        """Return the response to a fast call; raise if it would block on other writers."""
        result = (self._opened or self._store()).call(
            call.operation,
            call.arguments,
            wait=False,
            workspace=call.tools.workspace,
            idempotency_key=call.idempotency_key,
            is_listed=call.tools.is_listed,
            as_sent=call.as_sent,
            actor=call.actor,
            code=call.code,
        )
        return tool_answer(call, result)

    def _store(self) -> Store:
        if self._opened is None:
            self._opened = self._open_store()
        return self._opened

    def is_full(self) -> bool:
        """Return True if the queue is full and no more input should be read."""
        return len(self._queue) >= MAX_QUEUED

    def cancel(self, key: object) -> None:
        """Drop the queued calls with this id and cancel the running one; none of them is answered."""
        if self._changed is None:
            return
        with self._changed:
            dropped = [job for job in self._queue if job.call.key == key]
            for job in dropped:
                self._queue.remove(job)
            if self._running is not None and self._running.call.key == key:
                self._running.call.cancelled = True
        for job in dropped:
            job.reply(None)

    def wait_s(self) -> float | None:
        """Return the seconds until a queued call is due; None if none is."""
        if not self._queue:
            return None
        for at_s, _ in self._deadlines():
            return max(0.0, at_s - time.monotonic())
        return None

    def run_due(self) -> None:
        if self._changed is None or not self._queue:
            return
        now = time.monotonic()
        for at_s, job in self._deadlines():
            if at_s <= now and self._unqueue(job):
                answer = self._try_write(job) if job.call.operation.mutates else self._run(job.call)
                if answer is None:
                    return
                job.reply(answer)

    def _deadlines(self) -> list[tuple[float, Job]]:
        """Return the calls that may pass earlier ones, with their deadlines: any read, but a write only searches."""
        if self._changed is None:
            return []
        with self._changed:
            ahead = self._running is not None and not self._running.is_search
            deadlines = []
            for job in self._queue:
                if job.deadline_s is not None and not (ahead and job.call.operation.mutates):
                    deadlines.append((job.deadline_s, job))
                elif not job.is_search:
                    ahead = True
        return deadlines

    def _unqueue(self, job: Job) -> bool:
        """Remove a call from the queue; return False if the worker has it already."""
        assert self._changed is not None
        with self._changed:
            if job not in self._queue:
                return False
            self._queue.remove(job)
            return True

    def _try_write(self, job: Job) -> bytes | None:
        """Return the response to a write; None if the lock is busy, and then put it back as the first in the queue."""
        call = job.call
        try:
            return self._run_now(call)
        except Exception as error:
            if not is_busy(error):
                return tool_failure(call, error)
        job.deadline_s = time.monotonic() + RETRY_S
        assert self._changed is not None
        with self._changed:
            self._queue.appendleft(job)
            self._changed.notify_all()
        return None

    def finish(self, within_s: float) -> None:
        """Wait until all accepted calls are finished, at most `within_s`."""
        if self._changed is None:
            return
        deadline = time.monotonic() + within_s
        while self._is_busy() and not self._stopping:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return
            with self._changed:
                if self._queue or self._running:
                    wait_s = self.wait_s()
                    self._changed.wait(left_s if wait_s is None else min(left_s, wait_s))
            self.run_due()

    def stop(self, within_s: float) -> bool:
        """Cancel every call and answer it; return False if the worker is still running after `within_s`."""
        self._stopping = True
        if self._changed is not None:
            with self._changed:
                dropped = tuple(self._queue)
                self._queue.clear()
            for job in dropped:
                message = f"`{job.call.tool}` was cancelled because the server stops; nothing was changed"
                job.reply(tool_failure(job.call, MossError("CANCELLED", message)))
            with self._changed:
                if not self._changed.wait_for(lambda: self._running is None, within_s):
                    return False
        return self._indexing.stop(within_s)

    def _is_busy(self) -> bool:
        if self._changed is None:
            return False
        with self._changed:
            return bool(self._queue) or self._running is not None

    def _enqueue(self, job: Job) -> None:
        if self._changed is None:
            self._changed = self._start_worker()
        with self._changed:
            self._queue.append(job)
            self._changed.notify_all()

    def _start_worker(self) -> Condition:
        try:
            import threading  # a session without long calls never needs it

            changed = threading.Condition()
            threading.Thread(target=self._work, args=(changed,), name="moss-calls", daemon=True).start()
        except (OSError, RuntimeError) as error:  # the next slow call retries
            full = MossError("STORAGE_BUSY", "this process can start no thread now; try again in a moment")
            raise descriptor_limit_error(error) or full from error
        return changed

    def _work(self, changed: Condition) -> None:
        while True:
            with changed:
                changed.wait_for(lambda: self._queue)
                job = self._running = self._queue.popleft()
            answer = self._run(job.call)
            with changed:
                cancelled = job.call.cancelled
            job.reply(None if cancelled else answer)
            with changed:
                self._running = None
                changed.notify_all()

    def _run(self, call: ToolCall) -> bytes:
        return run_call(call, self._store, send=self._send, is_stopping=lambda: self._stopping, indexing=self._indexing)


def run_call(
    call: ToolCall,
    store: Callable[[], Store],
    *,
    send: Callable[[bytes], object],
    is_stopping: Callable[[], bool],
    indexing: BackgroundIndexer,
) -> bytes:
    """Return the response to a slow call; send progress if the client requested it."""
    report = None if call.progress_token is None else ProgressNotifier(call, send)
    try:
        result = store().call(
            call.operation,
            call.arguments,
            cancelled=lambda: call.cancelled or is_stopping(),
            progress=report,
            workspace=call.tools.workspace,
            idempotency_key=call.idempotency_key,
            is_listed=call.tools.is_listed,
            as_sent=call.as_sent,
            actor=call.actor,
            code=call.code,
            read_only=call.tools.read_only,
        )
        answer = tool_answer(call, result)
        if is_vector_search(call):
            indexing.begin(result)
        if report is not None:
            report.finish()
    except Exception as error:
        return tool_failure(call, error)
    return answer


class ProgressNotifier:
    """Progress notifications of a call: the first step, the last, and at most ten a second between."""

    def __init__(self, call: ToolCall, send: Callable[[bytes], object]) -> None:
        self._call = call
        self._send = send
        self._last_step = -1
        self._next_s = 0.0
        self._unsent: tuple[int, int | None] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Record a step; a step that is not higher than the last is ignored."""
        if done <= self._last_step:
            return
        self._unsent = (done, total)
        now = time.monotonic()
        if now >= self._next_s:
            self._next_s = now + PROGRESS_EVERY_S
            self.finish()

    def finish(self) -> None:
        """Send the last recorded step, if it was not sent yet."""
        if self._unsent is None or self._call.cancelled or self._call.progress_token is None:
            return
        done, total = self._unsent
        self._unsent = None
        self._last_step = done
        self._send(progress(self._call.progress_token, done, total))


def is_vector_search(call: ToolCall) -> bool:
    """Return True if a call is a vector search, which may run a model for seconds."""
    return call.operation.slow_if is not None and call.operation.is_slow(call.arguments)
