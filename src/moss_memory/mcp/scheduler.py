"""Runs tool calls: at once where that is quick, else on one worker thread, in the order they were sent."""

from __future__ import annotations

import time
from collections import deque

from moss_memory.errors import MossError, descriptor_limit_error, is_busy

from .background_index import Indexing
from .protocol import progress, tool_answer, tool_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Condition

    from moss_memory.store import Store

    from .protocol import ToolCall

    Reply = Callable[[bytes | None], None]

READ_TIMEOUT_S = 0.3
"""How long a quick call waits for those sent before it, so that a script sees its own writes; then a read overtakes
all of them, a write only searches: nobody waits for a model that reads, or for what grows with a large store."""

RETRY_S = 0.05

PROGRESS_EVERY_S = 0.1

MOST_WAITING = 64
"""Calls that wait; a client that sends more has them wait in its pipe."""


class Job:
    """A call that waits for the worker, or is with it."""

    __slots__ = ("call", "deadline_s", "reply", "searches")

    def __init__(self, call: ToolCall, reply: Reply, *, wait: bool) -> None:
        self.call = call
        self.reply = reply
        self.searches = is_by_meaning(call) or call.operation.slow_when_large
        self.deadline_s = None if wait else time.monotonic() + READ_TIMEOUT_S


class CallScheduler:
    """The calls of one connection. Everything but the worker's own work happens on the loop's thread."""

    def __init__(self, store: Callable[[], Store], send: Callable[[bytes], None]) -> None:
        self._store = store
        self._send = send
        self._queue: deque[Job] = deque()
        self._running: Job | None = None
        self._stopping = False
        self._changed: Condition | None = None
        self._indexing = Indexing(store)

    def take(self, call: ToolCall, reply: Reply) -> None:
        """Answers a call, now or later; `reply` gets none if the client cancels it before."""
        self._indexing.note_call()
        try:
            answer = self._now_or_later(call, reply)
        except Exception as error:
            answer = tool_failure(call, error)
        if answer is not None:
            reply(answer)

    def _now_or_later(self, call: ToolCall, reply: Reply) -> bytes | None:
        """The answer to a call that is worth waiting for; none when it stands in the queue."""
        try:
            long = self._takes_long(call)
            if not long and not self._busy():
                return self._quickly(call)
        except Exception as error:
            if not is_busy(error):
                raise
            long = False
        self._enqueue(Job(call, reply, wait=long))
        return None

    def _quickly(self, call: ToolCall) -> bytes:
        """The answer to a call that is worth waiting for; one that must wait for others raises instead."""
        result = self._store().call(
            call.tool,
            call.arguments,
            wait=False,
            workspace=call.offer.workspace,
            idempotency_key=call.idempotency_key,
        )
        return tool_answer(call, result)

    def _takes_long(self, call: ToolCall) -> bool:
        """Whether the loop should not wait for it."""
        operation = call.operation
        return operation.is_slow(call.arguments) or (operation.slow_when_large and self._store().is_large())

    def is_full(self) -> bool:
        """Whether so many calls wait that no more should be read."""
        return len(self._queue) >= MOST_WAITING

    def cancel(self, key: object) -> None:
        """Drops the waiting calls of this id and asks the running one to stop; none of them is answered."""
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
        """How long the loop may sleep until a waiting call is due to overtake; none means for ever."""
        if not self._queue:
            return None
        for at_s, _ in self._is_due():
            return max(0.0, at_s - time.monotonic())
        return None

    def run_due(self) -> None:
        """Answers the calls that have waited long enough for those sent before them."""
        if self._changed is None or not self._queue:
            return
        now = time.monotonic()
        for at_s, job in self._is_due():
            if at_s <= now and self._withdraw(job):
                answer = self._try_write(job) if job.call.operation.mutates else self._outcome(job.call)
                if answer is None:
                    return
                job.reply(answer)

    def _is_due(self) -> list[tuple[float, Job]]:
        """The calls that may overtake those before them, and when: any read, but a write only searches."""
        if self._changed is None:
            return []
        with self._changed:
            ahead = self._running is not None and not self._running.searches
            found = []
            for job in self._queue:
                if job.deadline_s is not None and not (ahead and job.call.operation.mutates):
                    found.append((job.deadline_s, job))
                elif not job.searches:
                    ahead = True
        return found

    def _withdraw(self, job: Job) -> bool:
        """Takes a call out of the queue; false when the worker has it already."""
        assert self._changed is not None
        with self._changed:
            if job not in self._queue:
                return False
            self._queue.remove(job)
            return True

    def _try_write(self, job: Job) -> bytes | None:
        """The answer to a write; none when others are writing, and then it is the next to be tried again."""
        call = job.call
        try:
            return self._quickly(call)
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
        """Lets the calls already taken end, for at most so long."""
        if self._changed is None:
            return
        deadline = time.monotonic() + within_s
        while self._busy() and not self._stopping:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return
            with self._changed:
                if self._queue or self._running:
                    wait_s = self.wait_s()
                    self._changed.wait(left_s if wait_s is None else min(left_s, wait_s))
            self.run_due()

    def stop(self, within_s: float) -> bool:
        """Cancels every call, answering it so; says whether the worker came to rest in time."""
        self._stopping = True
        return self._stop_worker(within_s) and self._indexing.stop(within_s)

    def _stop_worker(self, within_s: float) -> bool:
        if self._changed is None:
            return True
        with self._changed:
            dropped = tuple(self._queue)
            self._queue.clear()
        for job in dropped:
            job.reply(tool_failure(job.call, _stopped(job.call)))
        with self._changed:
            return self._changed.wait_for(lambda: self._running is None, within_s)

    def _busy(self) -> bool:
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
        except (OSError, RuntimeError) as error:  # the next call that takes long tries again
            full = MossError("STORAGE_BUSY", "this process can start no thread now; try again in a moment")
            raise descriptor_limit_error(error) or full from error
        return changed

    def _work(self, changed: Condition) -> None:
        while True:
            with changed:
                changed.wait_for(lambda: self._queue)
                job = self._running = self._queue.popleft()
            answer = self._outcome(job.call)
            with changed:
                cancelled = job.call.cancelled
            job.reply(None if cancelled else answer)
            with changed:
                self._running = None
                changed.notify_all()

    def _outcome(self, call: ToolCall) -> bytes:
        return outcome_of(
            call, self._store, send=self._send, is_stopping=lambda: self._stopping, indexing=self._indexing
        )


