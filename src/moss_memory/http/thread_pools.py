"""Threads for functions that use the store, so that the event loop is never blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Result = TypeVar("Result")

FAST_THREADS = 8
SLOW_THREADS = 5


class Pool:
    """Two executors, so that calls of seconds never delay fast ones; threads start on demand."""

    def __init__(self) -> None:
        self._fast = ThreadPoolExecutor(FAST_THREADS, "moss-fast")
        self._slow = ThreadPoolExecutor(SLOW_THREADS, "moss-slow")
        self._pending: set[Future[Any]] = set()

    def run(self, function: Callable[[], Result], *, slow: bool = False) -> asyncio.Future[Result]:
        future = (self._slow if slow else self._fast).submit(function)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return asyncio.wrap_future(future)

    def wait_idle(self, within_s: float) -> bool:
        """Wait until no function runs; return False after `within_s`."""
        return not wait(set(self._pending), within_s).not_done


POOL = Pool()


async def in_thread(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    return await POOL.run(lambda: function(*arguments, **named))
