"""Load counters of capsules by actor: reads count in memory, a thread writes later."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from moss_memory.rows import load_counts
from moss_memory.rows.load_counts import actors_of_loads, loads_by_actor, loads_of
from moss_memory.store import Store
from moss_memory.tools.capsule.capsule_browse import capsules_by_load, find_near_duplicates, token_counts
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import StoreDoor


@pytest.fixture
def counting(door: StoreDoor, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Return a store that counts loads and writes them only on request."""
    monkeypatch.setattr(load_counts, "SAVE_AFTER_S", 3600)
    with Store(door.store.config, counts_loads=True, actor="python", clock_ms=lambda: 5_000_000) as opened:
        yield opened


def stored(store: Store, name: str, **more: Any) -> str:
    return str(store.call("capsule_store", {"name": name, "capsule_text": FULL, **more})["id"])


def loads(store: Store, capsule: str) -> list[dict[str, Any]]:
    return store.read(loads_by_actor, what="test", capsule=capsule)


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_a_load_is_counted_for_its_actor_once_it_is_saved(counting: Store) -> None:
    capsule = stored(counting, "auth")
    counting.call("capsule_fetch", {"name": "auth"}, actor="claude-code")
    counting.call("capsule_fetch", {"name": "auth"}, actor="claude-code")
    counting.call("capsule_latest", {"include_text": True}, actor="codex")
    assert loads(counting, capsule) == []
    counting.save_loads()
    assert loads(counting, capsule) == [
        {"actor": "claude-code", "loads": 2, "last_at": 5000},
        {"actor": "codex", "loads": 1, "last_at": 5000},
    ]
    counting.call("capsule_fetch_many", {"items": [{"name": "auth"}]}, actor="codex")
    counting.call("capsule_compose", {"items": [{"name": "auth"}]}, actor="codex")
    counting.save_loads()
    assert counting.read(loads_of, what="test", capsules=[capsule, "unknown"]) == {capsule: (5, 5000)}


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_reads_without_text_and_pages_count_no_load(counting: Store) -> None:
    capsule = stored(counting, "auth")
    counting.call("capsule_fetch", {"name": "auth", "include_text": False})
    counting.call("capsule_latest", {})
    counting.call("capsule_inventory", {})
    counting.call("capsule_fetch", {"name": "auth"}, is_load=False)
    counting.save_loads()
    assert loads(counting, capsule) == []


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_closing_saves_the_loads_and_adds_no_event(counting: Store) -> None:
    capsule = stored(counting, "auth")
    before = counting.call("moss_changes", {})["seq"]
    counting.call("capsule_fetch", {"name": "auth"})
    counting.close()
    assert [one["loads"] for one in loads(counting, capsule)] == [1]
    assert counting.call("moss_changes", {})["seq"] == before


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_loads_are_kept_if_the_store_is_busy(counting: Store, door: StoreDoor) -> None:
    capsule = stored(counting, "auth")
    counting.call("capsule_fetch", {"name": "auth"})
    tx = door.store._engine.write_transaction(timeout_s=1.0, call=door.store._context("test"))
    tx.begin()
    try:
        counting.save_loads()
    finally:
        tx.rollback()
        tx.release()
    assert loads(counting, capsule) == []
    counting.save_loads()
    assert [one["loads"] for one in loads(counting, capsule)] == [1]


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_erased_and_purged_capsules_leave_no_loads(counting: Store) -> None:
    capsules = [stored(counting, "erased"), stored(counting, "purged"), stored(counting, "kept")]
    for name in ("erased", "purged", "kept"):
        counting.call("capsule_fetch", {"name": name})
    counting.save_loads()
    counting.call("capsule_fetch", {"name": "erased"})
    counting.call("moss_erase", {"type": "capsule", "name": "erased"})
    counting.call("capsule_delete", {"name": "purged"})
    counting.call("capsule_purge", {"older_than_days": 0})
    counting.save_loads()
    assert list(counting.read(loads_of, what="test", capsules=capsules)) == capsules[2:]


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_loads_of_capsules_are_listed_by_their_last_load(counting: Store) -> None:
    first, other, again = (stored(counting, name, workspace="shop") for name in ("first", "other", "again"))
    counting.call("capsule_update", {"id": other, "capsule_text": f"{FULL}\n\n## Notes\n\n{'记' * 500}"})
    counting.call("capsule_fetch", {"id": first}, actor="codex")
    counting.save_loads()
    items = counting.read(capsules_by_load, what="test", workspace="shop")
    assert [(item["id"], item["loads"]) for item in items] == [(first, 1), (other, 0), (again, 0)]
    assert counting.read(capsules_by_load, what="test", workspace="elsewhere") == []
    tokens = counting.read(token_counts, what="test", capsules=[first, other])
    assert tokens[other] - tokens[first] >= 500
    known: dict[tuple[str, int], tuple[int, ...]] = {}
    for _ in range(2):
        doubles = counting.read(find_near_duplicates, what="test", workspace=None, known=known)
        assert doubles == {again: first}
        assert len(known) == 3
    counting.call("capsule_delete", {"id": again})
    assert counting.read(find_near_duplicates, what="test", workspace=None, known=known) == {}
    assert counting.read(actors_of_loads, what="test", capsules=[first, other]) == {first: [("codex", 1)]}


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_a_read_only_store_counts_nothing(counting: Store) -> None:
    capsule = stored(counting, "auth")
    with Store(counting.config, counts_loads=True, read_only=True) as reading:
        reading.call("capsule_fetch", {"name": "auth"})
    assert loads(counting, capsule) == []


@holds("loads: loads of capsules are counted for each actor off the read path")
def test_the_waiting_loads_are_saved_by_a_thread(counting: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = threading.Event()
    save = load_counts.LoadCounts.save

    def save_and_tell(counts: load_counts.LoadCounts) -> None:
        save(counts)
        saved.set()

    monkeypatch.setattr(load_counts, "SAVE_AFTER_S", 0)
    monkeypatch.setattr(load_counts.LoadCounts, "save", save_and_tell)
    capsule = stored(counting, "auth")
    counting.call("capsule_fetch", {"name": "auth"})
    assert saved.wait(30)
    assert [one["loads"] for one in loads(counting, capsule)] == [1]
