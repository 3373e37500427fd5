"""Kinds of artifacts: seven built-in schemas, files that users add, and validation on request."""

from __future__ import annotations

import json
import os
import socket
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from artifact.samples import FINDING, listed_names, put
from contract.doors import McpDoor, McpServer, StoreDoor, open_test_store
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Clock, Door
    from moss_memory.errors import MossError

BUILT_IN = [
    "design-spec", "dlq-entry", "explorer-finding", "freeform", "run-record", "step-result", "verifier-output",
]  # fmt: skip
FILE = {"path": "a", "relevance": "high", "summary": "s"}
ISSUE = {"id": "1", "file": "a.py", "category": "c", "message": "m", "severity": "error"}
STEP: dict[str, Any] = {
    "step_id": "s", "step_instance_id": "s1", "name": "n", "status": "any", "events": [1, None, {}], "artifact_ids": [],
}  # fmt: skip
ACTION = {"action_id": "a", "path": "p", "op": "edit"}
VALID: dict[str, dict[str, Any]] = {
    "explorer-finding": FINDING,
    "verifier-output": {"verdict": "pass", "issues": [ISSUE, {**ISSUE, "line": 3}], "summary": "s"},
    "run-record": {
        "run_id": "r", "status": "RUNNING", "workflow": "feat", "args": {"any": 1}, "repo_hash": "h",
        "config": {"rounds": 1, "retries": 2, "timeout_ms": 3.5}, "steps": [STEP, {**STEP, "error_code": "E"}],
        "created_at": "now", "updated_at": "now",
    },
    "design-spec": {
        "objective": "o", "approach": "a", "files_to_modify": ["a"], "files_to_create": [], "constraints": ["c"],
        "test_strategy": "t",
    },
    "dlq-entry": {
        "workflow": "fix", "task": "t", "failed_step": "f", "inputs": {}, "retry_count": 2, "last_error": "THRASHING",
    },
    "step-result": {
        "step_instance_id": "s", "status": "OK", "artifact_ids": ["a"], "actions": [ACTION, {**ACTION, "op": "delete"}],
    },
    "freeform": {"any": ["thing"]},
}  # fmt: skip
OPTIONAL: dict[str, dict[str, Any]] = {
    "run-record": {"last_error": "e", "resume_from": "s"},
    "dlq-entry": {"partial_results": ["a"], "relevant_files": ["a"]},
    "step-result": {"error_code": "E", "note": "n"},
}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("explorer-finding", {"confidence": 1.5}, "data.confidence"),
    ("explorer-finding", {"confidence": "high"}, "data.confidence"),
    ("explorer-finding", {"files": [FILE, {"path": "b", "relevance": "low"}]}, "data.files[1]"),
    ("explorer-finding", {"files": [{"path": "a", "relevance": "some", "summary": "s"}]}, "data.files[0].relevance"),
    ("explorer-finding", {"patterns": [1]}, "data.patterns[0]"),
    ("verifier-output", {"verdict": "maybe"}, "data.verdict"),
    ("verifier-output", {"issues": [{**ISSUE, "severity": "fatal"}]}, "data.issues[0].severity"),
    ("verifier-output", {"issues": [{**ISSUE, "line": "3"}]}, "data.issues[0].line"),
    ("run-record", {"status": "DONE"}, "data.status"),
    ("run-record", {"workflow": "refactor"}, "data.workflow"),
    ("run-record", {"args": []}, "data.args"),
    ("run-record", {"config": {"rounds": 1, "retries": 2}}, "data.config"),
    ("run-record", {"steps": [{**STEP, "artifact_ids": [1]}]}, "data.steps[0].artifact_ids[0]"),
    ("run-record", {"resume_from": 5}, "data.resume_from"),
    ("design-spec", {"constraints": "none"}, "data.constraints"),
    ("dlq-entry", {"inputs": []}, "data.inputs"),
    ("dlq-entry", {"retry_count": "2"}, "data.retry_count"),
    ("dlq-entry", {"relevant_files": [None]}, "data.relevant_files[0]"),
    ("step-result", {"status": "RUNNING"}, "data.status"),
    ("step-result", {"actions": [{**ACTION, "op": "move"}]}, "data.actions[0].op"),
]
BROKEN: dict[str, bytes] = {
    "not json": b"{", "an array": b"[]", "a number": b"5", "empty": b"", "not utf-8": b'{"title": "\xff"}',
    "deep": b'{"not":' * 5000 + b"{}" + b"}" * 5000, "too big": b'{"title": "' + b"x" * 1_000_001 + b'"}',
}  # fmt: skip
ODD: dict[str, bytes] = {
    "nan": b'{"minimum": NaN}', "infinity": b'{"maximum": -Infinity}', "beyond floats": b'{"minimum": 1e999}',
    "half a pair": b'{"title": "\\ud800"}', "half a pair as key": b'{"\\udfff": {}}',
    "400 levels": b'{"not":' * 400 + b"{}" + b"}" * 400,
}  # fmt: skip
UNUSABLE: dict[str, dict[str, Any]] = {
    "an unknown type": {"type": "thing"}, "a type that is no name": {"type": 5}, "a broken pattern": {
        "properties": {"a": {"pattern": "("}}}, "a reference to nothing": {"$ref": "#/nowhere"},
    "a reference to itself": {"$ref": "#"}, "properties that are none": {"properties": 5},
    "an unknown dialect": {"$schema": "https://example.invalid/dialect", "properties": {"a": {"type": "thing"}}},
}  # fmt: skip


