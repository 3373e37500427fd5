"""The seven built-in capabilities: fields, types, enumerations and times."""

from __future__ import annotations

from typing import Any

import pytest

from contract.records.archive import (
    ENUMS,
    FIELDS,
    IDENTITY,
    SAMPLES,
    SETS,
    TYPES,
    Archive,
    capability_of,
    fields_of,
    required_of,
    times_of,
    without,
)
from support.promises import holds

WRONG: dict[str, list[Any]] = {
    "string": [1, 1.5, True, [], {}, ["x"]],
    "time": [1, 1767175200, True, [], {}],
    "object": ["x", 1, True, [], [{}]],
    "array<string>": ["x", 1, True, {}],
    "array<object>": ["x", 1, True, {}],
}
WRONG_ITEMS: dict[str, list[Any]] = {
    "array<string>": [1, None, True, [], {}],
    "array<object>": ["x", 1, None, True, []],
}
TIMES = {
    "2025-12-31T10:00:00Z": "2025-12-31T10:00:00Z",
    "2025-12-31T10:00:00": "2025-12-31T10:00:00Z",
    "2025-12-31T10:00Z": "2025-12-31T10:00:00Z",
    "2025-12-31": "2025-12-31T00:00:00Z",
    "2024-02-29": "2024-02-29T00:00:00Z",
    "2025-12-31T23:30:00-02:00": "2026-01-01T01:30:00Z",
    "2025-12-31T10:00:00+05:30": "2025-12-31T04:30:00Z",
    "2025-12-31T10:00:00+00:00": "2025-12-31T10:00:00Z",
    "2025-12-31T10:00:00.250Z": "2025-12-31T10:00:00.25Z",
    "2025-12-31T10:00:00.123456Z": "2025-12-31T10:00:00.123456Z",
    "1969-07-20T20:17:40Z": "1969-07-20T20:17:40Z",
    "0001-01-01": "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z",
}
"""Accepted spellings of times, with their instants in UTC."""
NO_TIMES = [
    "", " ", "yesterday", "now", "1767175200", "2025", "2025-12", "31.12.2025", "12/31/2025", "2025-13-01",
    "2025-02-29", "2025-00-10", "0000-01-01", "2025-12-31T", "T10:00:00Z", "2025-12-31T25:00:00Z",
    "2025-12-31T10:60:00Z", "2025-12-31T10:00:61Z", "2025-12-31T10:00:00+25:00", "2025-12-31T10:00:00+01:75",
    "2025-12-31T10:00:00Zulu", "2025-12-31T10:00:00Z 2025-12-31T10:00:00Z", "2025-12-31Z", "-2025-12-31",
    "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
]  # fmt: skip


@holds("5 capabilities: seven, each with its fields")
@pytest.mark.parametrize("kind", TYPES)
def test_a_body_with_every_field_is_stored_unchanged(archive: Archive, kind: str) -> None:
    assert set(SAMPLES[kind]) == set(FIELDS[kind]), "the sample leaves a field out"
    archive.submit(kind)
    [record] = archive.records()
    assert (record["type"], record["properties"]) == (kind, SAMPLES[kind])


@holds("5 capabilities: seven, each with its fields")
@pytest.mark.parametrize("kind", TYPES)
def test_optional_fields_may_be_left_out_or_null(archive: Archive, kind: str) -> None:
    required = required_of(kind)
    optional = [name for name in FIELDS[kind] if name not in required]
    archive.submit(kind, body={name: SAMPLES[kind][name] for name in required})
    for name in optional:
        archive.submit(kind, body=without(kind, name))
        archive.submit(kind, **{name: None})
    assert len(archive.ids(type=kind)) == 1 + 2 * len(optional)


@holds("5 capabilities: seven, each with its fields")
@pytest.mark.parametrize("kind", TYPES)
def test_a_missing_or_null_required_field_is_refused_by_its_path(archive: Archive, kind: str) -> None:
    for name in required_of(kind):
        archive.refuses_at(f"body.{name}", kind, body=without(kind, name))
        archive.refuses_at(f"body.{name}", kind, **{name: None})


