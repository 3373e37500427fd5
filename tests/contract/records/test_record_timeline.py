"""`list_timeline_events`: one event for each date, newest first, without duplicates."""

from __future__ import annotations

from typing import Any

import pytest

from contract.doors import Clock, open_test_store
from contract.records.archive import EVENT_OF, SAMPLES, TYPES, Archive, capability_of, fields_of, times_of
from support.promises import holds


def listed_events(archive: Archive, **asked: Any) -> list[tuple[str, str]]:
    """Return the events of the timeline as pairs of type and time, in order."""
    return [(event["event_type"], event["event_timestamp"]) for event in archive.events(**asked)]


def at(archive: Archive, *times: str) -> list[str]:
    """Submit a decision at each of these times and return the ids of the records."""
    return [archive.submit("agent_decision", timestamp=time)["payload_id"] for time in times]


@holds("5 list_timeline_events: event_id, event_type, event_timestamp, source_record_id, entity_ids")
def test_an_event_has_the_documented_fields(archive: Archive) -> None:
    answer = archive.submit("agent_decision", workspace="Shop")
    [event] = archive.events()
    assert isinstance(event.pop("event_id"), str)
    assert event == {
        "event_type": "agent_decision.recorded",
        "event_timestamp": "2025-11-07T12:00:00Z",
        "source_record_id": answer["payload_id"],
        "entity_ids": [answer["entity_id"]],
        "workspace": "Shop",
    }


@holds("decisions §5: one event for every date field")
@pytest.mark.parametrize("kind", TYPES)
def test_every_date_of_a_body_is_one_event(archive: Archive, kind: str) -> None:
    assert times_of(kind)
    archive.submit(kind)
    expected = {(f"{kind}.{EVENT_OF[name]}", SAMPLES[kind][name]) for name in times_of(kind)}
    shown = listed_events(archive)
    assert set(shown) == expected
    assert len(shown) == len(expected)
    assert len({event["event_id"] for event in archive.events()}) == len(expected)


@holds("decisions §5: one event for every date field")
def test_two_dates_at_one_instant_are_two_events(archive: Archive) -> None:
    archive.submit("feature_unit", created_at="2025-12-01", updated_at="2025-12-01T01:00:00+01:00")
    assert sorted(listed_events(archive)) == [
        ("feature_unit.created", "2025-12-01T00:00:00Z"),
        ("feature_unit.updated", "2025-12-01T00:00:00Z"),
    ]


@holds("decisions §5: one event for every date field")
def test_a_date_that_is_missing_or_null_is_no_event(archive: Archive) -> None:
    body = {name: value for name, value in SAMPLES["agent_session"].items() if name != "ended_at"}
    archive.submit("agent_session", body=body)
    archive.submit("agent_session", ended_at=None)
    assert listed_events(archive) == [("agent_session.started", "2025-11-08T09:00:00Z")]


@holds("decisions §5: newest first, bounds inclusive, dates or times")
def test_events_are_listed_newest_first_by_their_own_time(archive: Archive) -> None:
    at(archive, "2025-12-02", "2025-12-01T23:00:00-02:00", "2025-12-03T00:00:00.5Z", "2025-12-02T00:00:00.000001Z")
    assert [time for _, time in listed_events(archive)] == [
        "2025-12-03T00:00:00.5Z", "2025-12-02T01:00:00Z", "2025-12-02T00:00:00.000001Z", "2025-12-02T00:00:00Z",
    ]  # fmt: skip


@holds("decisions §5: replays and repeated dates add no event")
def test_the_same_payload_again_adds_no_event(archive: Archive) -> None:
    archive.submit("feature_unit")
    before = archive.events()
    archive.submit("feature_unit", provenance={"agent_id": "someone", "extracted_at": "2020-01-01"})
    assert archive.events() == before


@holds("decisions §5: replays and repeated dates add no event")
def test_a_second_payload_with_the_same_date_adds_no_event_and_the_first_is_named(archive: Archive) -> None:
    first = archive.submit("feature_unit", provenance={"extracted_at": "2025-12-02"})
    second = archive.submit(
        "feature_unit",
        status="deployed",
        created_at="2025-11-03T10:00:00+01:00",
        updated_at="2025-11-20",
        provenance={"extracted_at": "2025-12-01"},
    )
    assert [
        (event["event_type"], event["event_timestamp"], event["source_record_id"]) for event in archive.events()
    ] == [
        ("feature_unit.updated", "2025-11-20T00:00:00Z", second["payload_id"]),
        ("feature_unit.updated", "2025-11-04T10:30:00Z", first["payload_id"]),
        ("feature_unit.created", "2025-11-03T09:00:00Z", first["payload_id"]),
    ]
    assert len(archive.events(source_record_id=second["payload_id"])) == 1


@holds("decisions §5: replays and repeated dates add no event")
def test_the_same_date_of_another_entity_is_another_event(archive: Archive) -> None:
    for identity in ("one", "two"):
        archive.submit("agent_session", session_id=identity)
    events = archive.events()
    assert len(events) == 4
    assert len({event["event_id"] for event in events}) == 4
    assert len({event["entity_ids"][0] for event in events}) == 2