@pytest.fixture(params=["store", "mcp"])
def kinds(request: pytest.FixtureRequest, home: str, clock: Clock) -> Iterator[Door]:
    """Return a door to an empty store with an empty folder of kinds, once for each interface."""
    if request.param == "store":
        with open_test_store(home, clock) as store:
            yield StoreDoor(store)
    else:
        server = McpServer(home)
        yield McpDoor(server)
        server.close()


def depth(value: Any) -> int:
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return 1 + max(map(depth, parts), default=0)


def add_kind(door: Door, name: str, schema: dict[str, Any] | bytes) -> None:
    folder = os.path.join(door.home, "kinds")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, f"{name}.json"), "wb") as file:
        file.write(schema if isinstance(schema, bytes) else json.dumps(schema).encode())


def refused(door: Door, kind: str, data: dict[str, Any]) -> MossError:
    return door.refuses("INVALID_REQUEST", "artifact_store", kind=kind, data=data, text="t", validate=True)


def errors(error: MossError) -> list[dict[str, str]]:
    found: list[dict[str, str]] = (error.details or {})["errors"]
    return found


@holds("decisions §2: the seven kinds ship as schemas and are listed")
def test_the_seven_kinds_of_the_document_are_listed_with_their_schemas(door: StoreDoor) -> None:
    answer = door("artifact_kinds")
    assert set(answer) == {"kinds"}
    assert [kind["kind"] for kind in answer["kinds"]] == BUILT_IN
    for kind in answer["kinds"]:
        Draft202012Validator.check_schema(kind["schema"])
        assert kind["source"] == "built-in"


@holds("decisions §2: the seven kinds ship as schemas and are listed")
@pytest.mark.parametrize("kind", BUILT_IN)
def test_valid_data_of_every_kind_is_stored(door: StoreDoor, kind: str) -> None:
    put(door, kind=kind, data=VALID[kind], text="t", validate=True)
    put(door, kind=kind, data={**VALID[kind], **OPTIONAL.get(kind, {})}, text="t", validate=True)


@holds("decisions §2: the seven kinds ship as schemas and are listed")
def test_a_kind_that_is_composed_for_models_needs_a_text(door: StoreDoor) -> None:
    needs = {kind["kind"] for kind in door("artifact_kinds")["kinds"] if kind["needs_text"]}
    assert needs == {"explorer-finding", "verifier-output", "design-spec"}
    for kind in BUILT_IN:
        for text in ({}, {"text": " "}):
            if kind in needs:
                asked: dict[str, Any] = {"kind": kind, "data": VALID[kind], "validate": True, **text}
                error = door.refuses("INVALID_REQUEST", "artifact_store", **asked)
                assert [found["path"] for found in errors(error)] == ["text"]
            else:
                put(door, kind=kind, data=VALID[kind], validate=True)
    put(door, kind="design-spec", data={})
    add_kind(door, "offer", {"x-needs-text": True})
    door.refuses("INVALID_REQUEST", "artifact_store", kind="offer", data={}, validate=True)
    put(door, kind="offer", data={}, text="t", validate=True)


@holds("decisions §2: the seven kinds ship as schemas and are listed")
@pytest.mark.parametrize("kind", [kind for kind in BUILT_IN if kind != "freeform"])
def test_a_missing_required_field_of_a_kind_is_reported_by_name(door: StoreDoor, kind: str) -> None:
    for field in VALID[kind]:
        error = refused(door, kind, {key: value for key, value in VALID[kind].items() if key != field})
        assert [found["path"] for found in errors(error)] == ["data"]
        assert field in errors(error)[0]["message"]


