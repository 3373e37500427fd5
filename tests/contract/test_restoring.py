"""Restoring: one row by id or name, or all that match filters; existing rows are never replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import no_artifacts as no_artifacts
from contract.doors import FULL, Clock, StoreDoor
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

TYPES = ("capsule", "artifact")
WRITES: dict[str, dict[str, Any]] = {
    "capsule": {"capsule_text": FULL + "okapi"},
    "artifact": {"kind": "k", "data": {"n": 0}, "text": "okapi"},
}


def make(call: Door, type: str, name: str | None = "a", **fields: Any) -> str:
    made: str = call(f"{type}_store", name=name, **{**WRITES[type], **fields})["id"]
    return made


def gone(call: Door, type: str, name: str | None = "a", **fields: Any) -> str:
    """Create and delete a row."""
    made = make(call, type, name, **fields)
    call(f"{type}_delete", id=made)
    return made


def alive(call: Door, type: str) -> set[Any]:
    return {item["id"] for item in call("artifact_list" if type == "artifact" else "capsule_inventory")["items"]}


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_a_deleted_row_is_restored_unchanged_by_id_or_name(call: Door, type: str) -> None:
    made = make(call, type, "Auth", workspace="Shop", tags=["t"], phase="p")
    before = call(f"{type}_fetch", id=made)
    for address in ({"id": made}, {"workspace": "shop", "name": "AUTH"}):
        call(f"{type}_delete", id=made)
        answer = call(f"{type}_restore", **address)
        key = {f"moss_{type}": "Auth", "moss_workspace": "Shop"}
        assert answer == {"restored": True, "id": made, "fetch_key": key}
        after = call(f"{type}_fetch", workspace="shop", name="auth")
        assert {**after, "updated_at": 0} == {**before, "updated_at": 0}
    (hit,) = call("moss_search", query="okapi", search_mode="keyword")["items"]
    assert hit["id"] == made


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_restoring_an_active_row_is_refused(call: Door, type: str) -> None:
    made = make(call, type)
    before = call(f"{type}_fetch", id=made)
    for address in ({"id": made}, {"name": "a"}):
        call.refuses("CONFLICT", f"{type}_restore", **address)
    assert call(f"{type}_fetch", id=made) == before


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_a_restore_by_name_restores_the_most_recently_deleted_row(call: Door, type: str) -> None:
    ids = [gone(call, type) for _ in range(3)]
    assert call(f"{type}_restore", name="a")["id"] == ids[2]
    call(f"{type}_delete", name="a")
    call(f"{type}_restore", id=ids[0])
    call(f"{type}_delete", name="a")
    assert call(f"{type}_restore", name="a")["id"] == ids[0]


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_an_unnamed_row_is_restored_by_its_id(call: Door, type: str) -> None:
    made = gone(call, type, None)
    assert call(f"{type}_restore", id=made)["fetch_key"] == {"moss_id": made}


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_a_row_whose_name_is_taken_stays_deleted(call: Door, type: str) -> None:
    made = gone(call, type)
    owner = make(call, type)
    for address in ({"id": made}, {"name": "a"}):
        error = call.refuses("NAME_ALREADY_EXISTS", f"{type}_restore", **address)
        assert error.recovery is not None
        assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == owner
    call("moss_rename", type=type, name="a", new_name="b")
    assert call(f"{type}_restore", name="a")["id"] == made


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_a_restore_without_or_with_two_addresses_is_refused(call: Door, type: str) -> None:
    made = gone(call, type)
    call.refuses("INVALID_REQUEST", f"{type}_restore")
    call.refuses("INVALID_REQUEST", f"{type}_restore", workspace="default")
    call.refuses("AMBIGUOUS_ADDRESSING", f"{type}_restore", id=made, name="a")
    for address in ({"id": made}, {"name": "a"}, {"workspace": "default"}):
        call.refuses("AMBIGUOUS_ADDRESSING", f"{type}_restore", filters={"tag": "t"}, **address)
    call.refuses("NOT_FOUND", f"{type}_restore", name="nobody")
    call.refuses("NOT_FOUND", f"{type}_restore", id="nobody")


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"workspace": "SHOP"}, ["one", "two"]),
    ({"run_id": " r1 "}, ["one", "three"]),
    ({"phase": "p"}, ["one"]),
    ({"role": "o"}, ["two"]),
    ({"tag": "t"}, ["one", "two", "three"]),
    ({"tag": "T"}, []),
    ({"tag": "t", "workspace": "shop", "run_id": "r1"}, ["one"]),
    ({"deleted_after": 0}, ["one", "two", "three", "four"]),
    ({"deleted_after": 2**40}, []),
]


@holds("decisions §6: a restore takes at least one filter and names the skipped rows")
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(("filters", "expected"), FILTERS, ids=str)
def test_filters_restore_all_rows_that_match_every_filter(
    call: Door, type: str, filters: dict[str, Any], expected: list[str]
) -> None:
    gone(call, type, "one", workspace="Shop", run_id="r1", phase="p", tags=["t"])
    gone(call, type, "two", workspace="shop", run_id="r2", role="o", tags=["t", "u"])
    gone(call, type, "three", run_id="r1", tags=["t"])
    gone(call, type, "four")
    make(call, type, "there", workspace="shop", run_id="r1", tags=["t"])
    answer = call(f"{type}_restore", filters=filters)
    place = {"workspace": filters["workspace"]} if "workspace" in filters else {}
    assert answer == {"restored_count": len(expected), "skipped": [], **place}
    listed = call("artifact_list" if type == "artifact" else "capsule_inventory")["items"]
    assert {item["name"] for item in listed} == {*expected, "there"}


@holds("decisions §6: a restore takes at least one filter and names the skipped rows")
def test_each_family_has_the_filters_of_its_bulk_tools(call: Door) -> None:
    gone(call, "capsule", "auth-1")
    gone(call, "artifact", "auth-1", kind="finding")
    assert call("capsule_restore", filters={"name_prefix": "AUTH"})["restored_count"] == 1
    assert call("artifact_restore", filters={"kind": "finding"})["restored_count"] == 1
    call.refuses("INVALID_REQUEST", "capsule_restore", filters={"kind": "finding"})
    call.refuses("INVALID_REQUEST", "artifact_restore", filters={"name_prefix": "auth"})


@holds("decisions §6: a restore takes at least one filter and names the skipped rows")
@pytest.mark.parametrize("type", TYPES)
def test_filters_must_be_an_object_that_is_not_empty(call: Door, type: str) -> None:
    gone(call, type)
    assert call.refuses("FILTER_REQUIRED", f"{type}_restore", filters={}).status == 400
    call.refuses("FILTER_REQUIRED", f"{type}_restore", filters={"tag": None})
    mistakes: list[Any] = [[], "tag", {"tga": "t"}, {"tag": " "}, {"tag": 1}, {"deleted_after": "now"}, {"role": ""}]
    for wrong in mistakes:
        call.refuses("INVALID_REQUEST", f"{type}_restore", filters=wrong)


@holds("decisions §6: a restore takes at least one filter and names the skipped rows")
@pytest.mark.parametrize("type", TYPES)
def test_rows_with_a_taken_name_are_skipped_and_reported(call: Door, type: str) -> None:
    taken = gone(call, type, "taken")
    make(call, type, "taken")
    older, newer = gone(call, type, "twice"), gone(call, type, "Twice")
    needs_id_column = [gone(call, type, None) for _ in range(2)]
    answer = call(f"{type}_restore", filters={"workspace": "default"})
    assert answer["restored_count"] == 3
    assert sorted(skip["id"] for skip in answer["skipped"]) == sorted([taken, older])
    assert {skip["code"] for skip in answer["skipped"]} == {"NAME_ALREADY_EXISTS"}
    assert {newer, *needs_id_column} <= alive(call, type)
    assert not {taken, older} & alive(call, type)


@holds("decisions §6: a restore takes at least one filter and names the skipped rows")
@pytest.mark.parametrize("type", TYPES)
def test_a_bulk_delete_is_reverted_completely_and_in_order(door: StoreDoor, clock: Clock, type: str) -> None:
    gone(door, type, "before", run_id="r")
    clock.advance(10)
    for number in range(5):
        make(door, type, f"n{number}", run_id="r")
    before = door.names("artifact_list" if type == "artifact" else "capsule_inventory")
    begun = clock.seconds
    door(f"{type}_bulk_delete", run_id="r")
    clock.advance(10)
    assert door(f"{type}_restore", filters={"run_id": "r", "deleted_after": begun})["restored_count"] == 5
    assert door.names("artifact_list" if type == "artifact" else "capsule_inventory") == before


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
def test_an_expired_artifact_is_not_restored(door: StoreDoor, clock: Clock) -> None:
    kept = gone(door, "artifact", "a")
    expired = gone(door, "artifact", "a", ttl_seconds=10)
    clock.advance(10)
    error = door.refuses("NOT_FOUND", "artifact_restore", id=expired)
    assert "expired" in error.message
    assert error.recovery is not None
    assert door(error.recovery["tool"], **error.recovery["arguments"])["id"] == expired
    assert door("artifact_restore", name="a")["id"] == kept, "the most recently deleted one that still lives"
    door("artifact_delete", name="a")
    assert door("artifact_restore", filters={"workspace": "default"})["restored_count"] == 1
    assert alive(door, "artifact") == {kept}


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
def test_a_restored_artifact_takes_the_name_of_an_expired_one(door: StoreDoor, clock: Clock) -> None:
    first, second = gone(door, "artifact", "a"), gone(door, "artifact", "b")
    for name in ("a", "b"):
        make(door, "artifact", name, ttl_seconds=10)
    clock.advance(10)
    assert door("artifact_restore", name="a")["id"] == first
    assert door("artifact_restore", filters={"workspace": "default"})["restored_count"] == 1
    assert alive(door, "artifact") == {first, second}


@holds("decisions §6: a restore takes an id, or a name for the most recently deleted one")
@pytest.mark.parametrize("type", TYPES)
def test_the_error_of_a_deleted_row_proposes_its_restore(call: Door, type: str) -> None:
    made = gone(call, type)
    error = call.refuses("NOT_FOUND", f"{type}_fetch", name="a")
    assert error.recovery is not None
    assert error.recovery["tool"] == f"{type}_restore"
    assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == made
