"""`retrieve_entities`: identity, snapshots, the source of each field, and earlier states."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from contract.records.archive import (
    EARLY,
    IDENTITY,
    LATE,
    SAMPLES,
    SETS,
    TYPES,
    Archive,
    fields_of,
    other_value,
    without,
    without_nulls,
)
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

FIRST, SECOND, THIRD = ({"extracted_at": f"2025-12-0{day}T12:00:00Z"} for day in (1, 2, 3))
NOTHING: dict[str, Any] = {
    "entities": [],
    "pagination": {"limit": 100, "offset": 0, "has_more": False, "total": 0, "count": 0},
}
SPELLED = {
    "id": [" fu-100 ", "FU-100", "Fu-100\n"],
    "session_id": ["SESSION-7", "session-7 "],
    "decision": ["Caf\u00e9  today", "cafe\u0301 TODAY", " caf\u00c9 today"],
    "name": ["Key  Ring", "key ring", "KEY\tRING"],
    "validation_type": ["Test", "test", " TEST "],
    "related_entity_id": ["FU-100", "fu-100 "],
    "timestamp": ["2025-11-07T12:00:00Z", "2025-11-07T13:00:00+01:00", "2025-11-07T12:00", "2025-11-07T12:00:00.000Z"],
}
"""Other spellings of the same identity, by field."""
DIFFERENT: dict[str, list[Any]] = {
    "id": ["FU-101", "FU100", "FU 100", ""],
    "session_id": ["session 7", "session-70"],
    "decision": ["Rotate the key every day", "Rotatethekeyeveryweek"],
    "name": ["Keyring", "Key-ring"],
    "type": ["subsystem", "pattern"],
    "validation_type": ["lint", "test  2"],
    "related_entity_id": [None, "", "FU-101"],
    "timestamp": ["2025-11-07T12:00:01Z", "2025-11-07T12:00:00+01:00", "2025-11-07", "2025-11-07T12:00:00.001Z"],
}
"""Values of an identity field that give a different entity."""


@holds("5 retrieve_entities: entity_id, entity_type, snapshot, observation_count")
def test_an_entity_has_the_documented_fields(archive: Archive) -> None:
    answer = archive.submit("feature_unit", workspace="Shop")
    assert archive.entity() == {
        "entity_id": answer["entity_id"],
        "entity_type": "feature_unit",
        "workspace": "Shop",
        "snapshot": SAMPLES["feature_unit"],
        "observation_count": 1,
    }


@holds("5 retrieve_entities: entity_id, entity_type, snapshot, observation_count")
def test_snapshots_are_shown_by_default(archive: Archive) -> None:
    archive.submit("release")
    assert archive.entity(include_snapshots=True) == archive.entity()
    assert set(archive.entity(include_snapshots=False)) == {
        "entity_id",
        "entity_type",
        "workspace",
        "observation_count",
    }


@holds("5 retrieve_entities: filters by type, limit and offset")
def test_an_entity_type_shows_its_entities_only(archive: Archive) -> None:
    made = {kind: archive.submit(kind)["entity_id"] for kind in TYPES}
    for kind in TYPES:
        assert archive.entity(entity_type=kind)["entity_id"] == made[kind]
    for unknown in ("", "nothing", "Release"):
        assert archive.door("retrieve_entities", entity_type=unknown) == NOTHING


@holds("5 retrieve_entities: filters by type, limit and offset")
def test_an_entity_is_found_by_its_id(archive: Archive) -> None:
    made = archive.submit("release")["entity_id"]
    archive.submit("release", id="v2")
    assert archive.entity(entity_id=made)["snapshot"] == SAMPLES["release"]
    assert archive.entities(entity_id=made, entity_type="feature_unit") == []
    assert archive.entities(entity_id="nothing") == []


@holds("5 retrieve_entities: filters by type, limit and offset")
def test_entities_come_newest_first_by_their_first_arrival(timed: Archive, clock: Clock) -> None:
    made = []
    for number in range(3):
        clock.advance(-60)
        made.append(timed.submit("release", id=f"v{number}")["entity_id"])
    timed.submit("release", id="v0", status="deployed")
    assert [entity["entity_id"] for entity in timed.entities()] == made[::-1]


@holds("5 retrieve_entities: filters by type, limit and offset")
def test_pages_of_entities_show_each_once_and_report_further_pages(archive: Archive) -> None:
    for number in range(7):
        archive.submit("release", id=f"v{number}")
    archive.submit("feature_unit")
    shown = []
    for offset, more in ((0, True), (3, True), (6, False), (9, False)):
        answer = archive.door("retrieve_entities", entity_type="release", limit=3, offset=offset)
        expected = {"limit": 3, "offset": offset, "has_more": more, "total": 7, "count": len(answer["entities"])}
        assert answer["pagination"] == expected
        shown += [entity["snapshot"]["id"] for entity in answer["entities"]]
    assert shown == [f"v{number}" for number in range(6, -1, -1)]


@holds("decisions §5: an optional workspace, default on submit, no filter on reads")
def test_entities_of_all_workspaces_are_shown_unless_one_is_named(archive: Archive) -> None:
    for name in ("one", "other"):
        archive.submit("release", workspace=name, status="deployed" if name == "one" else "planning")
    assert [entity["workspace"] for entity in archive.entities()] == ["other", "one"]
    assert archive.entity(workspace=" ONE ")["snapshot"]["status"] == "deployed"
    assert archive.entities(workspace="nowhere") == []


@holds("decisions §5: identity is declared per capability and normalized as names are")
@pytest.mark.parametrize("kind", TYPES)
def test_spellings_of_one_identity_are_the_same_entity(archive: Archive, kind: str) -> None:
    for field in IDENTITY[kind]:
        same = [archive.submit(kind, **{field: text})["entity_id"] for text in SPELLED.get(field, ())]
        assert len(set(same)) <= 1, f"{field} splits what is the same"
    assert archive.entities()[0]["observation_count"] > 1


@holds("decisions §5: identity is declared per capability and normalized as names are")
@pytest.mark.parametrize("kind", TYPES)
def test_every_part_of_an_identity_distinguishes_entities(archive: Archive, kind: str) -> None:
    made = {archive.submit(kind)["entity_id"]}
    expected = 1
    for field in IDENTITY[kind]:
        for value in DIFFERENT[field]:
            made.add(archive.submit(kind, **{field: value})["entity_id"])
            expected += 1
            assert len(made) == expected, f"{field} = {value!r} is taken for another entity"
    assert len(archive.entities()) == expected


@holds("decisions §5: identity is declared per capability and normalized as names are")
@pytest.mark.parametrize("kind", TYPES)
def test_fields_outside_the_identity_create_no_other_entity(archive: Archive, kind: str) -> None:
    made = {archive.submit(kind)["entity_id"]}
    others = [name for name in SAMPLES[kind] if name not in IDENTITY[kind]]
    for name in others:
        made.add(archive.submit(kind, **{name: other_value(kind, name)})["entity_id"])
    assert len(made) == 1
    assert archive.entity()["observation_count"] == 1 + len(others)
    assert len(archive.ids()) == 1 + len(others)


@holds("decisions §5: identity is declared per capability and normalized as names are")
def test_a_missing_part_is_not_an_empty_one_and_a_null_is_a_missing_one(archive: Archive) -> None:
    body = without("validation_result", "related_entity_id")
    missing = archive.submit("validation_result", body=body)["entity_id"]
    assert archive.submit("validation_result", related_entity_id=None)["entity_id"] == missing
    empty = archive.submit("validation_result", related_entity_id="")["entity_id"]
    assert archive.submit("validation_result", related_entity_id="  ")["entity_id"] == empty
    assert archive.submit("validation_result", related_entity_id="null")["entity_id"] not in (missing, empty)
    assert missing != empty


@holds("decisions §5: identity is declared per capability and normalized as names are")
def test_things_of_different_types_are_never_one_entity(archive: Archive) -> None:
    for identity in ("X", ""):
        unit = archive.submit("feature_unit", id=identity)["entity_id"]
        assert archive.submit("release", id=identity)["entity_id"] != unit
        assert archive.submit("agent_session", session_id=identity)["entity_id"] != unit


@holds("decisions §5: snapshots fold observations by observed time, then content, then submission")
def test_the_latest_observed_time_wins_regardless_of_arrival(archive: Archive) -> None:
    archive.submit("feature_unit", status="completed", risk_level="high", provenance=LATE)
    archive.submit("feature_unit", status="planning", description="An earlier word", provenance=EARLY)
    entity = archive.entity()
    assert entity["snapshot"] == {**SAMPLES["feature_unit"], "status": "completed", "risk_level": "high"}
    assert entity["observation_count"] == 2


@holds("decisions §5: observed time is extracted_at when given, else arrival")
def test_without_an_extraction_time_the_arrival_counts(timed: Archive, clock: Clock) -> None:
    timed.submit("release", status="in_progress")
    timed.submit("release", status="planning", provenance=LATE)
    assert timed.snapshot()["status"] == "in_progress"
    clock.advance(-1)
    timed.submit("release", status="completed")
    assert timed.snapshot()["status"] == "in_progress", "an observation of before came out on top"
    clock.advance(2)
    timed.submit("release", status="deployed")
    assert timed.snapshot()["status"] == "deployed"


@holds("decisions §5: observed time is extracted_at when given, else arrival")
def test_the_last_arrival_in_one_millisecond_wins(timed: Archive) -> None:
    for number in range(8):
        for status in ("planning", "in_progress", "completed", "planning", "deployed"):
            timed.submit("release", id=f"v{number}", status=status)
        entity = timed.entity(entity_id=timed.entities()[0]["entity_id"])
        assert (entity["snapshot"]["status"], entity["observation_count"]) == ("deployed", 5)


@holds("decisions §5: observed time is extracted_at when given, else arrival")
def test_extraction_times_are_compared_as_instants(archive: Archive) -> None:
    archive.submit("release", status="deployed", provenance={"extracted_at": "2025-12-01T01:00:00Z"})
    archive.submit("release", status="planning", provenance={"extracted_at": "2025-12-01T01:30:00+01:00"})
    assert archive.snapshot()["status"] == "deployed"
    archive.submit("release", status="completed", provenance={"extracted_at": "2025-12-01"})
    assert archive.snapshot()["status"] == "deployed", "a date is its first moment"
    archive.submit("release", status="in_progress", provenance={"extracted_at": "2025-12-01T01:00:00.000001Z"})
    assert archive.snapshot()["status"] == "in_progress"


@holds("decisions §5: snapshots fold observations by observed time, then content, then submission")
def test_of_observations_at_one_instant_the_larger_content_id_wins(archive: Archive) -> None:
    for workspace, order in zip("abcdef", permutations(("planning", "completed", "deployed")), strict=True):
        said = {
            archive.submit("release", status=status, provenance=EARLY, workspace=workspace)[
                "payload_content_id"
            ]: status
            for status in order
        }
        assert archive.snapshot(workspace=workspace)["status"] == said[max(said)]


@holds("decisions §5: a field that is omitted keeps its value, an explicit null clears it")
def test_a_field_that_is_left_out_keeps_its_value_and_a_null_clears_it(archive: Archive) -> None:
    archive.submit("feature_unit", provenance=FIRST)
    body = without("feature_unit", "risk_level", "dependencies")
    archive.submit("feature_unit", body=body, provenance=SECOND)
    assert archive.snapshot() == SAMPLES["feature_unit"]
    cleared = {**body, "risk_level": None, "dependencies": None}
    archive.submit("feature_unit", body=cleared, provenance=THIRD)
    assert archive.snapshot() == body == without_nulls(cleared)
    assert set(archive.entity(include_provenance=True)["provenance"]) == set(body)


@holds("decisions §5: a field that is omitted keeps its value, an explicit null clears it")
def test_a_null_clears_only_earlier_values(archive: Archive) -> None:
    archive.submit("feature_unit", risk_level="high", dependencies=["c", "a"], provenance=THIRD)
    archive.submit("feature_unit", risk_level=None, dependencies=None, provenance=SECOND)
    archive.submit("feature_unit", risk_level="low", dependencies=["a", "b"], provenance=FIRST)
    assert archive.snapshot()["risk_level"] == "high"
    assert sorted(archive.snapshot()["dependencies"]) == ["a", "c"]


@holds("decisions §5: set-valued fields are merged, snapshots are flat")
def test_the_set_valued_fields_match_the_decisions() -> None:
    assert {name for _, name in fields_of("array<string>")} == set(SETS)


@holds("decisions §5: set-valued fields are merged, snapshots are flat")
@pytest.mark.parametrize(("kind", "name"), fields_of("array<string>"))
def test_sets_are_merged_each_item_once_in_the_order_of_observation(archive: Archive, kind: str, name: str) -> None:
    archive.submit(kind, **{name: ["c", "d", "c"]}, provenance=SECOND)
    archive.submit(kind, **{name: ["b", "c", "b"]}, provenance=FIRST)
    archive.submit(kind, **{name: []}, provenance=THIRD)
    archive.submit(kind, body=without(kind, name), provenance=THIRD)
    assert archive.snapshot()[name] == ["b", "c", "d"]


class Counted(str):
    """A string that counts comparisons of its instances."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@holds("decisions §5: set-valued fields are merged, snapshots are flat")
