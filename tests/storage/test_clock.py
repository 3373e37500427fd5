"""A clock that stops or steps back: order, ids and times of change stay correct."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moss_memory.storage.call import IdSource
from moss_memory.store import Store
from storage.database import connect
from support.store_truth import capsule, check_truth, open_at

START_MS = 1_700_000_000_500


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(home: Path, clock: Clock) -> Iterator[Store]:
    with open_at(home, clock_ms=clock) as store:
        yield store


def put(store: Store, name: str, **more: Any) -> str:
    return str(store.call("capsule_store", {"capsule_text": capsule(), "name": name, **more})["id"])


def names(store: Store, tool: str = "capsule_list", **more: Any) -> list[str]:
    """Return all names in listing order, over all pages, asserting that every row comes exactly once."""
    found: list[str] = []
    while True:
        answer = store.call(tool, {**more, "offset": len(found)})
        found += [item["name"] for item in answer["items"]]
        if not answer["pagination"]["has_more"]:
            assert answer["pagination"]["total"] == len(found) == len(set(found))
            return found


def test_updated_at_never_decreases_when_the_clock_steps_back(timed: Store, clock: Clock) -> None:
    put(timed, "a")
    first = timed.call("capsule_fetch", {"name": "a"})
    clock.now_ms -= 3_600_000
    section = {"section": "Decisions", "content": "one more"}
    for tool, arguments in (
        ("capsule_update", {"name": "a", "title": "new"}),
        ("capsule_append", {"name": "a", **section}),
        ("capsule_store", {"name": "a", "capsule_text": capsule("new"), "mode": "replace"}),
        ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("capsule_delete", {"name": "a"}),
        ("capsule_restore", {"id": first["id"]}),
        ("capsule_bulk_delete", {"workspace": "default"}),
    ):
        timed.call(tool, arguments)
        now = timed.call("capsule_fetch", {"id": first["id"], "include_deleted": True})
        assert now["updated_at"] == first["updated_at"], tool
        assert now["created_at"] == first["created_at"], tool


def test_ids_strictly_increase_whatever_the_clock_does(timed: Store, clock: Clock, home: Path) -> None:
    steps_ms = [0, 0, 0, -1, -86_400_000, 0, 5, 86_500_000, 0, -1_000, 1_000]
    ids = []
    for number, step_ms in enumerate(steps_ms):
        clock.now_ms += step_ms
        ids.append(put(timed, f"n{number}"))
    assert ids == sorted(set(ids))
    connection = connect(home)
    event_ids = [row[0] for row in connection.execute("select event_id from events order by seq")]
    connection.close()
    assert event_ids == sorted(set(event_ids))
    assert len(event_ids) == len(steps_ms)


def test_two_id_sources_behind_their_last_id_never_make_equal_ids() -> None:
    ahead = START_MS + 60_000
    one, other = IdSource(), IdSource()
    one._last = other._last = int.from_bytes(b"\x01" * 10, "big") | (ahead << 80)
    mine = [one(START_MS) for _ in range(100)]
    theirs = [other(START_MS) for _ in range(100)]
    assert mine == sorted(set(mine))
    assert theirs == sorted(set(theirs))
    assert not set(mine) & set(theirs)


def test_changes_within_one_second_are_listed_in_their_true_order(timed: Store, clock: Clock) -> None:
    for name in "abcdef":
        put(timed, name)
    assert names(timed) == list("fedcba")
    put(timed, "b", mode="replace")
    timed.call("capsule_append", {"name": "d", "section": "Decisions", "content": "x"})
    timed.call("capsule_update", {"name": "a", "title": "A"})
    assert names(timed) == list("adbfec")
    clock.now_ms -= 10_000
    timed.call("capsule_update", {"name": "e", "title": "E"})
    assert names(timed) == names(timed, "capsule_inventory") == list("eadbfc")
    assert timed.call("capsule_latest", {})["item"]["name"] == "e"


def test_a_deletion_counts_as_a_change(timed: Store) -> None:
    for name in "abc":
        put(timed, name)
    timed.call("capsule_delete", {"name": "a"})
    assert names(timed) == ["c", "b"]
    assert names(timed, include_deleted=True) == ["a", "c", "b"]
    assert timed.call("capsule_latest", {"include_deleted": True})["item"]["name"] == "a"


def test_a_bulk_change_keeps_the_order_among_its_capsules(timed: Store) -> None:
    for name in "abcdef":
        put(timed, name, tags=["odd"] if name in "ace" else [])
    timed.call("capsule_bulk_update", {"tag": "odd", "set_role": "r"})
    assert names(timed) == list("ecafdb")


def test_a_thousand_capsules_of_one_second_are_paged_exactly_once(timed: Store, home: Path) -> None:
    order: list[str] = []
    for number in range(1_000):
        put(timed, f"n{number}", workspace="w")
        order.insert(0, f"n{number}")
    assert names(timed, workspace="w", limit=100) == order
    assert names(timed, "capsule_inventory", limit=333) == order
    for number in range(0, 1_000, 97):
        name = f"n{number}"
        put(timed, name, workspace="w", mode="replace")
        order.remove(name)
        order.insert(0, name)
    for number in range(5, 1_000, 111):
        name = f"n{number}"
        timed.call("capsule_append", {"workspace": "w", "name": name, "section": "Decisions", "content": "x"})
        order.remove(name)
        order.insert(0, name)
    for number in range(3, 1_000, 50):
        timed.call("capsule_delete", {"workspace": "w", "name": f"n{number}"})
        order.remove(f"n{number}")
    assert names(timed, workspace="w", limit=77) == order
    assert names(timed, "capsule_inventory", limit=500) == order
    assert names(timed, workspace="w", limit=100, include_deleted=True)[20:] == order
    check_truth(home)


def test_a_restored_store_lists_in_the_order_it_had(timed: Store, clock: Clock, tmp_path: Path) -> None:
    for name in "abcdef":
        put(timed, name)
    put(timed, "c", mode="replace")
    clock.now_ms += 5_000
    put(timed, "g")
    timed.call("capsule_delete", {"name": "e"})
    path = timed.call("capsule_export", {"include_deleted": True, "path": "all.jsonl"})["path"]
    with open_at(tmp_path / "second", clock_ms=clock, allowed_paths=[str(Path(path).parent)]) as second:
        second.call("capsule_import", {"path": path})
        assert names(second, include_deleted=True) == names(timed, include_deleted=True) == list("egcfdba")