@holds("5 capabilities: seven, each with its fields")
@pytest.mark.parametrize("kind", TYPES)
def test_a_field_of_a_wrong_type_is_refused_by_its_path(timed: Archive, kind: str) -> None:
    for name, form in FIELDS[kind].items():
        for value in WRONG[form.rstrip("!")]:
            timed.refuses_at(f"body.{name}", kind, **{name: value})


@holds("5 capabilities: seven, each with its fields")
@pytest.mark.parametrize(("kind", "name"), fields_of("array<string>", "array<object>"))
def test_an_item_of_a_wrong_type_is_refused_by_its_path(timed: Archive, kind: str, name: str) -> None:
    form = FIELDS[kind][name]
    good = "x" if form == "array<string>" else {"x": 1}
    for value in WRONG_ITEMS[form]:
        timed.refuses_at(f"body.{name}[1]", kind, **{name: [good, value]})
    for items in ([], [good], [good, good]):
        timed.submit(kind, **{name: items})
        assert timed.records()[0]["properties"][name] == items


@holds("decisions §5: enumerations are validated")
@pytest.mark.parametrize(("kind", "name"), ENUMS)
def test_an_enumeration_accepts_only_its_values(archive: Archive, kind: str, name: str) -> None:
    for value in ENUMS[kind, name]:
        archive.submit(kind, **{name: value})
        assert archive.records()[0]["properties"][name] == value
    for value in ("", " ", "done", "unknown", ENUMS[kind, name][0].upper(), f" {ENUMS[kind, name][0]}"):
        error = archive.refuses_at(f"body.{name}", kind, **{name: value})
        assert all(allowed in error.message for allowed in ENUMS[kind, name])


@holds("5 capabilities: seven, each with its fields")
@pytest.mark.parametrize(("kind", "name"), [field for field in fields_of("string") if field not in ENUMS])
def test_a_field_without_enumeration_accepts_any_text(timed: Archive, kind: str, name: str) -> None:
    for value in ("done", "", "\u00c9t\u00e9 \U0001f33f\nsecond line", "x" * 20_000):
        timed.submit(kind, **{name: value})
        assert timed.records()[0]["properties"][name] == value


@holds("decisions §5: ISO 8601 times are validated and compared as instants")
@pytest.mark.parametrize(("kind", "name"), fields_of("time"))
def test_a_time_is_an_iso_8601_date_or_time(timed: Archive, kind: str, name: str) -> None:
    for text in TIMES:
        timed.submit(kind, **{name: text})
        assert timed.records()[0]["properties"][name] == text
    for text in NO_TIMES:
        timed.refuses_at(f"body.{name}", kind, **{name: text})


@holds("decisions §5: ISO 8601 times are validated and compared as instants")
@pytest.mark.parametrize(("text", "instant"), TIMES.items())
def test_a_time_is_an_instant_in_utc(archive: Archive, text: str, instant: str) -> None:
    archive.submit("agent_decision", timestamp=text)
    [event] = archive.events()
    assert event["event_timestamp"] == instant
    same = archive.submit("agent_decision", timestamp=instant)
    assert same["entity_id"] == archive.entity()["entity_id"]
    assert archive.events() == [event]


@holds("decisions §5: ISO 8601 times are validated and compared as instants")
def test_a_time_with_digits_of_other_scripts_is_refused(archive: Archive) -> None:
    for text in ("\uff12\uff10\uff12\uff15-12-31", "\u0662\u0660\u0662\u0665-12-31T10:00:00Z"):
        archive.refuses_at("body.timestamp", "agent_decision", timestamp=text)


@holds("decisions §5: unknown body fields are refused by name")
@pytest.mark.parametrize("kind", TYPES)
def test_an_unknown_field_is_refused_by_its_name_with_the_nearest(archive: Archive, kind: str) -> None:
    for name in FIELDS[kind]:
        misspelt = name + "x"
        error = archive.refuses_at(f"body.{misspelt}", kind, body={**without(kind), misspelt: SAMPLES[kind][name]})
        assert (error.details or {})["nearest"] == name
    for name in ("", " ", "workspace", "__class__", "ID", "body.id"):
        archive.refuses_at(f"body.{name}", kind, body={**SAMPLES[kind], name: "x"})
    archive.refuses_at("body.nonsense", kind, nonsense=None)