def test_no_item_of_a_large_set_is_compared_with_every_other(timed: Archive) -> None:
    many = [[Counted(f"{letter}{number}") for number in range(2_000)] for letter in "ab"]
    timed.submit("feature_unit", dependencies=many[0], provenance=FIRST)
    Counted.comparisons = 0
    timed.submit("feature_unit", dependencies=many[1], provenance=SECOND)
    assert Counted.comparisons < 10 * 2_000
    assert timed.snapshot()["dependencies"] == [*many[0], *many[1]]


@holds("decisions §5: set-valued fields are merged, snapshots are flat")
@pytest.mark.parametrize(("kind", "name"), fields_of("array<object>", "object"))
def test_other_arrays_and_objects_are_replaced_as_a_whole(archive: Archive, kind: str, name: str) -> None:
    listed = isinstance(SAMPLES[kind][name], list)
    one, other = {"a": 1, "b": {"c": 2}}, {"b": {"d": 3}}
    archive.submit(kind, **{name: [other] if listed else other}, provenance=SECOND)
    archive.submit(kind, **{name: [one, one] if listed else one}, provenance=FIRST)
    assert archive.snapshot()[name] == ([other] if listed else other)


@holds("decisions §5: snapshots fold observations by observed time, then content, then submission")
def test_any_order_of_arrival_gives_the_same_snapshot(timed: Archive) -> None:
    bodies: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({"status": "planning", "dependencies": ["a"], "risk_level": "high"}, FIRST),
        ({"status": "in_progress", "dependencies": ["b", "a"], "risk_level": None}, SECOND),
        ({"status": "completed", "dependencies": ["c"]}, SECOND),
        ({"body": without("feature_unit", "dependencies", "risk_level"), "status": "deployed"}, THIRD),
    ]
    shown = []
    for number, order in enumerate(permutations(bodies)):
        for said, provenance in order:
            timed.submit("feature_unit", **said, provenance=provenance, workspace=f"w{number}")
        entity = timed.entity(workspace=f"w{number}")
        assert entity["observation_count"] == 4
        shown.append(entity["snapshot"])
    assert all(snapshot == shown[0] for snapshot in shown)
    assert shown[0]["status"] == "deployed"
    assert sorted(shown[0]["dependencies"]) == ["a", "b", "c"]


