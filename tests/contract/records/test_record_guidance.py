"""Guidance of the record tools: all errors at once, relations between entities, filters by current values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.records.archive import SAMPLES, capability_of, required_of, without
from support.promises import holds

if TYPE_CHECKING:
    from contract.records.archive import Archive

TIMES = {"created_at": "2025-11-01T10:00:00Z", "updated_at": "2025-12-01T10:00:00Z"}


def unit(archive: Archive, id: str, status: str, **more: Any) -> str:
    """Submit a feature unit and return the id of its entity."""
    body = {"id": id, "description": f"What {id} does", "status": status, **TIMES, **more}
    submitted: str = archive.submit("feature_unit", body=body)["entity_id"]
    return submitted


@holds("decisions §10: submit_payload names all faults at once, and its recovery is the same call to be filled in")
def test_all_errors_of_a_payload_are_reported_at_once(archive: Archive) -> None:
    body = {"id": "FU-1", "status": "planing", "colour": "red", "dependencies": [1]}
    error = archive.refuses("feature_unit", body=body, provenance={"extracted_at": "soon"})
    errors = (error.details or {})["errors"]
    assert {one["path"] for one in errors} == {
        "body.colour", "body.status", "body.description", "body.created_at", "body.updated_at", "body.dependencies[0]",
        "provenance.extracted_at",
    }  # fmt: skip
    assert all(one["message"] for one in errors)
    [only] = (archive.refuses("release", body=without("release", "version")).details or {})["errors"]
    assert only["path"] == "body.version"


@holds("decisions §10: submit_payload names all faults at once, and its recovery is the same call to be filled in")
def test_the_recovery_is_a_template_of_the_call_and_is_refused_unchanged(archive: Archive) -> None:
    for kind in SAMPLES:
        given = {"capability_id": capability_of(kind), "body": {}, "workspace": "shop", "client_request_id": "r1"}
        recovery = archive.door.refuses("VALIDATION_ERROR", "submit_payload", **given).recovery
        assert recovery is not None
        assert recovery["tool"] == "submit_payload"
        body = recovery["arguments"]["body"]
        assert {**recovery["arguments"], "body": {}} == given
        assert list(body) == required_of(kind)
        assert all(value.startswith("(fill in: ") and value.endswith(")") for value in body.values())
        again = archive.door.refuses("VALIDATION_ERROR", recovery["tool"], **recovery["arguments"])
        assert {one["path"] for one in (again.details or {})["errors"]} == {f"body.{name}" for name in body}
        filled = {name: SAMPLES[kind][name] for name in body}
        archive.door("submit_payload", capability_id=given["capability_id"], body=filled)
    near = archive.refuses("release", body={**without("release", "version"), "verison": "1.4.0"}).recovery
    assert near is not None
    assert near["arguments"]["body"] == SAMPLES["release"]


@holds("decisions §10: submit_payload names all faults at once, and its recovery is the same call to be filled in")
def test_a_call_without_a_known_capability_proposes_the_list_of_capabilities(archive: Archive) -> None:
    for code, given in (
        ("VALIDATION_ERROR", {}),
        ("VALIDATION_ERROR", {"body": {}}),
        ("UNKNOWN_CAPABILITY", {"capability_id": "store_feature", "body": {}}),
    ):
        recovery = archive.door.refuses(code, "submit_payload", **given).recovery
        assert recovery is not None
        assert recovery["tool"] == "record_capabilities"
        assert len(archive.door(recovery["tool"], **recovery["arguments"])["capabilities"]) == len(SAMPLES)
    archive.door.refuses("UNKNOWN_CAPABILITY", "record_capabilities", capability_id="nothing")


@holds("decisions §10: submit_payload names all faults at once, and its recovery is the same call to be filled in")
def test_the_list_of_capabilities_keeps_its_budget(timed: Archive) -> None:
    whole = timed.door("record_capabilities")
    assert whole["truncated"] is False
    small = timed.door("record_capabilities", max_chars=1500)
    assert small["truncated"] is True
    assert 0 < len(small["capabilities"]) < len(whole["capabilities"])


@holds("decisions §10: retrieve_entities takes properties, compared with the snapshot, and relations")
def test_entities_are_filtered_by_current_values(archive: Archive) -> None:
    for status in ("planning", "in_progress", "completed"):
        unit(archive, "FU-061", status)
    unit(archive, "FU-062", "planning", dependencies=["FU-061"])

    def with_status(status: str, **more: Any) -> list[str]:
        found = archive.entities(entity_type="feature_unit", properties={"status": status}, **more)
        return [one["snapshot"]["id"] for one in found]

    assert with_status("planning") == ["FU-062"]
    assert with_status("in_progress") == []
    assert with_status("completed") == ["FU-061"]
    answer = archive.door("retrieve_entities", entity_type="feature_unit", properties={"status": "planning"})
    assert answer["pagination"]["total"] == 1
    assert [one["snapshot"]["id"] for one in archive.entities(properties={"dependencies": "FU-061"})] == ["FU-062"]
    assert archive.entities(properties={"updated_at": "2025-12-01T11:00:00+01:00", "id": "FU-061"})
    error = archive.door.refuses(
        "VALIDATION_ERROR", "retrieve_entities", entity_type="feature_unit", properties={"colour": "red"}
    )
    assert (error.details or {})["path"] == "properties.colour"


@holds("decisions §10: retrieve_entities takes properties, compared with the snapshot, and relations")
def test_entities_are_filtered_by_values_at_a_time(archive: Archive) -> None:
    body = {"id": "FU-061", "description": "d", **TIMES}
    for day, status in (("01", "planning"), ("03", "completed")):
        archive.submit(
            "feature_unit", body={**body, "status": status}, provenance={"extracted_at": f"2026-01-{day}T00:00:00Z"}
        )
    then = archive.entities(properties={"status": "planning"}, as_of="2026-01-02")
    assert [one["snapshot"]["status"] for one in then] == ["planning"]
    assert archive.entities(properties={"status": "completed"}, as_of="2026-01-02") == []


@holds("decisions §10: retrieve_entities takes properties, compared with the snapshot, and relations")
def test_a_superseded_record_is_marked(archive: Archive) -> None:
    unit(archive, "FU-061", "planning")
    unit(archive, "FU-061", "completed")
    assert [record.get("superseded") for record in archive.records(type="feature_unit")] == [None, True]


@holds("decisions §10: retrieve_entities takes properties, compared with the snapshot, and relations")
def test_relations_are_followed_in_both_directions(archive: Archive) -> None:
    base = unit(archive, "FU-060", "completed")
    own = unit(archive, "FU-061", "planning", dependencies=["FU-060", "FU-999"])
    decided = archive.submit("agent_decision", related_entities=["FU-061"])["entity_id"]
    release = archive.submit("release", feature_units=["fu-061", "FU-061"])["entity_id"]
    checked = archive.submit("validation_result", related_entity_id=own)["entity_id"]
    found = archive.entity(entity_id=own, relations=True)
    assert found["references"] == [
        {"field": "dependencies", "entity_id": base, "entity_type": "feature_unit", "title": "FU-060"}
    ]
    by = {(one["field"], one["entity_id"]) for one in found["referenced_by"]}
    assert by == {("related_entities", decided), ("feature_units", release), ("related_entity_id", checked)}
    decision = next(one for one in found["referenced_by"] if one["entity_id"] == decided)
    assert (decision["entity_type"], decision["title"]) == ("agent_decision", SAMPLES["agent_decision"]["decision"])
    assert [one["entity_id"] for one in archive.entity(entity_id=base, relations=True)["referenced_by"]] == [own]
    assert "references" not in archive.entity(entity_id=own)
    other = archive.submit("agent_decision", related_entities=["FU-061"], workspace="other")["entity_id"]
    assert archive.entity(entity_id=other, workspace="other", relations=True)["references"] == []


@holds("decisions §10: retrieve_entities takes properties, compared with the snapshot, and relations")
def test_searching_a_unit_finds_the_decision_about_it(archive: Archive) -> None:
    decided = archive.submit("agent_decision", related_entities=["FU-061"])["payload_id"]
    assert archive.words("FU-061") == [decided]
    hits = archive.door("moss_search", query="FU-061", search_mode="keyword")
    assert decided in str(hits)


@holds("decisions §10: a release takes date and notes")
def test_a_release_has_a_date_and_notes(archive: Archive) -> None:
    archive.submit("release")
    snapshot = archive.snapshot(entity_type="release")
    assert (snapshot["date"], snapshot["notes"]) == (SAMPLES["release"]["date"], SAMPLES["release"]["notes"])
    assert [one["event_timestamp"] for one in archive.events(event_type="release.released")] == [snapshot["date"]]


@holds("decisions §10: submit_payload names all faults at once, and its recovery is the same call to be filled in")
def test_an_impossible_value_is_reported_with_the_empty_list(archive: Archive) -> None:
    unit(archive, "FU-1", "planning")
    said = "no feature_unit can have this `status`; it is one of planning, in_progress, completed, deployed, deferred, "
    for tool, kind in (("retrieve_entities", "entity_type"), ("retrieve_records", "type")):
        asked = {kind: "feature_unit", "properties": {"status": "planned"}}
        assert archive.door(tool, **asked)["hint"] == f"{said}cancelled"
        for other in ({"status": "planning"}, {"status": "deployed"}, {"id": "FU-9"}):
            assert "hint" not in archive.door(tool, **{**asked, "properties": other})
        assert "hint" not in archive.door(tool, properties={"status": "planned"})
