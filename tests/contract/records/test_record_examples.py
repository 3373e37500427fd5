"""The requests in the record documentation return the documented answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from contract.records.archive import Archive, without
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

SUBMITTED = """
{
  "capability_id": "neotoma:store_feature_unit:v1",
  "body": {
    "id": "FU-061",
    "description": "Add codebase metadata schema extensions",
    "status": "completed",
    "dependencies": ["FU-060"],
    "risk_level": "low",
    "created_at": "2025-12-31T10:00:00Z",
    "updated_at": "2025-12-31T15:30:00Z"
  },
  "provenance": {
    "source_refs": [],
    "extracted_at": "2025-12-31T15:30:00Z",
    "extractor_version": "neotoma-mcp:v0.2.3",
    "agent_id": "cursor-agent"
  }
}
"""
BY_STATUS = '{"type": "feature_unit", "properties": {"status": "completed"}, "limit": 20}'
RELEASES = '{"type": "release", "limit": 10}'
SESSIONS = '{"type": "agent_session", "properties": {"outcomes": "success"}, "limit": 50}'
SEARCHED = '{"type": "codebase_entity", "search": ["authentication", "auth"], "search_mode": "both", "limit": 10}'
UNIT_ENTITIES = '{"entity_type": "feature_unit", "limit": 20, "include_snapshots": true}'
RELEASE_ENTITIES = '{"entity_type": "release", "limit": 10}'
OF_A_RECORD = '{"source_record_id": "record-uuid-for-feature-unit", "limit": 50}'
RECENT = '{"after_date": "2025-12-01T00:00:00Z", "limit": 100}'


def send(archive: Archive, tool: str, request: str) -> dict[str, Any]:
    return archive.door(tool, **json.loads(request))


@pytest.fixture
def filled(archive: Archive) -> tuple[Archive, dict[str, Any]]:
    """Return an archive with a matching and another record for every example, and the first answer."""
    answer = send(archive, "submit_payload", SUBMITTED)
    archive.submit("feature_unit")
    archive.submit("release")
    archive.submit("agent_session")
    archive.submit("agent_session", session_id="failed", outcomes="failure")
    for name in ("Authentication gate", "auth", "Key ring"):
        archive.submit("codebase_entity", body={**without("codebase_entity", "description", "location"), "name": name})
    archive.submit("agent_decision", decision="Trust the authentication of the gate")
    return archive, answer


@holds("5 example request: recorded unchanged")
def test_the_example_of_a_submission_is_recorded(archive: Archive) -> None:
    answer = send(archive, "submit_payload", SUBMITTED)
    assert answer["created"] is True
    request = json.loads(SUBMITTED)
    [record] = archive.records(ids=[answer["payload_id"]])
    assert (record["type"], record["properties"]) == ("feature_unit", request["body"])
    entity = archive.entity(include_provenance=True)
    assert (entity["snapshot"], entity["observation_count"]) == (request["body"], 1)
    assert entity["provenance"]["status"] == {
        "payload_submission_id": answer["payload_submission_id"],
        "source_record_id": answer["payload_id"],
        "observed_at": "2025-12-31T15:30:00Z",
        "agent_id": "cursor-agent",
        "source_refs": [],
        "extractor_version": "neotoma-mcp:v0.2.3",
    }
    assert send(archive, "submit_payload", SUBMITTED)["created"] is False


@holds("5 example request: recorded unchanged")
def test_the_request_of_the_fallback_example_is_recorded(archive: Archive) -> None:
    request = json.loads(SUBMITTED)
    request["provenance"] = {
        "source_refs": [], "extracted_at": "2025-12-31T15:30:00.000Z", "extractor_version": "neotoma-mcp:v0.2.3",
    }  # fmt: skip
    first = archive.door("submit_payload", **request)
    again = send(archive, "submit_payload", SUBMITTED)
    assert (again["payload_id"], again["created"]) == (first["payload_id"], False)


@holds("5 query examples: return the described records")
def test_the_examples_of_queries_find_the_matching_records(filled: tuple[Archive, dict[str, Any]]) -> None:
    archive, answer = filled
    [unit] = send(archive, "retrieve_records", BY_STATUS)["records"]
    assert unit["id"] == answer["payload_id"]
    [release] = send(archive, "retrieve_records", RELEASES)["records"]
    assert release["type"] == "release"
    [session] = send(archive, "retrieve_records", SESSIONS)["records"]
    assert session["properties"]["session_id"] == "session-7"


@holds("5 query examples: return the described records")
def test_the_example_of_a_search_finds_both_words_first(filled: tuple[Archive, dict[str, Any]]) -> None:
    archive, _ = filled
    found = send(archive, "retrieve_records", SEARCHED)["records"]
    assert {record["properties"]["name"] for record in found[:2]} == {"Authentication gate", "auth"}
    assert {record["type"] for record in found} == {"codebase_entity"}


@holds("5 query examples: return the described records")
def test_the_examples_of_entity_queries_find_the_matching_entities(filled: tuple[Archive, dict[str, Any]]) -> None:
    archive, answer = filled
    units = send(archive, "retrieve_entities", UNIT_ENTITIES)["entities"]
    assert [(one["entity_type"], one["snapshot"]["id"]) for one in units] == [
        ("feature_unit", "FU-100"), ("feature_unit", "FU-061"),
    ]  # fmt: skip
    assert units[1]["entity_id"] == answer["entity_id"]
    [release] = send(archive, "retrieve_entities", RELEASE_ENTITIES)["entities"]
    assert (release["entity_type"], release["snapshot"]["version"]) == ("release", "1.4.0")


@holds("5 query examples: return the described records")
def test_the_examples_of_timelines_return_events(filled: tuple[Archive, dict[str, Any]]) -> None:
    archive, answer = filled
    assert send(archive, "list_timeline_events", OF_A_RECORD)["events"] == []
    asked = {**json.loads(OF_A_RECORD), "source_record_id": answer["payload_id"]}
    expected = [("feature_unit.updated", "2025-12-31T15:30:00Z"), ("feature_unit.created", "2025-12-31T10:00:00Z")]
    shown = archive.events(**asked)
    assert [(event["event_type"], event["event_timestamp"]) for event in shown] == expected
    assert send(archive, "list_timeline_events", RECENT)["events"] == shown


@holds("5 example request: recorded unchanged")
def test_a_memory_file_can_be_submitted_and_verified_as_documented_for_migration(timed: Archive, clock: Clock) -> None:
    body = json.loads(SUBMITTED)["body"]
    answer = timed.submit("feature_unit", body=body)
    clock.advance(60)
    [record] = timed.records(type="feature_unit", properties={"id": "FU-061"})
    assert (record["id"], record["properties"]) == (answer["payload_id"], body)
