"""User-defined capabilities: files that are checked, marked as the user's, and reported if they are invalid."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from contract.records.archive import EARLY, LATE, SAMPLES, TYPES, Archive, capability_of
from support.promises import holds

OFFER: dict[str, Any] = {
    "capability_id": "shop:offer:v1",
    "entity_type": "offer",
    "fields": {
        "sku": {"type": "string", "required": True, "search": True},
        "words": {"type": "text", "search": True},
        "price": {"type": "number"},
        "open": {"type": "boolean"},
        "state": {"type": "string", "enum": ["draft", "sent"]},
        "tags": {"type": "array<string>", "set": True},
        "notes": {"type": "array<string>"},
        "lines": {"type": "array<object>"},
        "extra": {"type": "object"},
        "sent_at": {"type": "time", "event": "sent"},
        "seen_at": {"type": "time"},
    },
    "identity": ["sku"],
    "title": "sku",
}
BODY: dict[str, Any] = {
    "sku": "A-1", "words": "a walrus", "price": 9.5, "open": True, "state": "draft", "tags": ["x"], "notes": ["n"],
    "lines": [{"n": 1}], "extra": {"a": None}, "sent_at": "2025-12-01", "seen_at": "2025-12-02",
}  # fmt: skip


def changed(**keys: Any) -> dict[str, Any]:
    """Return the capability with some keys changed, which makes its file invalid."""
    return {name: value for name, value in {**OFFER, **keys}.items() if value is not ...}


def field(**form: Any) -> dict[str, Any]:
    """Return the capability with one more field."""
    return changed(fields={**OFFER["fields"], "odd": form})


BAD: dict[str, Any] = {
    "no JSON": b"{", "nothing": b"", "no Unicode": b"\xff\xfe\x00", "a list": [OFFER], "a number": 5, "null": None,
    "nested too deep": b'{"a":' * 100_000, "NaN": b'{"capability_id": NaN}', "empty object": {},
    **{f"without {name}": changed(**{name: ...}) for name in OFFER},
    "an unknown key": changed(extra=1), "no id": changed(capability_id=""), "blank type": changed(entity_type=" "),
    "id is a number": changed(capability_id=5), "a long id": changed(capability_id="x" * 129),
    "no fields": changed(fields={}), "fields are a list": changed(fields=["sku"]), "no identity": changed(identity=[]),
    "identity is a string": changed(identity="sku"), "identity of numbers": changed(identity=[1]),
    "identity is no field": changed(identity=["sku", "none"]), "identity is an array": changed(identity=["tags"]),
    "identity is an object": changed(identity=["extra"]), "title is no field": changed(title="none"),
    "title is null": changed(title=None),
    "a field without a type": field(required=True), "an unknown type": field(type="date"),
    "a type in a list": field(type=["string"]),
    "a field is a string": changed(fields={**OFFER["fields"], "odd": "string"}),
    "an unknown key of a field": field(type="string", unique=True),
    "required is a string": field(type="string", required="yes"),
    "enum is a string": field(type="string", enum="a"), "enum is empty": field(type="string", enum=[]),
    "enum of numbers": field(type="string", enum=[1]), "a set of no array": field(type="string", set=True),
    "a set of objects": field(type="array<object>", set=True), "an event of no time": field(type="string", event="e"),
    "an event without a name": field(type="time", event=""), "an event is a flag": field(type="time", event=True),
    "a built-in id": changed(capability_id=capability_of("release")),
    "an enumeration of numbers that no number can meet": field(type="number", enum=["1", "2"]),
    "an enumeration that an array would not keep to": field(type="array<string>", enum=["a"]),
}  # fmt: skip


def offer(archive: Archive, **said: Any) -> dict[str, Any]:
    return archive.submit("offer", capability_id="shop:offer:v1", **{"body": BODY, **said})


@holds("decisions §5: users add capabilities as files")
def test_a_file_in_the_folder_of_capabilities_is_a_capability(archive: Archive) -> None:
    archive.refuses("offer", code="UNKNOWN_CAPABILITY", capability_id="shop:offer:v1", body=BODY)
    archive.add_capability("offer.json", OFFER)
    answer = offer(archive)
    [record] = archive.records(type="offer", properties={"open": True})
    assert (record["id"], record["properties"]) == (answer["payload_id"], BODY)
    assert archive.entity(entity_type="offer")["snapshot"] == BODY
    assert [(event["event_type"], event["event_timestamp"]) for event in archive.events()] == [
        ("offer.sent", "2025-12-01T00:00:00Z")
    ], "an event comes of every date that the file names one for, and of no other"
    assert archive.words("walrus") == [answer["payload_id"]]


@holds("decisions §5: users add capabilities as files")
def test_a_users_capability_is_checked_like_the_built_in_ones(archive: Archive) -> None:
    archive.add_capability("offer.json", OFFER)
    for path, wrong in (
        ("body.sku", {"sku": None}),
        ("body.price", {"price": "9.5"}),
        ("body.price", {"price": True}),
        ("body.open", {"open": 1}),
        ("body.state", {"state": "lost"}),
        ("body.tags[1]", {"tags": ["a", 1]}),
        ("body.lines[0]", {"lines": ["a"]}),
        ("body.extra", {"extra": []}),
        ("body.seen_at", {"seen_at": "soon"}),
        ("body.colour", {"colour": "red"}),
    ):
        archive.refuses_at(path, "offer", capability_id="shop:offer:v1", body=BODY, **wrong)
    error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", type="offer", properties={"colour": "red"})
    assert (error.details or {})["path"] == "properties.colour"


@holds("decisions §5: users add capabilities as files")
def test_sets_and_arrays_of_a_users_capability_are_merged_as_its_file_declares(archive: Archive) -> None:
    archive.add_capability("offer.json", OFFER)
    offer(archive, tags=["b"], notes=["b"], provenance=LATE)
    offer(archive, tags=["a"], notes=["a"], provenance=EARLY)
    snapshot = archive.snapshot()
    assert (snapshot["tags"], snapshot["notes"]) == (["a", "b"], ["b"])


@holds("decisions §5: users add capabilities as files")
def test_a_changed_file_takes_effect_at_the_next_call(archive: Archive) -> None:
    archive.add_capability("offer.json", OFFER)
    offer(archive)
    archive.add_capability("offer.json", field(type="string", required=True))
    archive.refuses_at("body.odd", "offer", capability_id="shop:offer:v1", body=BODY)
    offer(archive, odd="x")
    os.unlink(os.path.join(archive.home, "capabilities", "offer.json"))
    archive.refuses("offer", code="UNKNOWN_CAPABILITY", capability_id="shop:offer:v1", body=BODY)
    assert len(archive.ids(type="offer")) == 2
    assert archive.entity()["observation_count"] == 2


@holds("decisions §5: users add capabilities as files")
def test_current_and_past_snapshots_survive_the_removal_of_their_capability(archive: Archive) -> None:
    archive.add_capability("offer.json", OFFER)
    offer(archive, tags=["a"], provenance=EARLY)
    offer(archive, tags=["b"], provenance=LATE)
    shown = archive.entity(include_provenance=True)
    assert shown["snapshot"]["tags"] == ["a", "b"]
    assert archive.entity(include_provenance=True, as_of="2999-12-31") == shown
    os.unlink(os.path.join(archive.home, "capabilities", "offer.json"))
    assert archive.entity(include_provenance=True) == shown
    assert archive.entity(include_provenance=True, as_of="2999-12-31") == shown


@holds("decisions §5: users add capabilities as files")
def test_capabilities_of_one_type_share_entities(archive: Archive) -> None:
    archive.add_capability("offer.json", OFFER)
    other = changed(capability_id="shop:price:v1", fields={"sku": {"type": "string"}, "price": {"type": "number"}})
    archive.add_capability("price.json", other)
    first = offer(archive, provenance=EARLY)
    submission = {"capability_id": "shop:price:v1", "body": {"sku": "a-1", "price": 4}}
    second = archive.submit("offer", **submission, provenance=LATE)
    assert second["entity_id"] == first["entity_id"]
    assert archive.snapshot() == {**BODY, "sku": "a-1", "price": 4}
    assert archive.ids(type="offer", properties={"price": 4}) == [second["payload_id"]]


@holds("5 capability files: an invalid file is named, the others still work")
@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_an_invalid_file_is_reported_with_its_error_and_the_others_work(timed: Archive, content: Any) -> None:
    timed.add_capability("bad.json", content if isinstance(content, bytes) else json.dumps(content).encode())
    timed.add_capability("good.json", changed(capability_id="shop:good:v1"))
    shown = timed.door("record_capabilities")
    [problem] = shown["problems"]
    assert problem["file"].endswith(os.path.join("capabilities", "bad.json"))
    assert problem["message"].strip()
    known = [one["capability_id"] for one in shown["capabilities"]]
    assert known == sorted([*map(capability_of, TYPES), "shop:good:v1"])
    error = timed.refuses("offer", code="UNKNOWN_CAPABILITY", capability_id="shop:offer:v1", body=BODY)
    assert "bad.json" in error.message
    assert problem["message"] in error.message
    assert (error.details or {})["known"] == known
    timed.submit("offer", capability_id="shop:good:v1", body=BODY)
    timed.submit("release")


@holds("5 capability files: an invalid file is named, the others still work")
def test_invalid_files_are_reported_through_every_interface(archive: Archive) -> None:
    for number, content in enumerate(list(BAD.values())[:6]):
        archive.add_capability(
            f"bad{number}.json", content if isinstance(content, bytes) else json.dumps(content).encode()
        )
    archive.add_capability("offer.json", OFFER)
    error = archive.refuses("offer", code="UNKNOWN_CAPABILITY", capability_id="shop:none:v1", body=BODY)
    assert all(f"bad{number}.json" in error.message for number in range(6))
    offer(archive)
    archive.submit("release")


@holds("decisions §5: users add capabilities as files")
def test_a_user_capability_is_marked_as_such(timed: Archive) -> None:
    timed.add_capability("offer.json", OFFER)
    shown = timed.door("record_capabilities")
    assert "problems" not in shown
    [own] = [one for one in shown["capabilities"] if one["capability_id"] == OFFER["capability_id"]]
    assert (own["entity_type"], own["identity"], list(own["fields"])) == (
        OFFER["entity_type"], OFFER["identity"], list(OFFER["fields"]),
    )  # fmt: skip
    [alone] = timed.door("record_capabilities", capability_id=OFFER["capability_id"])["capabilities"]
    assert alone == own
    timed.door("submit_payload", capability_id=OFFER["capability_id"], body=own["example"])


@holds("5 capability files: an invalid file is named, the others still work")
def test_the_second_of_two_files_with_one_id_is_reported_and_ignored(timed: Archive) -> None:
    timed.add_capability("a.json", OFFER)
    timed.add_capability("b.json", field(type="string", required=True))
    [problem] = timed.door("record_capabilities")["problems"]
    assert problem["file"].endswith("b.json")
    offer(timed)


@holds("5 capability files: an invalid file is named, the others still work")
def test_a_built_in_capability_cannot_be_replaced(archive: Archive) -> None:
    archive.add_capability("release.json", changed(capability_id=capability_of("release")))
    archive.refuses_at("body.sku", "release", body=BODY)
    archive.submit("release")
    assert archive.records()[0]["properties"] == SAMPLES["release"]


@holds("5 capability files: an invalid file is named, the others still work")
def test_other_files_in_the_capability_folder_are_ignored(timed: Archive, tmp_path: Any) -> None:
    folder = os.path.join(timed.home, "capabilities")
    os.makedirs(os.path.join(folder, "folder.json"))
    os.mkfifo(os.path.join(folder, "pipe.json"))
    os.symlink("/dev/zero", os.path.join(folder, "zero.json"))
    os.symlink(str(tmp_path / "nowhere"), os.path.join(folder, "dangling.json"))
    for name in ("notes.txt", ".hidden.json", "offer.json~"):
        timed.add_capability(name, OFFER)
    with open(os.path.join(os.fsencode(folder), b"\xff.json"), "wb") as file:
        file.write(b"{")
    shown = timed.door("record_capabilities")
    assert [one["entity_type"] for one in shown["capabilities"]] == sorted(TYPES)
    assert "notes.txt" not in str(shown)
    json.dumps(shown, ensure_ascii=False).encode()
    timed.submit("release")


@holds("5 capability files: an invalid file is named, the others still work")
def test_a_huge_file_is_refused_and_not_read_into_a_message(timed: Archive) -> None:
    timed.add_capability("huge.json", b'{"capability_id": "' + b"x" * 2_000_000 + b'"}')
    timed.add_capability("long.json", changed(capability_id="y" * 100_000))
    timed.add_capability("keys.json", {"z" * 100_000: 1, **OFFER})
    error = timed.refuses("offer", code="UNKNOWN_CAPABILITY", capability_id="x" * 100_000, body=BODY)
    assert len(json.dumps(error.payload())) < 10_000
    timed.submit("release")


@holds("5 capability files: an invalid file is named, the others still work")
def test_a_file_that_keeps_its_size_and_time_is_read_again(timed: Archive) -> None:
    path = os.path.join(timed.home, "capabilities", "offer.json")
    timed.add_capability("offer.json", json.dumps(OFFER).replace("{", "[", 1).encode())
    os.utime(path, ns=(0, 0))
    timed.refuses("offer", code="UNKNOWN_CAPABILITY", capability_id=OFFER["capability_id"], body=BODY)
    timed.add_capability("offer.json", json.dumps(OFFER).encode())
    os.utime(path, ns=(0, 0))
    timed.door("submit_payload", capability_id=OFFER["capability_id"], body=BODY)


@holds("5 capability files: an invalid file is named, the others still work")
def test_a_title_of_another_type_is_shown_as_json(timed: Archive) -> None:
    fields = {"key": {"type": "string", "required": True}, "what": {"type": "object"}}
    odd = {"capability_id": "a:odd:v1", "entity_type": "odd", "fields": fields, "identity": ["key"], "title": "what"}
    timed.add_capability("odd.json", odd)
    timed.door("submit_payload", capability_id="a:odd:v1", body={"key": "k", "what": {"walrus": [True, "grey"]}})
    [hit] = timed.door("moss_search", query="walrus", search_mode="keyword")["items"]
    assert hit["title"] == '{"walrus":[true,"grey"]}'
