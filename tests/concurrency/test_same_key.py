"""The same call with the same idempotency key from many threads and processes: one writes, all get the same answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from support.direct_store import rows
from support.python_process import race
from support.store_truth import capsule, check_truth

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

KEYS = 10
SEND = """
import json, sys
from support.store_truth import capsule, open_at
with open_at(sys.argv[1]) as store:
    store.call("capsule_list", {})
    print("ready", flush=True)
    sys.stdin.readline()
    told = [
        store.call("capsule_store", {"capsule_text": capsule()}, idempotency_key=f"key {number}")["id"]
        for number in range(int(sys.argv[2]))
    ]
print(json.dumps(told))
"""


def ids(home: Path) -> list[str]:
    return [found for (found,) in rows(home, "select id from capsules order by id")]


def test_many_threads_with_one_key_write_once(store: Store, home: Path) -> None:
    def send(number: int) -> Any:
        return store.call("capsule_store", {"capsule_text": capsule()}, idempotency_key=f"key {number % KEYS}")["id"]

    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(send, range(16 * KEYS)))
    assert sorted(set(told)) == ids(home)
    assert len(ids(home)) == KEYS
    check_truth(home)


def test_many_processes_with_one_key_write_once(home: Path) -> None:
    told = race([(SEND, home, KEYS)] * 6)
    assert all(one == told[0] for one in told)
    assert sorted(told[0]) == ids(home)
    check_truth(home)
