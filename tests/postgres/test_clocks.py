"""Machines with different clocks share a store: its times are those of the database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.store import Store
from support.python_process import run

HOUR_S = 3600

# A machine whose clock is so many seconds off; it makes the calls that it is given and says what came of them.
ELSEWHERE = """
import json, sys, time
real_ns = time.time_ns
off_s = int(sys.argv[2])
time.time_ns = lambda: real_ns() + off_s * 1_000_000_000
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.store import Store
told = []
with Store(default_config("/nowhere").replace(url=sys.argv[1])) as store:
    for tool, arguments in json.loads(sys.argv[3]):
        try:
            told.append(store.call(tool, arguments))
        except MossError as error:
            told.append(error.payload()["error"])
print(json.dumps(told))
"""


def by_clock(url: str, off_s: int, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers that a machine with such a clock gets."""
    told: list[dict[str, Any]] = json.loads(run(ELSEWHERE, url, off_s, json.dumps(calls)))
    return told


@pytest.fixture
def store(url: str) -> Store:
    """Return the store with a clock that agrees with the database's."""
    return Store(default_config("/nowhere").replace(url=url))


@pytest.mark.parametrize("off_s", [-2 * HOUR_S, 2 * HOUR_S])
def test_a_lease_does_not_depend_on_the_clock_of_another_machine(store: Store, url: str, off_s: int) -> None:
    steps = [{"title": "s"}]
    created = store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": steps})
    mine = store.call("tasks_claim", {"workspace": "w", "agent": "here", "target": created["id"]})
    wanted = {"workspace": "w", "agent": "there", "target": created["id"]}
    ready, claimed = by_clock(url, off_s, ("tasks_ready", {"workspace": "w"}), ("tasks_claim", wanted))
    assert ready["tasks"] == [], "the first call of a process, too, goes by the database's clock"
    assert claimed["code"] == "CONFLICT"
    assert claimed["details"] == {"agent": "here", "lease_until_ms": mine["lease_until_ms"]}


@pytest.mark.parametrize("off_s", [-2 * HOUR_S, 2 * HOUR_S])
def test_changes_are_dated_and_ordered_as_they_were_made(store: Store, url: str, off_s: int) -> None:
    store.call("capsule_store", {"workspace": "w", "name": "first", "capsule_text": FULL})
    before = store.call("capsule_fetch", {"workspace": "w", "name": "first"})
    by_clock(url, off_s, ("capsule_store", {"workspace": "w", "name": "second", "capsule_text": FULL}))
    store.call("capsule_store", {"workspace": "w", "name": "third", "capsule_text": FULL})
    listed = store.call("capsule_list", {"workspace": "w"})["items"]
    assert [item["name"] for item in listed] == ["third", "second", "first"]
    assert [item["id"] for item in sorted(listed, key=lambda item: item["id"])] == [
        item["id"] for item in reversed(listed)
    ]
    assert all(0 <= item["updated_at"] - before["updated_at"] < HOUR_S for item in listed)
    by_clock(url, off_s, ("capsule_update", {"workspace": "w", "name": "third", "title": "later"}))
    changed = store.call("capsule_fetch", {"workspace": "w", "name": "third"})
    assert 0 <= changed["updated_at"] - changed["created_at"] < HOUR_S


def test_rows_expire_at_the_same_moment_on_all_machines(store: Store, url: str) -> None:
    kept = {"workspace": "w", "name": "a", "kind": "k", "data": {}, "ttl_seconds": HOUR_S}
    by_clock(url, -2 * HOUR_S, ("artifact_store", kept))
    [found] = by_clock(url, 2 * HOUR_S, ("artifact_fetch", {"workspace": "w", "name": "a"}))
    assert found["data"] == {}
    assert store.call("artifact_fetch", {"workspace": "w", "name": "a"})["data"] == {}


# A machine whose clock is set while a process runs: after the first call it is so many seconds off.
STEPPED = ELSEWHERE.replace("off_s = int(sys.argv[2])", "off_s = 0").replace(
    "        try:\n",
    "        time.time_ns = lambda: real_ns() + (int(sys.argv[2]) if told else 0) * 10**9\n        try:\n",
    1,
)


@pytest.mark.parametrize("off_s", [-2 * HOUR_S, 2 * HOUR_S])
def test_a_step_of_the_clock_does_not_affect_a_running_process(store: Store, url: str, off_s: int) -> None:
    store.call("artifact_store", {"workspace": "w", "name": "a", "kind": "k", "data": {}, "ttl_seconds": HOUR_S})
    created = store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t"})
    store.call("tasks_claim", {"workspace": "w", "agent": "here", "target": created["id"]})
    calls = [
        ("capsule_list", {}),
        ("artifact_fetch", {"workspace": "w", "name": "a"}),
        ("tasks_ready", {"workspace": "w"}),
    ]
    _, found, ready = json.loads(run(STEPPED, url, off_s, json.dumps(calls)))
    assert found["data"] == {}
    assert ready["tasks"] == []
