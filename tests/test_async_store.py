"""The asynchronous store: the same answers, many calls at once, and calls that end when cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory import AsyncStore, MossError, open_async_store
from moss_memory.config import default_config
from moss_memory.registry.operation import Operation
from moss_memory.store import Store


def run_apart(program: Coroutine[Any, Any, None]) -> None:
    """Run a program in a separate thread, because a browser's driver may have left a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, program).result()


def test_every_tool_is_a_method_to_await(home: str) -> None:
    async def program() -> None:
        async with open_async_store(home) as store:
            stored = await store.capsule_store(name="a", capsule_text=FULL)
            assert (await store.capsule_fetch(name="a"))["id"] == stored["id"]
            assert (await store.call("capsule_list", {}))["pagination"]["total"] == 1
            with pytest.raises(MossError):
                await store.capsule_fetch(name="nobody")
            with pytest.raises(AttributeError):
                _ = store.capsule_stor  # type: ignore[attr-defined]
            assert "capsule_store" in dir(store)

    run_apart(program())


def test_many_calls_go_on_at_once(home: str) -> None:
    async def program() -> None:
        async with open_async_store(home) as store:
            calls = [store.capsule_store(name=f"n{number}", capsule_text=FULL) for number in range(20)]
            assert len({stored["id"] for stored in await asyncio.gather(*calls)}) == 20
            listed = await store.capsule_list(limit=100)
            assert listed["pagination"]["total"] == 20

    run_apart(program())


class WaitingStore(Store):
    """A store whose calls wait until they are cancelled."""

    def __init__(self, home: str) -> None:
        super().__init__(default_config(home))
        self.begun = threading.Event()
        self.heard = threading.Event()

    def call(self, tool: str | Operation, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        self.begun.set()
        while not more["cancelled"]():
            pass
        self.heard.set()
        raise MossError("CANCELLED", "given up")


def test_a_cancelled_task_ends_when_its_call_has_stopped(home: str) -> None:
    async def program() -> None:
        waiting = WaitingStore(home)
        task = asyncio.create_task(AsyncStore(waiting).call("capsule_list", {}))
        await asyncio.to_thread(waiting.begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waiting.heard.is_set()

    run_apart(program())