@holds("5 capabilities: seven, each with its fields")
def test_free_form_objects_store_every_json_value(archive: Archive) -> None:
    odd = {
        "": None,
        "n": [1, -1.5, 1e300, 2**53, True, [], {}],
        "deep": {"a": [{"b": [[None]]}]},
        "\u00e9 \U0001f33f": "x",
    }
    archive.submit("validation_result", details=odd)
    assert archive.records()[0]["properties"]["details"] == odd
    archive.submit("agent_session", actions=[odd, {}], checkpoints=[])
    shown = archive.records()[0]["properties"]
    assert (shown["actions"], shown["checkpoints"]) == ([odd, {}], [])


@holds("5 capabilities: seven, each with its fields")
def test_the_registry_matches_the_document(timed: Archive) -> None:
    listed = timed.door("record_capabilities")["capabilities"]
    assert {one["capability_id"]: one["entity_type"] for one in listed} == {capability_of(kind): kind for kind in TYPES}
    for one in listed:
        kind = one["entity_type"]
        assert set(one) == {"capability_id", "entity_type", "identity", "fields", "example"}
        assert all(
            {"type", "required"} <= set(field) <= {"type", "required", "enum", "set"}
            for field in one["fields"].values()
        )
        assert [name for name, field in one["fields"].items() if field.get("set")] == [
            name for name in FIELDS[kind] if name in SETS
        ]
        timed.door("submit_payload", capability_id=one["capability_id"], body=one["example"])
        assert tuple(one["identity"]) == IDENTITY[kind]
        assert list(one["fields"]) == list(FIELDS[kind])
        assert [name for name, field in one["fields"].items() if field.get("required")] == required_of(kind)
        assert [name for name, field in one["fields"].items() if field["type"] == "time"] == times_of(kind)
        assert {name: tuple(field["enum"]) for name, field in one["fields"].items() if "enum" in field} == {
            name: values for (owner, name), values in ENUMS.items() if owner == kind
        }


DECISION = {"decision": "rotate tokens", "rationale": "safer", "timestamp": "2026-05-04T09:00:00Z"}


@holds("5 errors: UNKNOWN_CAPABILITY, listing the known ones")
def test_an_unknown_capability_is_refused_with_the_list_of_the_known(archive: Archive) -> None:
    known = [capability_of(kind) for kind in TYPES]
    for unknown in ("", "feature", "neotoma:store_feature_unit:v2", "NEOTOMA:STORE_RELEASE:V1", known[0] + " "):
        error = archive.refuses("release", code="UNKNOWN_CAPABILITY", capability_id=unknown)
        assert error.status == 400
        assert (error.details or {})["known"] == sorted(known)
        assert all(one in error.message for one in known)


@holds("5 errors: UNKNOWN_CAPABILITY, listing the known ones")
def test_a_capability_is_found_by_its_type_and_a_misspelt_one_is_proposed(archive: Archive) -> None:
    call = {"capability_id": "agent_decision", "body": DECISION, "workspace": "shop"}
    first = archive.door("submit_payload", **call)
    full = archive.door("submit_payload", **{**call, "capability_id": "neotoma:store_agent_decision:v1"})
    assert (full["created"], full["payload_id"]) == (False, first["payload_id"])
    shown = archive.door("record_capabilities", capability_id="agent_decision")["capabilities"]
    assert [one["capability_id"] for one in shown] == ["neotoma:store_agent_decision:v1"]
    for misspelt in ("agent_decisions", "neotoma:store_agent_decision:v2"):
        error = archive.door.refuses("UNKNOWN_CAPABILITY", "submit_payload", **{**call, "capability_id": misspelt})
        assert (error.details or {})["nearest"] == "neotoma:store_agent_decision:v1"
        assert error.recovery is not None
        assert archive.door(error.recovery["tool"], **error.recovery["arguments"])["created"] is False
    far = archive.door.refuses("UNKNOWN_CAPABILITY", "submit_payload", **{**call, "capability_id": "widget"})
    assert far.recovery is not None
    assert far.recovery["tool"] == "record_capabilities"
    assert "nearest" not in (far.details or {})
