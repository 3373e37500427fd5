"""What the documents promise of records that say what they want: all faults, relations, what holds now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.records.archive import SAMPLES, capability_of, required_of, without

if TYPE_CHECKING:
    from contract.records.archive import Archive

TIMES = {"created_at": "2025-11-01T10:00:00Z", "updated_at": "2025-12-01T10:00:00Z"}


def unit(archive: Archive, id: str, status: str, **more: Any) -> str:
    """Submits a feature unit and returns the id of its entity."""
    body = {"id": id, "description": f"What {id} does", "status": status, **TIMES, **more}
    submitted: str = archive.submit("feature_unit", body=body)["entity_id"]
    return submitted


def test_all_faults_of_a_payload_are_named_at_once(archive: Archive) -> None:
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


def test_the_recovery_is_the_same_call_to_be_filled_in_and_is_refused_as_it_is(archive: Archive) -> None:
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


def test_a_call_that_names_no_known_capability_leads_to_the_list_of_them(archive: Archive) -> None:
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


def test_the_list_of_capabilities_keeps_to_a_budget(timed: Archive) -> None:
    whole = timed.door("record_capabilities")
    assert whole["truncated"] is False
    small = timed.door("record_capabilities", max_chars=1500)
    assert small["truncated"] is True
    assert 0 < len(small["capabilities"]) < len(whole["capabilities"])


def test_entities_are_filtered_by_what_holds_now(archive: Archive) -> None:
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


def test_entities_are_filtered_by_what_held_then(archive: Archive) -> None:
    body = {"id": "FU-061", "description": "d", **TIMES}
    for day, status in (("01", "planning"), ("03", "completed")):
        archive.submit(
            "feature_unit", body={**body, "status": status}, provenance={"extracted_at": f"2026-01-{day}T00:00:00Z"}
        )
    then = archive.entities(properties={"status": "planning"}, as_of="2026-01-02")
    assert [one["snapshot"]["status"] for one in then] == ["planning"]
    assert archive.entities(properties={"status": "completed"}, as_of="2026-01-02") == []


def test_a_record_that_a_later_one_replaced_says_so(archive: Archive) -> None:
    unit(archive, "FU-061", "planning")
    unit(archive, "FU-061", "completed")
    assert [record.get("superseded") for record in archive.records(type="feature_unit")] == [None, True]


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


def test_searching_a_unit_finds_the_decision_about_it(archive: Archive) -> None:
    decided = archive.submit("agent_decision", related_entities=["FU-061"])["payload_id"]
    assert archive.words("FU-061") == [decided]
    hits = archive.door("moss_search", query="FU-061", search_mode="keyword")
    assert decided in str(hits)


def test_a_release_has_a_date_and_notes(archive: Archive) -> None:
    archive.submit("release")
    snapshot = archive.snapshot(entity_type="release")
    assert (snapshot["date"], snapshot["notes"]) == (SAMPLES["release"]["date"], SAMPLES["release"]["notes"])
    assert [one["event_timestamp"] for one in archive.events(event_type="release.released")] == [snapshot["date"]]


def test_a_value_that_nothing_can_have_is_told_beside_the_empty_list(archive: Archive) -> None:
    unit(archive, "FU-1", "planning")
    said = "no feature_unit can have this `status`; it is one of planning, in_progress, completed, deployed, deferred, "
    for tool, kind in (("retrieve_entities", "entity_type"), ("retrieve_records", "type")):
        asked = {kind: "feature_unit", "properties": {"status": "planned"}}
        assert archive.door(tool, **asked)["hint"] == f"{said}cancelled"
        for other in ({"status": "planning"}, {"status": "deployed"}, {"id": "FU-9"}):
            assert "hint" not in archive.door(tool, **{**asked, "properties": other})
        assert "hint" not in archive.door(tool, properties={"status": "planned"})
