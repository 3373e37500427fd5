"""Threads for functions that use the store, so that the event loop is never blocked."""

from __future__ import annotations

import asyncio
import threading
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Result = TypeVar("Result")
    Job = tuple[Callable[[], Any], "asyncio.Future[Any]", "asyncio.AbstractEventLoop"]

SIZE = 8
MAX_SLOW = 5
"""Maximum number of threads for slow calls; the rest is reserved for fast ones."""


class Pool:
    """Eight threads, started on demand, that run functions in the order of arrival."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._quick: deque[Job] = deque()
        self._long: deque[Job] = deque()
        self._running_long = 0
        self._running = 0
        self._threads = 0

    def run(self, function: Callable[[], Result], *, long: bool = False) -> asyncio.Future[Result]:
        """Run a function on a thread and return a future of its result."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        with self._changed:
            (self._long if long else self._quick).append((function, future, loop))
            idle = self._threads - self._running
            if self._threads < self._size and idle < len(self._quick) + len(self._long):
                self._threads += 1
                threading.Thread(target=self._work, name=f"moss-{self._threads}", daemon=True).start()
            self._changed.notify()
        return future

    def wait_idle(self, within_s: float) -> bool:
        """Wait until no function runs; return False after `within_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._running or self._quick or self._long), within_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._is_work)
                long = not self._quick
                function, future, loop = (self._long if long else self._quick).popleft()
                self._running += 1
                self._running_long += long
            settle: Callable[[asyncio.Future[Any], Any], None] = _give
            try:
                outcome: Any = function()
            except BaseException as error:
                outcome, settle = error, _fail
            with self._changed:
                self._running -= 1
                self._running_long -= long
                if long or not self._running:
                    self._changed.notify_all()  # a long one may begin now, or everything is at rest
            try:
                loop.call_soon_threadsafe(settle, future, outcome)
            except RuntimeError:
                return  # the loop is closed: the server has ended

    def _is_work(self) -> bool:
        return bool(self._quick) or (bool(self._long) and self._running_long < MAX_SLOW)


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


POOL = Pool()
"""The threads of this process."""


async def in_thread(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Run a function that uses the store on a thread of the pool."""
    return await POOL.run(lambda: function(*arguments, **named))
