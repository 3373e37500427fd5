from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.config import load_config
from moss_memory.mcp import server_context as module
from moss_memory.mcp.server_context import ServerContext
from moss_memory.store import Store
from support.timeouts import TIMEOUT_S


class ObservedLock:
    """A lock that sets an event when a thread has to wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.has_waiter = threading.Event()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.has_waiter.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@pytest.mark.parametrize(("slow", "asked"), [("load_config", "tools"), ("Store", "store")])
def test_concurrent_requests_share_one_instance(
    home: str, monkeypatch: pytest.MonkeyPatch, slow: str, asked: str
) -> None:
    context, lock = ServerContext(home), ObservedLock()
    monkeypatch.setattr(context, "_lock", lock)
    makes: dict[str, Any] = {"load_config": load_config, "Store": Store}
    made: list[Any] = []

    def make(*given: Any, **named: Any) -> Any:
        made.append(makes[slow](*given, **named))
        assert lock.has_waiter.wait(TIMEOUT_S), "the second one did not wait for the first"
        return made[-1]

    monkeypatch.setattr(module, slow, make)
    with ThreadPoolExecutor(2) as pool:
        first, second = [pool.submit(getattr(context, asked)) for _ in range(2)]
        assert first.result() is second.result()
    assert len(made) == 1
    context.close()


def test_connections_in_many_threads_share_one_store_and_get_its_warnings_once(
    home: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(home).mkdir()
    Path(home, "config.json").write_text('{"disabled_tools": ["capsule_flutter", "artifact_list"]}')
    context, start = ServerContext(home), threading.Barrier(8)

    def connect(number: int) -> Any:
        start.wait(TIMEOUT_S)
        assert context.tools().find("artifact_list") is None
        context.store().call("capsule_store", {"name": f"c{number}", "capsule_text": FULL})
        return context.store()

    with ThreadPoolExecutor(8) as pool:
        stores = set(pool.map(connect, range(8)))
    (store,) = stores
    assert store.call("capsule_list", {})["pagination"]["total"] == 8
    assert capfd.readouterr().err.count("capsule_flutter") == 1
    context.close()


def test_an_unused_context_closes_without_creating_files(home: str) -> None:
    ServerContext(home).close()
    assert not Path(home).exists()