@holds("decisions §2: failed validation tells the path of each error")
@pytest.mark.parametrize(("kind", "change", "path"), WRONG)
def test_wrong_data_is_refused_by_its_path(door: StoreDoor, kind: str, change: dict[str, Any], path: str) -> None:
    error = refused(door, kind, {**VALID[kind], **change})
    assert [found["path"] for found in errors(error)] == [path]
    assert all(set(found) == {"path", "message"} and found["message"] for found in errors(error))
    assert path in error.message


@holds("decisions §2: failed validation tells the path of each error")
def test_every_error_in_the_data_is_reported(door: StoreDoor) -> None:
    error = refused(door, "explorer-finding", {**FINDING, "confidence": 2, "patterns": [1], "concerns": "none"})
    assert {found["path"] for found in errors(error)} == {"data.confidence", "data.patterns[0]", "data.concerns"}


@holds("3 kinds: Moss stores kind and data without judging them")
def test_data_is_checked_on_request_only(door: StoreDoor) -> None:
    put(door, kind="explorer-finding", data={})
    put(door, kind="explorer-finding", data={}, validate=False)


@holds("decisions §2: failed validation tells the path of each error")
def test_a_kind_without_a_schema_cannot_be_checked(door: StoreDoor) -> None:
    error = refused(door, "my-kind", {})
    assert error.recovery is not None
    assert door(error.recovery["tool"], **error.recovery["arguments"])["kinds"]
    assert "explorer-finding" in error.message


@holds("decisions §2: failed validation tells the path of each error")
def test_a_refused_update_keeps_the_current_version(door: StoreDoor) -> None:
    put(door, "a", kind="explorer-finding", data=FINDING, text="t", validate=True)
    for how in ({"expected_version": 1}, {"mode": "replace"}):
        door.refuses("INVALID_REQUEST", "artifact_store", name="a", kind="run-record", data={}, validate=True, **how)
    fetched = door("artifact_fetch", name="a")
    assert (fetched["version"], fetched["data"]) == (1, FINDING)


@holds("decisions §2: data is checked if requested or if the configuration requires it")
def test_the_configuration_can_enable_every_check(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, artifact_validate=True) as store:
        door = StoreDoor(store)
        door.refuses("INVALID_REQUEST", "artifact_store", kind="explorer-finding", data={})
        put(door, "a", kind="explorer-finding", data=FINDING, text="t")
        put(door, "b", kind="a kind without a schema", data={})
        door.refuses(
            "INVALID_REQUEST",
            "artifact_compose",
            items=[{"name": "a"}],
            store_as={"name": "c", "kind": "explorer-finding"},
        )
        assert listed_names(door) == ["b", "a"]


@holds("decisions §2: users add kinds as files")
def test_a_file_in_the_folder_of_kinds_is_a_kind(kinds: Door) -> None:
    schema = {"type": "object", "required": ["price"], "properties": {"price": {"type": "number"}}}
    add_kind(kinds, "offer", schema)
    [listed] = [kind for kind in kinds("artifact_kinds")["kinds"] if kind["source"] == "user"]
    assert listed == {"kind": "offer", "source": "user", "needs_text": False, "schema": schema}
    put(kinds, kind="offer", data={"price": 5}, validate=True)
    assert errors(refused(kinds, "offer", {"price": "5"}))[0]["path"] == "data.price"
    add_kind(kinds, "offer", {"required": ["cost"]})
    refused(kinds, "offer", {"price": 5})