@holds("5 include_provenance: shows the observation of every field")
def test_every_field_has_its_source_observation(archive: Archive) -> None:
    early = {**FIRST, "agent_id": "one", "source_refs": ["b", "a"], "extractor_version": "v1"}
    first = archive.submit("feature_unit", provenance=early)
    late = {**SECOND, "agent_id": "two"}
    second = archive.submit(
        "feature_unit", body=without("feature_unit", "risk_level"), provenance=late, status="deployed"
    )
    entity = archive.entity(include_provenance=True)
    assert set(entity["provenance"]) == set(entity["snapshot"])
    assert entity["provenance"]["risk_level"] == {
        "payload_submission_id": first["payload_submission_id"],
        "source_record_id": first["payload_id"],
        "observed_at": "2025-12-01T12:00:00Z",
        "agent_id": "one",
        "source_refs": ["b", "a"],
        "extractor_version": "v1",
    }
    assert entity["provenance"]["status"] == {
        "payload_submission_id": second["payload_submission_id"],
        "source_record_id": second["payload_id"],
        "observed_at": "2025-12-02T12:00:00Z",
        "agent_id": "two",
        "source_refs": [],
        "extractor_version": None,
    }
    assert "provenance" not in archive.entity()
    assert set(archive.entity(include_provenance=True, include_snapshots=False)["provenance"]) == set(
        entity["snapshot"]
    )


