"""Tells clients what changed: while anybody listens, the store is asked every second whether something has."""

from __future__ import annotations

import asyncio

from moss_memory.mcp import subscriptions

from .pool import in_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.mcp.server_context import ServerContext
    from moss_memory.mcp.subscriptions import Subscription

    from .sse import Stream


class ChangeNotifier:
    """Who listens to what, and on which stream."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._counter = subscriptions.ChangeDetector(context.store)
        self._listeners: dict[Subscription, Stream] = {}
        self._new: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None

    def subscribe(self, watch: Subscription, stream: Stream) -> None:
        """Sends the news for a watch to a stream from now on, what it has missed included."""
        self._listeners[watch] = stream
        self._new.add(watch)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look_again_and_again())

    def forget(self, watch: Subscription) -> None:
        """Sends nothing more for a watch."""
        self._listeners.pop(watch, None)
        self._new.discard(watch)

    async def _look_again_and_again(self) -> None:
        while self._listeners:
            await asyncio.sleep(subscriptions.POLL_INTERVAL_S)
            for watch in [watch for watch, stream in self._listeners.items() if stream.is_closed]:
                self.forget(watch)
            await in_thread(self._look)

    def _look(self) -> None:
        """Runs on a thread: asks the store, and sends what is due."""
        moved = self._counter.changed()
        for watch, stream in list(self._listeners.items()):
            if moved or watch in self._new:
                self._new.discard(watch)
                for message in watch.pending(self._context.store()):
                    stream.put(message)
