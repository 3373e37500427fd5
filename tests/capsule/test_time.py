"""Times of capsules and the order of changes, with a clock that stands still or steps back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock, StoreDoor

DAY = 86_400


@holds("decisions §0: the order is the true order of change, also within one second")
def test_times_are_whole_seconds(door: StoreDoor, clock: Clock) -> None:
    clock.ms += 999
    door("capsule_store", name="a", capsule_text=FULL)
    fetched = door("capsule_fetch", name="a")
    assert fetched["created_at"] == fetched["updated_at"] == clock.seconds


@holds("decisions §0: updated_at moves with every change and never falls")
def test_a_change_moves_updated_at_and_not_created_at(door: StoreDoor, clock: Clock) -> None:
    door("capsule_store", name="a", capsule_text=FULL)
    created = clock.seconds
    for tool, arguments in [
        ("capsule_update", {"name": "a", "title": "T"}),
        ("capsule_append", {"name": "a", "section": "Objective", "content": "x"}),
        ("capsule_store", {"name": "a", "capsule_text": FULL, "mode": "replace"}),
        ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
    ]:
        clock.advance(10)
        door(tool, **arguments)
        fetched = door("capsule_fetch", name="a")
        assert (fetched["created_at"], fetched["updated_at"]) == (created, clock.seconds)


@holds("2 §6.5: delete is soft, answers the id, and counts as a change")
def test_a_delete_sets_deleted_at_and_updated_at(door: StoreDoor, clock: Clock) -> None:
    door("capsule_store", name="a", capsule_text=FULL)
    clock.advance(10)
    door("capsule_delete", name="a")
    fetched = door("capsule_fetch", name="a", include_deleted=True)
    assert fetched["deleted_at"] == fetched["updated_at"] == clock.seconds
    assert fetched["created_at"] == clock.seconds - 10


@holds("decisions §0: updated_at moves with every change and never falls")
def test_updated_at_never_decreases_when_the_clock_steps_back(door: StoreDoor, clock: Clock) -> None:
    stored = door("capsule_store", name="a", capsule_text=FULL)
    high = clock.seconds
    for tool, arguments in [
        ("capsule_update", {"name": "a", "title": "T"}),
        ("capsule_append", {"name": "a", "section": "Objective", "content": "x"}),
        ("capsule_store", {"name": "a", "capsule_text": FULL, "mode": "replace"}),
        ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("capsule_bulk_delete", {"workspace": "default"}),
        ("capsule_restore", {"id": stored["id"]}),
        ("capsule_delete", {"name": "a"}),
    ]:
        clock.advance(-3600)
        door(tool, **arguments)
        assert door("capsule_fetch", id=stored["id"], include_deleted=True)["updated_at"] == high


@holds("decisions §0: ids never repeat and always rise, also when the clock steps back")
def test_ids_increase_when_the_clock_stands_still_or_steps_back(door: StoreDoor, clock: Clock) -> None:
    ids = []
    for step in (0, 0, -10, -DAY, 5, 0):
        clock.advance(step)
        ids.append(door("capsule_store", capsule_text=FULL)["id"])
    assert ids == sorted(set(ids))


@holds("decisions §0: the order is the true order of change, also within one second")
def test_changes_within_one_second_keep_their_order(door: StoreDoor) -> None:
    for name in "abc":
        door("capsule_store", name=name, capsule_text=FULL)
    door("capsule_update", name="a", title="T")
    assert door.names("capsule_list") == ["a", "c", "b"]
    assert door("capsule_latest")["item"]["name"] == "a"


@holds("decisions §1: older_than_days counts from the deletion; 0 means all; negative is invalid")
def test_a_purge_by_age_measures_from_the_deletion(door: StoreDoor, clock: Clock) -> None:
    for name in ("old", "new"):
        door("capsule_store", name=name, capsule_text=FULL)
    clock.advance(10 * DAY)
    door("capsule_delete", name="old")
    clock.advance(7 * DAY)
    door("capsule_delete", name="new")
    assert door("capsule_purge", older_than_days=8)["purged"] == 0
    assert door("capsule_purge", older_than_days=7)["purged"] == 1
    assert door.names("capsule_inventory", include_deleted=True) == ["new"]


@holds("decisions §1: older_than_days counts from the deletion; 0 means all; negative is invalid")
@pytest.mark.parametrize("step", [0, -10, -DAY])
def test_a_purge_older_than_0_days_deletes_all_after_the_clock_stepped_back(
    door: StoreDoor, clock: Clock, step: int
) -> None:
    door("capsule_store", name="a", capsule_text=FULL)
    door("capsule_delete", name="a")
    clock.advance(step)
    assert door("capsule_purge", older_than_days=0)["purged"] == 1
