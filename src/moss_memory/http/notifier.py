"""Change notifications: while there are subscriptions, the store is polled once a second."""

from __future__ import annotations

import asyncio

from moss_memory.mcp import subscriptions
from moss_memory.mcp.server_context import ServerContext
from moss_memory.mcp.subscriptions import Subscription

from .sse import Stream
from .thread_pools import in_thread


class ChangeNotifier:
    """Polls the store and sends the notifications of subscriptions to their streams."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._detector = subscriptions.ChangeDetector(context.store)
        self._streams: dict[Subscription, Stream] = {}
        self._new_subscriptions: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None

    def subscribe(self, subscription: Subscription, stream: Stream) -> None:
        """Send notifications of a subscription to a stream, also of changes before the next poll."""
        self._streams[subscription] = stream
        self._new_subscriptions.add(subscription)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._poll_repeatedly())

    def unsubscribe(self, subscription: Subscription) -> None:
        self._streams.pop(subscription, None)
        self._new_subscriptions.discard(subscription)

    async def _poll_repeatedly(self) -> None:
        while self._streams:
            await asyncio.sleep(subscriptions.POLL_INTERVAL_S)
            for subscription in [subscription for subscription, stream in self._streams.items() if stream.is_closed]:
                self.unsubscribe(subscription)
            await in_thread(self._poll)

    def _poll(self) -> None:
        """Poll the store and send pending notifications; runs on a thread."""
        changed = self._detector.changed()
        for subscription, stream in list(self._streams.items()):
            if changed or subscription in self._new_subscriptions:
                self._new_subscriptions.discard(subscription)
                for message in subscription.pending(self._context.store()):
                    stream.put(message)