def outcome_of(
    call: ToolCall,
    store: Callable[[], Store],
    *,
    send: Callable[[bytes], object],
    is_stopping: Callable[[], bool],
    indexing: Indexing,
) -> bytes:
    """The answer to a call that may take its time; how far it has come is sent where the client asked for it."""
    report = None if call.progress_token is None else Progress(call, send)
    try:
        result = store().call(
            call.tool,
            call.arguments,
            cancelled=lambda: call.cancelled or is_stopping(),
            progress=report,
            workspace=call.offer.workspace,
            idempotency_key=call.idempotency_key,
        )
        answer = tool_answer(call, result)
        if is_by_meaning(call):
            indexing.begin(result)
        if report is not None:
            report.finish()
    except Exception as error:
        return tool_failure(call, error)
    return answer


class Progress:
    """Tells the client how far its call has come: the first step, the last, and ten a second between."""

    def __init__(self, call: ToolCall, send: Callable[[bytes], object]) -> None:
        self._call = call
        self._send = send
        self._last = -1
        self._next_s = 0.0
        self._held: tuple[int, int | None] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Takes note of a step; steps that do not rise are not worth telling."""
        if done <= self._last:
            return
        self._held = (done, total)
        now = time.monotonic()
        if now >= self._next_s:
            self._next_s = now + PROGRESS_EVERY_S
            self.finish()

    def finish(self) -> None:
        """Tells the step that was held back, if any."""
        if self._held is None or self._call.cancelled or self._call.progress_token is None:
            return
        done, total = self._held
        self._held = None
        self._last = done
        self._send(progress(self._call.progress_token, done, total))


def is_by_meaning(call: ToolCall) -> bool:
    """Whether a call is a search for which a model may have to read for seconds."""
    return call.operation.slow_if is not None and call.operation.is_slow(call.arguments)


def _stopped(call: ToolCall) -> MossError:
    return MossError("CANCELLED", f"`{call.tool}` was cancelled because the server stops; nothing was changed")
