"""`submit_payload`: deduplicated records, counted observations, idempotent requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from contract.doors import START_MS, Clock, open_test_store
from contract.records.archive import EARLY, LATE, SAMPLES, TYPES, Archive, capability_of, without
from support.direct_store import dump, rows
from support.promises import holds

if TYPE_CHECKING:
    from pathlib import Path

DECISION = without("agent_decision", "context")
"""A body that is also valid for an architectural decision."""
OTHER_CONTENT: dict[str, dict[str, Any]] = {
    "another value": {"description": "Sign tokens with another key"},
    "another case": {"description": SAMPLES["feature_unit"]["description"].upper()},
    "one item more": {"dependencies": ["FU-090", "FU-091"]},
    "another order of items": {"dependencies": ["FU-091", "FU-090"]},
    "a field less": {"body": without("feature_unit", "risk_level")},
    "a null": {"risk_level": None},
    "the same instant spelled otherwise": {"created_at": "2025-11-03T10:00:00+01:00"},
    "another source": {"provenance": {"source_refs": ["ticket"]}},
    "another extractor": {"provenance": {"extractor_version": "v2"}},
}


@holds("5 submit_payload: answers payload_id, payload_content_id, payload_submission_id, created and message")
def test_a_submission_returns_the_documented_fields(archive: Archive) -> None:
    answer = archive.submit("feature_unit")
    assert set(answer) == {
        "payload_id", "payload_content_id", "payload_submission_id", "created", "message", "entity_id", "workspace",
        "created_workspace",
    }  # fmt: skip
    assert UUID(answer["payload_id"]).version == 5
    assert UUID(answer["payload_submission_id"]).version == 7
    assert len(answer["payload_content_id"]) >= 32
    assert answer["created"] is True
    assert answer["message"].strip()
    assert answer["workspace"] == "default"


@holds("decisions §5: a submitted record is shown at once by record, entity and time")
@pytest.mark.parametrize("kind", TYPES)
def test_a_submission_is_visible_at_once_to_every_read(archive: Archive, kind: str) -> None:
    answer = archive.submit(kind)
    [record] = archive.records(ids=[answer["payload_id"]])
    assert (record["type"], record["properties"]) == (kind, SAMPLES[kind])
    entity = archive.entity(entity_type=kind)
    assert (entity["entity_id"], entity["snapshot"]) == (answer["entity_id"], SAMPLES[kind])
    events = archive.events(source_record_id=answer["payload_id"])
    assert events
    assert all(event["entity_ids"] == [answer["entity_id"]] for event in events)


@holds("5 submit_payload: answers payload_id, payload_content_id, payload_submission_id, created and message")
def test_a_submission_id_carries_the_time_of_arrival(timed: Archive, clock: Clock) -> None:
    for _ in range(3):
        clock.advance(1.234)
        assert UUID(timed.submit("release")["payload_submission_id"]).int >> 80 == clock.ms


@holds("decisions §5: a record is one distinct payload")
def test_the_same_content_again_is_the_same_record_and_one_more_observation(archive: Archive) -> None:
    first, again = archive.submit("feature_unit"), archive.submit("feature_unit")
    assert (first["created"], again["created"]) == (True, False)
    for name in ("payload_id", "payload_content_id", "entity_id", "workspace"):
        assert again[name] == first[name]
    assert again["payload_submission_id"] != first["payload_submission_id"]
    assert archive.ids() == [first["payload_id"]]
    assert archive.entity()["observation_count"] == 2


@holds("decisions §5: a record is one distinct payload")
def test_another_actor_or_time_creates_no_new_record(archive: Archive) -> None:
    first = archive.submit("feature_unit")
    for said in (
        {"provenance": {"agent_id": "someone"}},
        {"provenance": {"extracted_at": "2025-12-31T15:30:00Z"}},
        {"client_request_id": "r-1"},
    ):
        again = archive.submit("feature_unit", **said)
        assert (again["payload_id"], again["created"]) == (first["payload_id"], False)
    assert archive.entity()["observation_count"] == 4


@holds("decisions §5: a record is one distinct payload")
def test_the_order_of_keys_and_of_sources_creates_no_new_record(archive: Archive) -> None:
    body = SAMPLES["validation_result"]
    first = archive.submit("validation_result", provenance={"source_refs": ["a", "b"]})
    details = dict(reversed(body["details"].items()))
    turned = dict(reversed({**body, "details": details}.items()))
    assert list(turned) != list(body)
    again = archive.submit("validation_result", body=turned, provenance={"source_refs": ["b", "a"]})
    assert (again["payload_id"], again["created"]) == (first["payload_id"], False)


@holds("decisions §5: a record is one distinct payload")
@pytest.mark.parametrize("change", OTHER_CONTENT.values(), ids=OTHER_CONTENT)
def test_other_content_is_another_record_of_the_same_entity(archive: Archive, change: dict[str, Any]) -> None:
    first, other = archive.submit("feature_unit"), archive.submit("feature_unit", **change)
    assert other["created"] is True
    assert other["payload_content_id"] != first["payload_content_id"]
    assert other["payload_id"] != first["payload_id"]
    assert other["entity_id"] == first["entity_id"]
    assert archive.ids() == [other["payload_id"], first["payload_id"]]


@holds("decisions §5: a record is one distinct payload")
def test_the_same_body_of_another_capability_is_another_record(archive: Archive) -> None:
    one, other = (archive.submit(kind, body=DECISION) for kind in ("agent_decision", "architectural_decision"))
    assert one["payload_content_id"] != other["payload_content_id"]
    assert one["entity_id"] != other["entity_id"]
    assert len(archive.ids()) == 2


@holds("decisions §5: provenance is optional, its fields too")
def test_provenance_and_each_of_its_fields_are_optional(archive: Archive) -> None:
    whole = {"source_refs": [], "extracted_at": "2025-12-31T15:30:00Z", "extractor_version": "v1", "agent_id": "a"}
    for name in whole:
        archive.submit("release", provenance={key: value for key, value in whole.items() if key != name})
        archive.submit("release", provenance={name: whole[name]})
        archive.submit("release", provenance={name: None})
    archive.submit("release", provenance=whole)
    archive.submit("release", provenance=None)
    assert archive.entity()["observation_count"] == 14
    assert len(archive.ids()) == 2, "only the extractor makes a difference"


@holds("decisions §5: provenance is optional, its fields too")
def test_no_provenance_is_the_same_as_an_empty_one(archive: Archive) -> None:
    answers = [archive.submit("release")]
    empty: list[Any] = [None, {}, {"source_refs": []}, {"source_refs": None}]
    answers += [archive.submit("release", provenance=provenance) for provenance in empty]
    assert len({answer["payload_id"] for answer in answers}) == 1


@holds("decisions §5: content ids and entity ids are the same in every store")
def test_content_and_entity_ids_are_the_same_in_every_store(timed: Archive, tmp_path: Path) -> None:
    with open_test_store(str(tmp_path / "elsewhere"), Clock(START_MS + 12_345)) as other:
        for kind in TYPES:
            here = timed.submit(kind)
            sent = {"capability_id": capability_of(kind), "body": SAMPLES[kind], "provenance": {"agent_id": "b"}}
            there = other.call("submit_payload", sent)
            for name in ("payload_id", "payload_content_id", "entity_id"):
                assert there[name] == here[name]
            assert there["payload_submission_id"] != here["payload_submission_id"]


@holds("decisions §5: content ids and entity ids are the same in every store")
def test_content_and_entity_ids_do_not_change_from_one_version_to_the_next(timed: Archive) -> None:
    answer = timed.submit("feature_unit", provenance={"source_refs": ["b", "a"], "extractor_version": "v1"})
    assert answer["payload_content_id"] == "5c630a4b6f6763cb1aa8bac4d937b22c111c0a878cf845f8177f86325ec7c55f"
    assert answer["payload_id"] == "ffb059cd-1edd-568d-b354-bcb09b6268e9"
    assert {kind: timed.submit(kind)["entity_id"] for kind in TYPES} == {
        "feature_unit": "ent_53c4d9d7b934701098b7214bd99df7e9",
        "release": "ent_a4d15a2566349537079091d426bee5e3",
        "agent_decision": "ent_27773c671bd27e990e5ef9a9ec95f9d0",
        "agent_session": "ent_d7526cb08a05cd55e63e47a4e12e2956",
        "validation_result": "ent_8a14464dda1dcce1a1ad8687b76ee572",
        "codebase_entity": "ent_f15ff29e9e66ae63b5932da19122ab2a",
        "architectural_decision": "ent_ef6c0c8d8fd3c69e9fc07a512b90c444",
    }
    [event] = timed.events(entity_type="agent_decision")
    assert event["event_id"] == "evt_e1a1beaf432531a110d6f24480b005b5"


@holds("decisions §5: hashes do not contain the workspace; everything else is per workspace")
def test_record_ids_depend_on_the_workspace_and_content_and_entity_ids_do_not(archive: Archive) -> None:
    one, other = (archive.submit("feature_unit", workspace=name) for name in ("one", "other"))
    assert (one["created"], other["created"]) == (True, True)
    assert one["payload_content_id"] == other["payload_content_id"]
    assert one["entity_id"] == other["entity_id"]
    assert one["payload_id"] != other["payload_id"]


@holds("decisions §5: hashes do not contain the workspace; everything else is per workspace")
def test_records_of_two_workspaces_are_isolated(archive: Archive) -> None:
    archive.submit("feature_unit", workspace="one", provenance=EARLY)
    archive.submit("feature_unit", workspace="other", provenance=LATE, status="deployed", dependencies=["FU-080"])
    for name, status, needed in (("one", "in_progress", "FU-090"), ("other", "deployed", "FU-080")):
        entity = archive.entity(workspace=name)
        assert (entity["workspace"], entity["observation_count"]) == (name, 1)
        assert (entity["snapshot"]["status"], entity["snapshot"]["dependencies"]) == (status, [needed])
        [record] = archive.records(workspace=name)
        assert (record["workspace"], record["properties"]["status"]) == (name, status)
        events = archive.events(workspace=name)
        assert [(event["workspace"], event["source_record_id"]) for event in events] == [(name, record["id"])] * 2


@holds("decisions §5: an optional workspace, default on submit, no filter on reads")
def test_a_workspace_is_compared_normalized_and_default_when_left_out(archive: Archive) -> None:
    first = archive.submit("release", workspace="  Caf\u00e9   Shop ")
    again = archive.submit("release", workspace="cafe\u0301 SHOP")
    assert (again["payload_id"], again["created"]) == (first["payload_id"], False)
    assert archive.entity(workspace="CAF\u00c9 shop")["observation_count"] == 2
    left_out, named = archive.submit("release"), archive.submit("release", workspace="Default")
    assert (named["payload_id"], named["created"]) == (left_out["payload_id"], False)


@holds("decisions §5: an optional workspace, default on submit, no filter on reads")
def test_a_bad_workspace_is_refused_by_every_tool(archive: Archive) -> None:
    for bad in ("", "  ", "a\nb", "x" * 257):
        archive.refuses_at("workspace", "release", workspace=bad)
        for tool in ("retrieve_records", "retrieve_entities", "list_timeline_events"):
            error = archive.door.refuses("VALIDATION_ERROR", tool, workspace=bad)
            assert (error.details or {})["path"] == "workspace"


@holds("decisions §5: a repeated client_request_id gets the first answer and writes nothing")
def test_a_repeated_request_gets_its_first_answer_and_adds_no_observation(archive: Archive) -> None:
    first = archive.submit("feature_unit", client_request_id="r-1")
    other = archive.submit("feature_unit")
    for said in ({}, {"provenance": {"agent_id": "b", "extracted_at": "2020-01-01"}}):
        assert archive.submit("feature_unit", client_request_id="r-1", **said) == first
    assert first["created"] is True
    assert other["created"] is False
    assert archive.entity()["observation_count"] == 2


@holds("decisions §5: a repeated client_request_id gets the first answer and writes nothing")
def test_a_repeated_request_writes_nothing(archive: Archive) -> None:
    archive.submit("feature_unit", client_request_id="r-1")
    before = dump(archive.home)
    archive.submit("feature_unit", client_request_id="r-1")
    assert dump(archive.home) == before


@holds("decisions §5: the same client_request_id with other content is refused")
def test_a_request_id_used_for_other_content_is_refused(archive: Archive) -> None:
    first = archive.submit("feature_unit", client_request_id="r-1")
    for other in (
        {"status": "deployed"},
        {"provenance": {"source_refs": ["x"]}},
        {"provenance": {"extractor_version": "v9"}},
        {"id": "FU-101"},
    ):
        archive.refuses_at("client_request_id", "feature_unit", client_request_id="r-1", **other)
    archive.refuses_at("client_request_id", "release", client_request_id="r-1")
    assert archive.submit("feature_unit", client_request_id="r-1") == first


@holds("decisions §5: a repeated client_request_id gets the first answer and writes nothing")
def test_request_ids_are_of_their_workspace(archive: Archive) -> None:
    one = archive.submit("feature_unit", client_request_id="r-1", workspace="one")
    other = archive.submit("feature_unit", client_request_id="r-1", workspace="other", status="deployed")
    assert one["payload_submission_id"] != other["payload_submission_id"]
    assert archive.submit("feature_unit", client_request_id="r-1", workspace=" ONE ") == one


@holds("decisions §0: one event a write, never the text")
def test_every_submission_writes_one_event_without_its_body(archive: Archive) -> None:
    answers = [archive.submit("agent_decision"), archive.submit("agent_decision"), archive.submit("release")]
    for tool in ("retrieve_records", "retrieve_entities", "list_timeline_events"):
        archive.door(tool)
    events = rows(archive.home, "select tool, address, payload, workspace from events order by seq")
    assert [event[:2] for event in events] == [("submit_payload", answer["payload_id"]) for answer in answers]
    assert "leaked" not in str(events)
    assert {workspace for *_, workspace in events} == {"default"}


@holds("5 retrieve_records: a record has id, type, properties, created_at and updated_at")
def test_a_record_is_created_at_its_arrival_and_updated_by_the_last_observation(timed: Archive, clock: Clock) -> None:
    timed.submit("release")
    clock.advance(61.5)
    timed.submit("release")
    [record] = timed.records()
    assert (record["created_at"], record["updated_at"]) == ("2030-03-17T17:46:40.000Z", "2030-03-17T17:47:41.500Z")
    clock.advance(-3600)
    timed.submit("release")
    assert timed.records() == [record], "the time of a change fell"