@holds("5 include_provenance: shows the observation of every field")
def test_an_observation_without_an_extraction_time_shows_its_arrival(timed: Archive, clock: Clock) -> None:
    clock.advance(0.25)
    timed.submit("release")
    shown = timed.entity(include_provenance=True)["provenance"]
    assert {origin["observed_at"] for origin in shown.values()} == {"2030-03-17T17:46:40.25Z"}


@holds("5 include_provenance: shows the observation of every field")
def test_a_value_repeated_later_has_the_newer_source(archive: Archive) -> None:
    archive.submit("release", provenance=FIRST)
    again = archive.submit("release", provenance={**SECOND, "agent_id": "two"})
    shown = archive.entity(include_provenance=True)["provenance"]
    assert {origin["payload_submission_id"] for origin in shown.values()} == {again["payload_submission_id"]}
    archive.submit("release", provenance=FIRST)
    assert archive.entity(include_provenance=True)["provenance"] == shown


@holds("5 as_of: shows the snapshot at a time")
def test_as_of_shows_the_state_of_an_entity_at_a_time(archive: Archive) -> None:
    answers = [
        archive.submit("feature_unit", provenance=provenance, **changed)
        for provenance, changed in (
            (THIRD, {"status": "deployed", "dependencies": ["c"]}),
            (FIRST, {"status": "planning", "dependencies": ["a"], "risk_level": "high"}),
            (SECOND, {"status": "completed", "dependencies": ["b"], "risk_level": None}),
        )
    ]
    for moment, count, status, needed in (
        ("2025-12-01T12:00:00Z", 1, "planning", ["a"]),
        ("2025-12-02T11:59:59.999999Z", 1, "planning", ["a"]),
        ("2025-12-02T13:00:00+01:00", 2, "completed", ["a", "b"]),
        ("2025-12-03T12:00:00Z", 3, "deployed", ["a", "b", "c"]),
        ("9999-12-31", 3, "deployed", ["a", "b", "c"]),
    ):
        entity = archive.entity(as_of=moment, include_provenance=True)
        assert entity["observation_count"] == count
        assert (entity["snapshot"]["status"], entity["snapshot"]["dependencies"]) == (status, needed)
        assert ("risk_level" in entity["snapshot"]) == (count != 2)
        source = answers[(1, 2, 0)[count - 1]]
        assert entity["provenance"]["status"]["payload_submission_id"] == source["payload_submission_id"]
    assert archive.entity(as_of="2025-12-03T12:00:00Z") == archive.entity()