@holds("decisions §5: replays and repeated dates add no event")
def test_an_event_has_the_same_id_in_every_store_and_workspace(timed: Archive, tmp_path: Any) -> None:
    for kind in TYPES:
        for workspace in ("one", "other"):
            timed.submit(kind, workspace=workspace)
    here = {event["event_id"] for event in timed.events(workspace="one")}
    assert {event["event_id"] for event in timed.events(workspace="other")} == here
    assert len(timed.events()) == 2 * len(here)
    with open_test_store(str(tmp_path / "elsewhere"), Clock(1)) as other:
        for kind in reversed(TYPES):
            other.call("submit_payload", {"capability_id": capability_of(kind), "body": SAMPLES[kind]})
        assert {event["event_id"] for event in other.call("list_timeline_events", {})["events"]} == here


@holds("decisions §5: newest first, bounds inclusive, dates or times")
def test_bounds_are_inclusive_and_compared_as_instants(archive: Archive) -> None:
    at(archive, "2025-12-01T10:00:00Z", "2025-12-01T10:00:00.000001Z", "2025-12-01T09:59:59.999999Z")
    last, middle, first = (time for _, time in listed_events(archive))
    for bounds, shown in (
        ({"after_date": "2025-12-01T10:00:00Z"}, [last, middle]),
        ({"before_date": "2025-12-01T10:00:00Z"}, [middle, first]),
        ({"after_date": "2025-12-01T11:00:00+01:00", "before_date": "2025-12-01T10:00"}, [middle]),
        ({"after_date": "2025-12-01T10:00:00.000001Z"}, [last]),
        ({"after_date": "2025-12-01T10:00:01Z", "before_date": "2025-12-01T09:00:00Z"}, []),
    ):
        assert [time for _, time in listed_events(archive, **bounds)] == shown


@holds("decisions §5: newest first, bounds inclusive, dates or times")
def test_a_date_as_bound_includes_the_whole_day(archive: Archive) -> None:
    at(archive, "2025-11-30T23:59:59.999999Z", "2025-12-01", "2025-12-01T23:59:59.999999Z", "2025-12-02")
    shown = listed_events(archive, after_date="2025-12-01", before_date="2025-12-01")
    assert [time for _, time in shown] == ["2025-12-01T23:59:59.999999Z", "2025-12-01T00:00:00Z"]
    assert len(listed_events(archive, before_date="2025-12-01")) == 3
    assert len(listed_events(archive, after_date="2025-12-01")) == 3


@holds("5 list_timeline_events: filters by type, record and entity")
@pytest.mark.parametrize(("kind", "name"), fields_of("time"))
def test_an_event_type_shows_its_events_only(archive: Archive, kind: str, name: str) -> None:
    for other in TYPES:
        archive.submit(other)
    wanted = f"{kind}.{EVENT_OF[name]}"
    assert listed_events(archive, event_type=wanted) == [(wanted, SAMPLES[kind][name])]


@holds("5 list_timeline_events: filters by type, record and entity")
def test_events_are_selected_by_record_entity_and_type_of_entity(archive: Archive) -> None:
    made = {kind: archive.submit(kind) for kind in TYPES}
    for kind, answer in made.items():
        count = len(times_of(kind))
        for asked in (
            {"source_record_id": answer["payload_id"]},
            {"entity_id": answer["entity_id"]},
            {"entity_type": kind},
            {"entity_type": kind, "entity_id": answer["entity_id"], "source_record_id": answer["payload_id"]},
        ):
            events = archive.events(**asked)
            assert len(events) == count
            assert {event["entity_ids"][0] for event in events} == {answer["entity_id"]}
    assert archive.events(entity_type="release", entity_id=made["feature_unit"]["entity_id"]) == []
    assert len(archive.events(entity_type="release", event_type="release.created", after_date="2025-11-05")) == 1


@holds("5 list_timeline_events: filters by type, record and entity")
def test_an_unknown_record_entity_or_type_is_an_empty_timeline(archive: Archive) -> None:
    archive.submit("release")
    for name in ("source_record_id", "entity_id", "entity_type", "event_type"):
        for unknown in ("nothing", "", "release", "release.%"):
            if (name, unknown) != ("entity_type", "release"):
                answer = archive.door("list_timeline_events", **{name: unknown})
                assert answer["events"] == []
                assert answer["pagination"]["total"] == 0


@holds("decisions §5: an optional workspace, default on submit, no filter on reads")
def test_events_of_all_workspaces_are_shown_unless_one_is_named(archive: Archive) -> None:
    for workspace in ("one", "other"):
        archive.submit("agent_decision", workspace=workspace)
    assert sorted(event["workspace"] for event in archive.events()) == ["one", "other"]
    assert [event["workspace"] for event in archive.events(workspace=" OTHER ")] == ["other"]
    assert archive.events(workspace="nowhere") == []


@holds("decisions §5: newest first, bounds inclusive, dates or times")
def test_pages_of_events_show_each_once_and_report_further_pages(archive: Archive) -> None:
    for number in range(7):
        archive.submit("agent_decision", decision=f"number {number}")
    archive.submit("release")
    shown = []
    for offset, more in ((0, True), (3, True), (6, False), (9, False)):
        answer = archive.door("list_timeline_events", event_type="agent_decision.recorded", limit=3, offset=offset)
        expected = {"limit": 3, "offset": offset, "has_more": more, "total": 7, "count": len(answer["events"])}
        assert answer["pagination"] == expected
        shown += [event["event_id"] for event in answer["events"]]
    assert len(set(shown)) == len(shown) == 7
