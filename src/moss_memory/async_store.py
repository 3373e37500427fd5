"""An asynchronous store: every call runs in a thread and stops if its task is cancelled."""

from __future__ import annotations

from .registry import catalog
from .store import DEFAULT_ACTOR, Store, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Coroutine
    from typing import Any

    from moss_memory.registry.operation import Operation

    from .config import Config
    from .typed import AsyncTools
else:
    AsyncTools = object


class AsyncStore(AsyncTools):
    """A Moss store whose methods are awaited; they give the same guarantees as those of `Store`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def call(
        self,
        tool: str | Operation,
        arguments: dict[str, Any],
        *,
        progress: Callable[[int, int | None], None] | None = None,
        workspace: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Run a tool in a thread; a cancelled task ends after the call has stopped or finished.

        `progress` is called in that thread.
        """
        import asyncio

        given_up = False
        call = asyncio.ensure_future(
            asyncio.to_thread(
                self.store.call,
                tool,
                arguments,
                cancelled=lambda: given_up,
                progress=progress,
                workspace=workspace,
                idempotency_key=idempotency_key,
            )
        )
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            given_up = True
            await _wait_ended(call)
            raise

    async def close(self) -> None:
        """Close the database; a closed store opens again at the next call."""
        import asyncio

        await asyncio.to_thread(self.store.close)

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, tool: str) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
            if tool.startswith("_"):
                raise AttributeError(tool)
            operation = catalog.find(tool)
            if operation is None:
                raise AttributeError(self.store.unknown_tool_error(tool).message)

            async def method(**arguments: Any) -> dict[str, Any]:
                key = arguments.pop("idempotency_key", None) if operation.mutates else None
                return await self.call(operation, operation.public_arguments(arguments), idempotency_key=key)

            method.__name__ = method.__qualname__ = tool
            method.__doc__ = operation.description
            return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(operation.name for operation in catalog.operations())]


async def _wait_ended(call: Future[dict[str, Any]]) -> None:
    """Wait until a cancelled call has ended, whatever its result."""
    import asyncio

    await asyncio.wait([call])
    if not call.cancelled():
        call.exception()  # retrieved, so that asyncio does not warn of it


def open_async_store(
    home: str | None = None, *, config: Config | None = None, read_only: bool = False, actor: str = DEFAULT_ACTOR
) -> AsyncStore:
    """Open a store as `open_store` does, for asynchronous programs."""
    return AsyncStore(open_store(home, config=config, read_only=read_only, actor=actor))
