"""A killed and restarted writer of artifacts loses no acknowledged write and repeats none."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from artifact.samples import check_artifacts
from support.killing import kill_in_the_middle, some_of
from support.store_truth import open_at

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

KILLS = 12
# Reads the counter, adds one, writes it back with the version it read, and one row a step: acknowledges with a byte.
COUNT = """
import os, sys
from support.store_truth import open_at
store = open_at(sys.argv[1])
while True:
    now = store.call("artifact_fetch", {"name": "counter"})
    steps = now["data"]["steps"] + 1
    store.call("artifact_store", {
        "name": "counter", "kind": "run-record", "data": {"steps": steps}, "text": f"word{steps} " * 50,
        "expected_version": now["version"],
    })
    os.write(1, b"u")
    store.call("artifact_store", {
        "name": f"step {steps}", "kind": "step-result", "data": {"step": steps}, "mode": "replace", "ttl_seconds": 9999,
    })
    os.write(1, b"s")
    store.call("artifact_bulk_update", {"kind": "step-result", "set_phase": f"after {steps}"})
    os.write(1, b"b")
"""


def test_a_killed_read_modify_write_continues_where_it_stopped(tmp_path: Path) -> None:
    home = tmp_path / "home"
    chance = random.Random(7)  # noqa: S311
    with open_at(home) as store:
        store.call("artifact_store", {"name": "counter", "kind": "run-record", "data": {"steps": 0}})
    steps = 0
    for _ in range(KILLS):
        said = kill_in_the_middle(COUNT, home, [], some_of(12, chance))
        with open_at(home) as store:
            counter = store.call("artifact_fetch", {"name": "counter"})
            assert counter["data"]["steps"] - steps - said.count(b"u") in (0, 1)
            assert counter["version"] == counter["data"]["steps"] + 1
            check_steps(store, set(range(steps + 1, steps + 1 + said.count(b"s"))), counter["data"]["steps"])
            steps = counter["data"]["steps"]
    assert steps >= KILLS
    check_artifacts(home)


def check_steps(store: Store, acknowledged: set[int], steps: int) -> None:
    """Assert one row for each acknowledged step, none for others, and that a bulk update changed all or none."""
    newest = {"kind": "step-result", "limit": 100, "order_by": "created_at"}
    items = store.call("artifact_list", newest)["items"]
    found = [item["data"]["step"] for item in items]
    assert acknowledged <= set(found)
    assert max(found, default=0) <= steps
    assert len(found) == len(set(found))
    assert len({item["phase"] for item in items} - {None}) <= 1, "a bulk update was half done"
    hits = store.call("moss_search", {"search_mode": "keyword", "query": f"word{steps}", "types": ["artifact"]})[
        "items"
    ]
    assert [hit["title"] for hit in hits] == (["counter"] if steps else [])