@holds("5 as_of: shows the snapshot at a time")
def test_as_of_a_date_is_the_end_of_that_day(archive: Archive) -> None:
    archive.submit("release", status="planning", provenance={"extracted_at": "2025-12-01T23:59:59.999999Z"})
    archive.submit("release", status="deployed", provenance={"extracted_at": "2025-12-02T00:00:00Z"})
    assert archive.snapshot(as_of="2025-12-01")["status"] == "planning"
    assert archive.snapshot(as_of="2025-12-02")["status"] == "deployed"
    assert archive.door("retrieve_entities", as_of="2025-11-30") == NOTHING


@holds("5 as_of: shows the snapshot at a time")
def test_as_of_omits_entities_of_later_arrival(archive: Archive) -> None:
    archive.submit("release", id="first", provenance=FIRST)
    archive.submit("release", id="third", provenance=THIRD)
    archive.submit("feature_unit", provenance=SECOND)
    archive.submit("feature_unit", provenance=FIRST)
    for moment, known in (
        ("2025-11-30", []),
        ("2025-12-01", ["FU-100", "first"]),
        ("2025-12-02", ["FU-100", "first"]),
        ("2025-12-03", ["FU-100", "third", "first"]),
    ):
        answer = archive.door("retrieve_entities", as_of=moment)
        assert [entity["snapshot"].get("id") for entity in answer["entities"]] == known
        assert answer["pagination"]["total"] == len(known)
        assert len(archive.entities(as_of=moment, entity_type="release")) == len(
            [one for one in known if "FU" not in one]
        )