@holds("decisions §2: users add kinds as files")
def test_a_users_kind_replaces_a_built_in_one(door: StoreDoor) -> None:
    add_kind(door, "freeform", {"required": ["form"]})
    refused(door, "freeform", {"any": 1})
    assert [kind["kind"] for kind in door("artifact_kinds")["kinds"]] == BUILT_IN


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_reported_and_affects_no_other_kind(door: StoreDoor, content: bytes) -> None:
    add_kind(door, "broken", content)
    add_kind(door, "good", {"required": ["a"]})
    answer = door("artifact_kinds")
    assert [kind["kind"] for kind in answer["kinds"]] == sorted([*BUILT_IN, "good"])
    [problem] = answer["problems"]
    assert problem["file"].endswith("broken.json")
    assert problem["message"]
    refused(door, "broken", {})
    refused(door, "good", {})
    put(door, kind="good", data={"a": 1}, validate=True)
    put(door, kind="broken", data={})


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
def test_broken_files_are_reported_through_every_interface(kinds: Door) -> None:
    for number, content in enumerate(BROKEN.values()):
        add_kind(kinds, f"broken{number}", content)
    assert len(kinds("artifact_kinds")["problems"]) == len(BROKEN)
    refused(kinds, "broken0", {})


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
def test_a_broken_file_does_not_replace_a_built_in_kind(door: StoreDoor) -> None:
    add_kind(door, "explorer-finding", b"{")
    refused(door, "explorer-finding", {})
    put(door, kind="explorer-finding", data=FINDING, text="t", validate=True)


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
@pytest.mark.parametrize("schema", UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_schema_fails_only_the_check(door: StoreDoor, schema: dict[str, Any]) -> None:
    add_kind(door, "odd", schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = refused(door, "odd", {"a": "x"})
    assert error.message
    put(door, kind="odd", data={"a": "x"})
    put(door, kind="explorer-finding", data=FINDING, text="t", validate=True)
    json.dumps(door("artifact_kinds"), allow_nan=False)


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_a_file_that_clients_cannot_parse_does_not_break_the_list_of_kinds(door: StoreDoor, content: bytes) -> None:
    add_kind(door, "odd", content)
    add_kind(door, "good", {"required": ["a"]})
    answer = door("artifact_kinds")
    json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
    # An answer deeper than the limit for input breaks clients; the official client stops reading.
    assert depth(answer) <= 80
    assert "good" in [kind["kind"] for kind in answer["kinds"]]


@holds("decisions §2: users add kinds as files")
def test_other_files_in_the_folder_of_kinds_are_ignored(door: StoreDoor, tmp_path: Any) -> None:
    folder = os.path.join(door.home, "kinds")
    os.makedirs(os.path.join(folder, "folder.json"))
    os.mkfifo(os.path.join(folder, "pipe.json"))
    os.symlink("/dev/zero", os.path.join(folder, "zero.json"))
    os.symlink(str(tmp_path / "nowhere"), os.path.join(folder, "dangling.json"))
    for name in ("notes.txt", ".hidden.json", "offer.json~"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as text:
            text.write("{}")
    answer = door("artifact_kinds")
    assert [kind["kind"] for kind in answer["kinds"]] == BUILT_IN
    assert "notes" not in str(answer)


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
def test_a_file_name_that_is_not_unicode_does_not_break_the_list_of_kinds(door: StoreDoor) -> None:
    folder = os.path.join(door.home, "kinds")
    os.makedirs(folder)
    try:
        with open(os.path.join(os.fsencode(folder), b"\xff.json"), "wb") as file:
            file.write(b"{}")
    except OSError:
        return  # the file system takes only Unicode, so there is no such file
    json.dumps(door("artifact_kinds"), ensure_ascii=False).encode()


@holds("decisions §2: a bad kind file spoils neither other kinds nor other calls")
def test_a_remote_reference_in_a_schema_is_not_fetched(door: StoreDoor, tmp_path: Any) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"required": ["secret"]}')
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        port = listening.getsockname()[1]
        add_kind(door, "file", {"$ref": elsewhere.as_uri()})
        error = refused(door, "file", {})
        assert "secret" not in str(error.payload())
        add_kind(door, "remote", {"$ref": f"http://127.0.0.1:{port}/schema.json"})
        previous = socket.getdefaulttimeout()
        socket.setdefaulttimeout(0.3)
        try:
            refused(door, "remote", {})
        finally:
            socket.setdefaulttimeout(previous)
        with pytest.raises(BlockingIOError):
            listening.accept()


@holds("decisions §2: failed validation tells the path of each error")
def test_a_refused_check_does_not_repeat_a_huge_key_or_value(door: StoreDoor) -> None:
    add_kind(door, "strict", {"additionalProperties": {"type": "integer"}, "properties": {"a": {"maxLength": 1}}})
    for data in ({"k" * 40_000: "x"}, {"a": "v" * 40_000}, {"k" * 20_000: {"v" * 20_000: 1}}):
        assert len(json.dumps(refused(door, "strict", data).payload())) < 10_000


@holds("decisions §2: failed validation tells the path of each error")
def test_the_error_of_a_check_is_bounded(door: StoreDoor) -> None:
    add_kind(door, "strict", {"additionalProperties": {"type": "integer"}})
    error = refused(door, "strict", {f"k{number}": "x" for number in range(3000)})
    assert len(json.dumps(error.payload())) < 20_000


@holds("decisions §2: failed validation tells the path of each error")
def test_a_check_does_not_change_the_stored_data(door: StoreDoor) -> None:
    put(door, "a")
    before = dump(door.home)
    refused(door, "run-record", {})
    assert dump(door.home) == before
