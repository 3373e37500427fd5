"""Lifetime of artifacts: expiry, names of expired artifacts, the sweep, clocks that stop or step back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts, listed_names, put
from contract.doors import FULL, START_MS
from moss_memory.errors import MossError
from support.direct_store import DirectStore, rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock, StoreDoor

MINUTE = 60
DAY = 86_400
BOTH = {"include_expired": True, "include_deleted": True}


def swept(door: StoreDoor) -> int:
    """Count the deleted artifacts."""
    [(count,)] = rows(door.home, "select count(*) from artifacts where deleted_at is not null")
    return int(count)


@holds("3 lifecycle: expired means expires_at <= now; reads filter and delete nothing")
def test_times_of_an_artifact_are_whole_seconds_of_the_clock(door: StoreDoor, clock: Clock) -> None:
    clock.ms += 999
    answer = door("artifact_store", name="a", kind="k", data={}, ttl_seconds=10)
    fetched = door("artifact_fetch", name="a")
    assert fetched["created_at"] == fetched["updated_at"] == clock.seconds
    assert answer["expires_at"] == fetched["expires_at"] == clock.seconds + 10


@holds("3 lifecycle: expired means expires_at <= now; reads filter and delete nothing")
def test_an_artifact_is_expired_from_the_second_it_expires_at(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", ttl_seconds=10)
    clock.advance(9.999)
    assert door("artifact_fetch", name="a")["name"] == "a"
    assert listed_names(door) == ["a"]
    clock.advance(0.001)
    door.refuses("NOT_FOUND", "artifact_fetch", name="a")
    assert listed_names(door) == []


@holds("3 lifecycle: expired means expires_at <= now; reads filter and delete nothing")
def test_reading_expired_artifacts_deletes_nothing(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", ttl_seconds=10)
    clock.advance(DAY)
    listed_names(door)
    door.refuses("NOT_FOUND", "artifact_fetch", name="a")
    assert swept(door) == 0


@holds("3 lifecycle: expired means expires_at <= now; reads filter and delete nothing")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("artifact_fetch", {}),
        ("artifact_delete", {}),
        ("artifact_touch", {"ttl_seconds": 10}),
    ],
)
def test_an_expired_artifact_is_not_found_by_any_address(
    door: StoreDoor, clock: Clock, tool: str, arguments: dict[str, Any]
) -> None:
    stored = put(door, "a", ttl_seconds=10)
    clock.advance(10)
    door.refuses("NOT_FOUND", tool, id=stored, **arguments)
    door.refuses("NOT_FOUND", tool, name="a", **arguments)


@holds("3 lifecycle: expired means expires_at <= now; reads filter and delete nothing")
def test_an_expired_artifact_has_no_version_to_expect(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", ttl_seconds=10)
    clock.advance(10)
    door.refuses("NOT_FOUND", "artifact_store", name="a", kind="k", data={}, expected_version=1)


@holds("3 lifecycle: expired means expires_at <= now; reads filter and delete nothing")
def test_an_expired_artifact_cannot_be_bundled(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", text="t", ttl_seconds=10)
    clock.advance(10)
    door.refuses("NOT_FOUND", "artifact_compose", items=[{"name": "a"}])


@holds("3 lifecycle: include_expired and include_deleted are independent")
def test_include_expired_and_include_deleted_are_independent(door: StoreDoor, clock: Clock) -> None:
    ids = {}
    for name, ttl in {"alive": 9999, "deleted": 9999, "expired": 10, "both": 10}.items():
        ids[name] = put(door, name, ttl_seconds=ttl)
    door("artifact_delete", name="deleted")
    door("artifact_delete", name="both")
    clock.advance(10)
    for flags, visible in [
        ({}, {"alive"}),
        ({"include_expired": True}, {"alive", "expired"}),
        ({"include_deleted": True}, {"alive", "deleted"}),
        (BOTH, {"alive", "deleted", "expired", "both"}),
    ]:
        assert set(listed_names(door, **flags)) == visible
        for name, stored in ids.items():
            for address in ({"id": stored}, {"name": name}):
                if name in visible:
                    assert door("artifact_fetch", **address, **flags)["id"] == stored
                else:
                    door.refuses("NOT_FOUND", "artifact_fetch", **address, **flags)


@holds("3 lifecycle: an expired artifact does not block its name")
@pytest.mark.parametrize("mode", ["error", "replace"])
def test_an_expired_artifact_does_not_block_its_name(door: StoreDoor, clock: Clock, mode: str) -> None:
    first = put(door, "Name", ttl_seconds=10, data={"n": "old"}, text="old")
    door("artifact_store", name="name", kind="k", data={"n": "old"}, ttl_seconds=10, expected_version=1)
    clock.advance(10)
    answer = door("artifact_store", name="NAME", kind="k", data={"n": "new"}, mode=mode)
    assert (answer["version"], answer["name"]) == (1, "NAME")
    assert answer["id"] != first
    new = door("artifact_fetch", name="name")
    assert (new["created_at"], new["data"]) == (clock.seconds, {"n": "new"})
    old = door("artifact_fetch", id=first, **BOTH)
    assert (old["deleted_at"], old["data"], old["version"]) == (clock.seconds, {"n": "old"}, 2)
    assert old["created_at"] == START_MS // 1000
    door.refuses("NOT_FOUND", "artifact_fetch", id=first, include_deleted=True)
    door.refuses("NOT_FOUND", "artifact_fetch", id=first, include_expired=True)


@holds("3 lifecycle: an expired artifact does not block its name")
def test_an_artifact_that_takes_an_expired_name_is_listed_before_the_expired_one(door: StoreDoor, clock: Clock) -> None:
    door("artifact_store", kind="k", data={})
    clock.advance(1)
    old = put(door, "a", ttl_seconds=10)
    clock.advance(10)
    new = put(door, "a")
    found = [item["id"] for item in door("artifact_list", limit=2, **BOTH)["items"]]
    assert found == [new, old]


@holds("decisions §2: bulk tools touch active, unexpired rows only")
def test_bulk_tools_do_not_change_expired_artifacts(door: StoreDoor, clock: Clock) -> None:
    put(door, "sweeps now and not again for five minutes")
    old = put(door, "old", run_id="r", ttl_seconds=10)
    put(door, "new", run_id="r", ttl_seconds=11)
    clock.advance(10)
    before = door("artifact_fetch", id=old, include_expired=True)
    assert door("artifact_bulk_update", run_id="r", set_phase="p", set_ttl_seconds=99) == {"updated": 1}
    assert door("artifact_bulk_delete", run_id="r") == {"deleted": 1}
    assert door("artifact_fetch", id=old, include_expired=True) == before


@holds("3 touch: a new life from now; content and version stay")
def test_a_touch_counts_from_now(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", ttl_seconds=10)
    clock.advance(9)
    answer = door("artifact_touch", name="a", ttl_seconds=10)
    assert answer["expires_at"] == clock.seconds + 10
    clock.advance(9)
    assert door("artifact_fetch", name="a")["ttl_seconds"] == 10
    clock.advance(1)
    door.refuses("NOT_FOUND", "artifact_touch", name="a", ttl_seconds=10)


@holds("decisions §0: an artifact's updated_at moves with every change and never falls")
def test_every_change_of_an_artifact_moves_updated_at_and_not_created_at(door: StoreDoor, clock: Clock) -> None:
    created = clock.seconds
    stored = put(door, "a")
    steps: list[tuple[str, dict[str, Any]]] = [
        ("artifact_store", {"name": "a", "kind": "k", "data": {}, "mode": "replace"}),
        ("artifact_store", {"name": "a", "kind": "k", "data": {}, "expected_version": 2}),
        ("artifact_touch", {"name": "a", "ttl_seconds": 999}),
        ("artifact_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("artifact_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("artifact_delete", {"name": "a"}),
    ]
    for tool, arguments in steps:
        clock.advance(10)
        door(tool, **arguments)
        fetched = door("artifact_fetch", id=stored, include_deleted=True)
        assert (fetched["created_at"], fetched["updated_at"]) == (created, clock.seconds), tool


@holds("decisions §0: an artifact's updated_at moves with every change and never falls")
def test_an_artifacts_updated_at_never_falls_when_the_clock_steps_back(door: StoreDoor, clock: Clock) -> None:
    high = clock.seconds
    stored = put(door, "a")
    steps: list[tuple[str, dict[str, Any]]] = [
        ("artifact_store", {"name": "a", "kind": "k", "data": {}, "mode": "replace"}),
        ("artifact_store", {"name": "a", "kind": "k", "data": {}, "expected_version": 2}),
        ("artifact_touch", {"name": "a", "ttl_seconds": 999_999}),
        ("artifact_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("artifact_bulk_delete", {"workspace": "default"}),
    ]
    for tool, arguments in steps:
        clock.advance(-3600)
        door(tool, **arguments)
        fetched = door("artifact_fetch", id=stored, include_deleted=True)
        assert fetched["updated_at"] == high, tool


@holds("decisions §0: an artifact's updated_at moves with every change and never falls")
@pytest.mark.parametrize("how", ["delete", "sweep", "expired name"])
def test_an_artifact_that_is_deleted_when_the_clock_stepped_back_keeps_its_updated_at(
    door: StoreDoor, clock: Clock, how: str
) -> None:
    high = clock.seconds
    stored = put(door, "a")
    clock.advance(-DAY)
    door("artifact_touch", id=stored, ttl_seconds=10)
    if how == "delete":
        door("artifact_delete", id=stored)
    else:
        clock.advance(20)
        put(door, "a" if how == "expired name" else "other")
        clock.advance(5 * MINUTE + 1)
        put(door)
    fetched = door("artifact_fetch", id=stored, **BOTH)
    assert (fetched["updated_at"], fetched["created_at"]) == (high, high)
    assert fetched["deleted_at"] < high - DAY + 2 * 5 * MINUTE


@holds("decisions §0: time-to-live uses the wall clock; swept artifacts stay swept")
def test_a_time_to_live_follows_the_wall_clock_back(door: StoreDoor, clock: Clock) -> None:
    stored = put(door, "a", ttl_seconds=10)
    clock.advance(20)
    door.refuses("NOT_FOUND", "artifact_fetch", name="a")
    clock.advance(-15)
    assert door("artifact_fetch", name="a")["id"] == stored
    assert door("artifact_touch", name="a", ttl_seconds=10)["expires_at"] == clock.seconds + 10


@holds("decisions §0: time-to-live uses the wall clock; swept artifacts stay swept")
def test_swept_artifacts_remain_deleted_when_the_clock_steps_back(door: StoreDoor, clock: Clock) -> None:
    put(door, "a", ttl_seconds=10)
    clock.advance(10 * MINUTE)
    put(door, "sweeping")
    clock.advance(-10 * MINUTE)
    door.refuses("NOT_FOUND", "artifact_fetch", name="a")
    assert door("artifact_fetch", name="a", include_deleted=True)["deleted_at"] == clock.seconds + 10 * MINUTE


@holds("3 lifecycle: writes sweep, at most every five minutes, a hundred at most")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("artifact_store", {"kind": "k", "data": {}}),
        ("artifact_store", {"name": "kept", "kind": "k", "data": {}, "mode": "replace"}),
        ("artifact_store", {"name": "kept", "kind": "k", "data": {}, "expected_version": 1}),
        ("artifact_touch", {"name": "kept", "ttl_seconds": 10}),
        ("artifact_delete", {"name": "kept"}),
        ("artifact_bulk_delete", {"workspace": "nowhere"}),
        ("artifact_bulk_update", {"workspace": "nowhere", "set_phase": "p"}),
        ("artifact_compose", {"items": [{"name": "kept"}], "store_as": {"name": "out", "kind": "k"}}),
    ],
)
def test_every_write_sweeps_expired_artifacts(
    door: StoreDoor, clock: Clock, tool: str, arguments: dict[str, Any]
) -> None:
    put(door, "kept", text="t")
    old = put(door, "old", ttl_seconds=10)
    clock.advance(5 * MINUTE + 1)
    door(tool, **arguments)
    fetched = door("artifact_fetch", id=old, **BOTH)
    assert fetched["deleted_at"] == fetched["updated_at"] == clock.seconds
    assert fetched["version"] == 1


@holds("3 lifecycle: writes sweep, at most every five minutes, a hundred at most")
def test_a_sweep_happens_at_most_every_five_minutes(door: StoreDoor, clock: Clock) -> None:
    put(door, "first write, first sweep")
    put(door, "a", ttl_seconds=10)
    clock.advance(4 * MINUTE + 59)
    put(door, "b", ttl_seconds=1)
    assert swept(door) == 0
    clock.advance(2)
    put(door, "c")
    assert swept(door) == 2
    put(door, "d", ttl_seconds=1)
    clock.advance(4 * MINUTE)
    put(door, "e")
    assert swept(door) == 2


@holds("3 lifecycle: writes sweep, at most every five minutes, a hundred at most")
def test_a_sweep_deletes_at_most_100_artifacts(door: StoreDoor, clock: Clock) -> None:
    for _ in range(250):
        put(door, ttl_seconds=10)
    for left in (150, 50, 0, 0):
        clock.advance(5 * MINUTE + 1)
        put(door)
        [(expired,)] = rows(door.home, "select count(*) from artifacts where deleted_at is null and expires_at > 0")
        assert expired == left
    check_artifacts(door.home)


@holds("3 lifecycle: writes sweep, at most every five minutes, a hundred at most")
def test_a_sweep_does_not_change_live_and_deleted_artifacts(door: StoreDoor, clock: Clock) -> None:
    put(door, "no end")
    put(door, "later", ttl_seconds=DAY)
    gone = put(door, "gone", ttl_seconds=10)
    door("artifact_delete", name="gone")
    before = clock.seconds
    clock.advance(5 * MINUTE + 1)
    put(door, "sweeping")
    assert set(listed_names(door)) == {"no end", "later", "sweeping"}
    assert door("artifact_fetch", id=gone, **BOTH)["deleted_at"] == before


@holds("3 lifecycle: writes sweep, at most every five minutes, a hundred at most")
def test_a_refused_write_sweeps_nothing(door: StoreDoor, clock: Clock) -> None:
    put(door, "a")
    put(door, "old", ttl_seconds=10)
    clock.advance(DAY)
    door.refuses("NAME_ALREADY_EXISTS", "artifact_store", name="a", kind="k", data={})
    assert swept(door) == 0


@holds("3 lifecycle: writes sweep, at most every five minutes, a hundred at most")
def test_a_sweep_writes_no_event(door: StoreDoor, clock: Clock) -> None:
    put(door, "old", ttl_seconds=10)
    clock.advance(DAY)
    put(door, "new")
    assert rows(door.home, "select tool from events") == [("artifact_store",)] * 2


def create_trigger(door: StoreDoor, trap: str, how: str) -> None:
    """Create a trigger that makes the database refuse this statement."""
    what, _, when = trap.partition(" when ")
    with DirectStore(door.home) as direct:
        direct.trap("trap", what, when=when or "true", how=how)


def drop_trigger(door: StoreDoor) -> None:
    with DirectStore(door.home) as direct:
        direct.free("trap")


@holds("3 lifecycle: a sweep is best effort and never fails the write")
@pytest.mark.parametrize("how", ["abort", "fail"])
@pytest.mark.parametrize(
    "trap", ["update of deleted_at on artifacts when old.name_norm = 'cursed'", "insert on upkeep", "update on upkeep"]
)
def test_a_sweep_that_fails_does_not_fail_the_write(door: StoreDoor, clock: Clock, trap: str, how: str) -> None:
    if trap == "insert on upkeep":
        door("capsule_store", name="no sweep rides on it", capsule_text=FULL)
    else:
        put(door, "first write, first sweep")
    create_trigger(door, trap, how)
    put(door, "cursed", ttl_seconds=10)
    clock.advance(DAY)
    answer = door("artifact_store", name="new", kind="k", data={"n": 2})
    assert door("artifact_fetch", id=answer["id"])["data"] == {"n": 2}
    assert "new" in listed_names(door)
    drop_trigger(door)
    clock.advance(5 * MINUTE + 1)
    put(door)
    assert "cursed" not in listed_names(door, include_expired=True)
    check_artifacts(door.home)


@holds("3 lifecycle: a sweep is best effort and never fails the write")
def test_a_sweep_that_fails_half_way_deletes_nothing(door: StoreDoor, clock: Clock) -> None:
    put(door, "first write, first sweep")
    for name in ("a", "b", "cursed", "c"):
        put(door, name, ttl_seconds=10)
    create_trigger(door, "update of deleted_at on artifacts when old.name_norm = 'cursed'", "fail")
    clock.advance(DAY)
    put(door, "new")
    assert swept(door) == 0


@holds("decisions §0: an artifact's updated_at moves with every change and never falls")
@pytest.mark.parametrize("tool", ["artifact_store", "artifact_bulk_update", "artifact_bulk_delete"])
def test_changed_artifacts_have_unique_change_numbers_even_in_a_sweep(door: StoreDoor, clock: Clock, tool: str) -> None:
    for number in range(12):
        put(door, str(number), ttl_seconds=10 if number % 2 else None, run_id="r")
    clock.advance(DAY)
    arguments: dict[str, Any] = {"kind": "k", "data": {}} if tool == "artifact_store" else {"run_id": "r"}
    door(tool, **arguments, **({"set_phase": "p"} if tool == "artifact_bulk_update" else {}))
    assert swept(door) == (12 if tool == "artifact_bulk_delete" else 6)
    shared = rows(door.home, "select change_seq, count(*) from artifacts group by 1 having count(*) > 1")
    assert shared == [], "rows share a place in the order of changes, so pages have no unique tie-break"


@holds("decisions §1: purge does the same for artifacts")
def test_a_purge_of_artifacts_by_age_counts_from_the_deletion(door: StoreDoor, clock: Clock) -> None:
    for name in ("old", "new", "alive"):
        put(door, name)
    clock.advance(10 * DAY)
    door("artifact_delete", name="old")
    clock.advance(7 * DAY)
    door("artifact_delete", name="new")
    assert door("artifact_purge", older_than_days=8)["purged"] == 0
    assert door("artifact_purge", older_than_days=7)["purged"] == 1
    assert door("artifact_purge", workspace="elsewhere")["purged"] == 0
    assert listed_names(door, include_deleted=True) == ["new", "alive"]
    told = door("artifact_purge", older_than_days=0)
    assert (told["purged"], told["message"], told["erased"]) == (1, "Permanently deleted 1 artifact", True)
    door.refuses("INVALID_REQUEST", "artifact_purge", older_than_days=-1)


@holds("decisions §1: purge does the same for artifacts")
def test_a_purge_of_artifacts_keeps_expired_ones_that_are_not_deleted(door: StoreDoor, clock: Clock) -> None:
    stored = put(door, "a", ttl_seconds=10)
    clock.advance(10)
    assert door("artifact_purge")["purged"] == 0
    assert door("artifact_fetch", id=stored, include_expired=True)["id"] == stored


@holds("3 compose: all or nothing; every artifact needs a text")
def test_a_cancelled_bundle_of_artifacts_stores_nothing(door: StoreDoor) -> None:
    put(door, "a", text="t")
    arguments = {"items": [{"name": "a"}], "store_as": {"name": "b", "kind": "k"}}
    with pytest.raises(MossError, match="cancelled") as caught:
        door.store.call("artifact_compose", arguments, cancelled=lambda: True)
    assert caught.value.code == "CANCELLED"
    assert listed_names(door) == ["a"]


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_an_expired_artifact_is_reported_as_expired_and_the_proposed_call_shows_it(
    door: StoreDoor, clock: Clock
) -> None:
    door("artifact_store", kind="k", data={"n": 1}, name="short", ttl_seconds=5)
    clock.advance(5)
    error = door.refuses("NOT_FOUND", "artifact_fetch", name="short")
    assert "expired" in error.message
    assert error.recovery is not None
    assert door(error.recovery["tool"], **error.recovery["arguments"])["data"] == {"n": 1}


@holds("decisions §0: recovery is one best next call that can be sent as it is")
@pytest.mark.parametrize("flags", [{}, {"include_deleted": True}, {"include_expired": True}])
@pytest.mark.parametrize("by", ["id", "name"])
def test_the_call_proposed_for_a_deleted_and_expired_artifact_shows_it(
    door: StoreDoor, clock: Clock, flags: dict[str, bool], by: str
) -> None:
    stored = door("artifact_store", kind="k", data={"n": 1}, name="short", ttl_seconds=5)
    door("artifact_delete", name="short")
    clock.advance(5)
    error = door.refuses("NOT_FOUND", "artifact_fetch", **{by: stored[by]}, **flags)
    assert error.recovery is not None
    assert door(error.recovery["tool"], **error.recovery["arguments"])["id"] == stored["id"]