@holds("5 as_of: shows the snapshot at a time")
def test_pages_of_the_past_show_each_entity_once(archive: Archive) -> None:
    for number in range(6):
        archive.submit("release", id=f"v{number}", provenance=FIRST if number % 2 else THIRD)
    shown = []
    for offset, more in ((0, True), (2, False)):
        answer = archive.door("retrieve_entities", as_of="2025-12-02", limit=2, offset=offset)
        expected = {"limit": 2, "offset": offset, "has_more": more, "total": 3, "count": len(answer["entities"])}
        assert answer["pagination"] == expected
        shown += [entity["snapshot"]["id"] for entity in answer["entities"]]
    assert shown == ["v5", "v3", "v1"]


@holds("5 as_of: shows the snapshot at a time")
def test_as_of_uses_the_arrival_if_there_is_no_extraction_time(timed: Archive, clock: Clock) -> None:
    timed.submit("release", status="planning")
    clock.advance(10)
    timed.submit("release", status="deployed")
    assert timed.snapshot(as_of="2030-03-17T17:46:49.999Z")["status"] == "planning"
    assert timed.snapshot(as_of="2030-03-17T17:46:50Z")["status"] == "deployed"
    assert timed.entities(as_of="2030-03-17T17:46:39.999Z") == []


@holds("decisions §5: ISO 8601 times are validated and compared as instants")
def test_an_invalid_time_is_refused_with_its_path(archive: Archive) -> None:
    for wrong in ("", "yesterday", "2025-02-30", "2025-12-31T25:00:00Z"):
        for tool, name in (
            ("retrieve_entities", "as_of"),
            ("list_timeline_events", "after_date"),
            ("list_timeline_events", "before_date"),
        ):
            error = archive.door.refuses("VALIDATION_ERROR", tool, **{name: wrong})
            assert (error.details or {})["path"] == name
        archive.refuses_at("provenance.extracted_at", "release", provenance={"extracted_at": wrong})


@holds("5 design: queries are idempotent")
def test_a_repeated_read_returns_the_same_and_writes_nothing(archive: Archive) -> None:
    for kind in TYPES:
        archive.submit(kind)
    for tool in ("retrieve_records", "retrieve_entities", "list_timeline_events"):
        before = dump(archive.home)
        assert archive.door(tool) == archive.door(tool)
        assert dump(archive.home) == before
