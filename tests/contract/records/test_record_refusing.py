"""Errors of the record tools: the codes of this family, the path of the bad value, and no write."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import open_test_store, outcome
from contract.records.archive import SAMPLES, Archive, capability_of, required_of, times_of
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.storage.schema_version import SCHEMA_VERSION
from storage.database import connect
from support.direct_store import dump
from support.promises import holds
from support.python_process import run, without_root_powers

if TYPE_CHECKING:
    from moss_memory.store import Store

ARGUMENTS = {
    "submit_payload": {"capability_id", "body", "provenance", "client_request_id", "workspace"},
    "retrieve_records": {
        "type", "properties", "search", "search_mode", "limit", "ids", "include_total_count", "offset", "workspace",
    },
    "retrieve_entities": {
        "entity_type", "limit", "offset", "include_snapshots", "include_provenance", "as_of", "entity_id", "workspace",
    },
    "list_timeline_events": {
        "event_type", "after_date", "before_date", "source_record_id", "limit", "offset", "entity_id", "entity_type",
        "workspace",
    },
}  # fmt: skip
READS = [tool for tool in ARGUMENTS if tool != "submit_payload"]
NEEDED: dict[str, Any] = {"capability_id": capability_of("release"), "body": SAMPLES["release"]}
WRONG: dict[str, list[Any]] = {
    "string": [1, 1.5, True, [], {}], "integer": ["1", 1.5, True, [], {}], "boolean": ["true", 1, 0, [], {}],
    "array": [1, True, {}], "object": ["a", 1, True, []],
}  # fmt: skip
ITEMS: dict[str, list[Any]] = {"search": [1, None, True, [], {}], "ids": [1, None, True, [], {}]}


def needed(tool: str) -> dict[str, Any]:
    return NEEDED if tool == "submit_payload" else {}


def parameters(tool: str) -> dict[str, dict[str, Any]]:
    found = catalog.find(tool)
    assert found is not None
    return found.parameters


@holds("5 input schemas: every argument of the document")
@pytest.mark.parametrize("tool", ARGUMENTS)
def test_every_tool_accepts_the_documented_arguments(tool: str) -> None:
    assert set(parameters(tool)) >= ARGUMENTS[tool]


@holds("5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path")
@pytest.mark.parametrize("tool", ARGUMENTS)
def test_an_unknown_argument_of_a_record_tool_is_refused_with_the_nearest(archive: Archive, tool: str) -> None:
    for name in ARGUMENTS[tool]:
        error = archive.door.refuses("VALIDATION_ERROR", tool, **needed(tool), **{f"{name}x": "a"})
        assert error.status == 400
        assert (error.details or {})["path"] == f"{name}x"
        assert (error.details or {})["nearest"] == name
        assert name in error.message


@holds("5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path")
@pytest.mark.parametrize("tool", ARGUMENTS)
def test_an_argument_of_a_wrong_type_is_a_validation_error_with_its_path(archive: Archive, tool: str) -> None:
    for name in ARGUMENTS[tool]:
        kind = parameters(tool)[name]["type"]
        for value in WRONG[kind if isinstance(kind, str) else kind[0]]:
            error = archive.door.refuses("VALIDATION_ERROR", tool, **{**needed(tool), name: value})
            assert (error.details or {})["path"] == name, error.payload()
            assert name in error.message


@holds("5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path")
def test_an_item_of_an_argument_of_a_wrong_type_is_refused_by_its_path(archive: Archive) -> None:
    for name, values in ITEMS.items():
        for value in values:
            error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", **{name: ["x", value]})
            assert (error.details or {})["path"] == f"{name}[1]"
    for value in (1, None, True, [], {}):
        archive.refuses_at("provenance.source_refs[2]", "release", provenance={"source_refs": ["a", "b", value]})


@holds("5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path")
def test_a_wrong_provenance_is_refused_by_its_path(archive: Archive) -> None:
    for name in ("extracted_at", "extractor_version", "agent_id"):
        for value in WRONG["string"]:
            archive.refuses_at(f"provenance.{name}", "release", provenance={name: value})
    for value in ("a", 1, {}):
        archive.refuses_at("provenance.source_refs", "release", provenance={"source_refs": value})
    error = archive.refuses_at("provenance.agent", "release", provenance={"agent": "x"})
    assert "agent_id" in error.message


@holds("5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path")
def test_a_missing_argument_of_a_submission_is_refused_by_its_name(archive: Archive) -> None:
    for name in ("capability_id", "body"):
        for rest in ({}, {name: None}):
            arguments = {key: value for key, value in NEEDED.items() if key != name} | rest
            error = archive.door.refuses("VALIDATION_ERROR", "submit_payload", **arguments)
            assert (error.details or {})["path"] == name


@holds("decisions §0: null is absent, except inside a body")
@pytest.mark.parametrize("tool", ARGUMENTS)
def test_a_null_argument_is_an_absent_one(archive: Archive, tool: str) -> None:
    archive.submit("release")
    for name in ARGUMENTS[tool] - set(needed(tool)):
        without, with_null = archive.door(tool, **needed(tool)), archive.door(tool, **needed(tool), **{name: None})
        for answer in (without, with_null):
            answer.pop("payload_submission_id", None)
        assert with_null == without


@holds("decisions §0: null is absent, except inside a body")
def test_a_null_in_a_body_is_no_absent_field(archive: Archive) -> None:
    archive.submit("agent_session", ended_at=None)
    [record] = archive.records()
    assert record["properties"]["ended_at"] is None


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_a_body_without_limits_is_refused(timed: Archive) -> None:
    huge = {**SAMPLES["validation_result"], "details": {"log": "x" * 8_000_000}}
    timed.refuses_at("body", "validation_result", body=huge)
    deep: Any = 1
    for _ in range(100):
        deep = {"a": deep}
    timed.refuses("validation_result", details=deep)
    timed.refuses("release", provenance={"source_refs": ["x"] * 100_000})


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_values_without_a_json_form_are_refused_with_their_path(timed: Archive) -> None:
    for value in (float("nan"), float("inf"), 2**63, "\ud800", "a\0b", {1: 2}, ("a",)):
        timed.refuses_at("body.details.deep[0]", "validation_result", details={"deep": [value]})
        error = timed.door.refuses("VALIDATION_ERROR", "retrieve_records", properties={"status": value})
        assert (error.details or {})["path"].startswith("properties.status")
    timed.refuses("release", id="a\0b")
    timed.refuses("release", id="\ud800")
    timed.refuses("release", client_request_id="a\0b")


@holds("5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path")
def test_one_invalid_value_refuses_the_whole_submission(timed: Archive) -> None:
    last = times_of("feature_unit")[-1]
    for name in (*required_of("feature_unit"), last):
        timed.refuses("feature_unit", body={**SAMPLES["feature_unit"], name: 5})
    for tool, rows in (
        ("retrieve_records", "records"),
        ("retrieve_entities", "entities"),
        ("list_timeline_events", "events"),
    ):
        assert timed.door(tool)[rows] == []


# Failures of storage


def storage_error(store: Store, tool: str, code: str, storage_code: str, *, wait: bool = True) -> MossError:
    """Return the error of a call that fails in storage; assert its code and the storage code in its details."""
    before = dump(store.config.home) if storage_code == "STORAGE_BUSY" else {}  # else the store is unreadable
    with pytest.raises(MossError) as caught:
        store.call(tool, needed(tool), wait=wait)
    error = caught.value
    assert (error.code, error.status) == (code, 500), error.payload()
    assert (error.details or {})["storage_code"] == storage_code
    assert before == (dump(store.config.home) if before else {})
    return error


@holds("5 errors: DB_QUERY_FAILED and DB_INSERT_FAILED with the storage code")
@pytest.mark.sqlite("the files of the store are locked, filled or damaged by hand")
def test_a_busy_store_is_a_retryable_failed_insert(timed: Archive, store: Store) -> None:
    timed.submit("feature_unit")
    fd = os.open(os.path.join(timed.home, "moss.lock"), os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        error = storage_error(store, "submit_payload", "DB_INSERT_FAILED", "STORAGE_BUSY", wait=False)
        assert (error.details or {})["retryable"] is True
        for tool in READS:
            store.call(tool, {}, wait=False)
    finally:
        os.close(fd)
    assert store.call("submit_payload", NEEDED, wait=False)["created"] is True


@holds("5 errors: DB_QUERY_FAILED and DB_INSERT_FAILED with the storage code")
@pytest.mark.sqlite("the files of the store are locked, filled or damaged by hand")
def test_a_full_disk_is_a_failed_insert_and_reads_still_work(timed: Archive, store: Store) -> None:
    timed.submit("feature_unit")
    engine: Any = store._engine
    engine._writer.execute("pragma max_page_count = 1").fetchall()
    body = {**SAMPLES["release"], "acceptance_criteria": [f"criterion {number}" * 50 for number in range(200)]}
    before = dump(timed.home)
    with pytest.raises(MossError) as caught:
        store.call("submit_payload", {**NEEDED, "body": body})
    assert caught.value.code == "DB_INSERT_FAILED"
    assert (caught.value.details or {})["storage_code"] == "STORAGE_FULL"
    assert dump(timed.home) == before
    assert len(timed.ids()) == 1
    engine._writer.execute("pragma max_page_count = 1000000").fetchall()
    assert store.call("submit_payload", {**NEEDED, "body": body})["created"] is True


@holds("5 errors: DB_QUERY_FAILED and DB_INSERT_FAILED with the storage code")
@pytest.mark.sqlite("the files of the store are locked, filled or damaged by hand")
def test_a_store_that_is_not_writable_is_a_failed_insert_and_reads_still_work(timed: Archive) -> None:
    timed.submit("feature_unit")
    script = f"""
import sys
from support.store_truth import open_at, refusal
with open_at(sys.argv[1]) as store:
    error = refusal(lambda: store.call("submit_payload", {NEEDED!r}))
    assert (error.code, error.details["storage_code"]) == ("DB_INSERT_FAILED", "STORAGE_READONLY"), error.payload()
    for tool, rows in (("retrieve_records", "records"), ("retrieve_entities", "entities")):
        assert len(store.call(tool, {{}})[rows]) == 1
"""
    store: Any = timed.door
    store.store.close()
    os.chmod(timed.home, 0o500)
    try:
        run(script, timed.home, wrapped_in=without_root_powers())
    finally:
        os.chmod(timed.home, 0o700)


@holds("5 errors: DB_QUERY_FAILED and DB_INSERT_FAILED with the storage code")
@pytest.mark.sqlite("the version is written into the file by hand")
def test_a_store_of_a_newer_version_fails_reads_as_queries_and_writes_as_inserts(timed: Archive, store: Store) -> None:
    timed.submit("feature_unit")
    before = dump(timed.home)
    store.close()
    say_version(timed.home, 9999)
    storage_error(store, "submit_payload", "DB_INSERT_FAILED", "STORAGE_READONLY")
    codes = {tool: outcome(store, tool, {}) for tool in READS}
    for tool, error in codes.items():
        assert isinstance(error, MossError)
        assert (error.details or {})["storage_code"] == "STORAGE_READONLY"
        assert error.code == "DB_QUERY_FAILED", f"{tool} only reads and says {error.code}"
    say_version(timed.home, SCHEMA_VERSION)
    assert dump(timed.home) == before


def say_version(home: str, version: int) -> None:
    """Set the schema version of the database."""
    connection = connect(home)
    connection.execute(f"pragma user_version = {version}")
    connection.close()


@holds("5 errors: DB_QUERY_FAILED and DB_INSERT_FAILED with the storage code")
@pytest.mark.sqlite("the files of the store are locked, filled or damaged by hand")
@pytest.mark.parametrize("code", ["STORAGE_CORRUPT", "NOT_A_STORE"])
def test_a_damaged_store_is_a_failed_query(home: str, code: str) -> None:
    with open_test_store(home) as store:
        store.call("submit_payload", NEEDED)
    path = os.path.join(home, "moss.db")
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content[:3000] if code == "STORAGE_CORRUPT" else b"no database at all" * 1000)
    with open_test_store(home) as store:
        for tool in READS:
            storage_error(store, tool, "DB_QUERY_FAILED", code)
        error = outcome(store, "submit_payload", NEEDED)
        assert isinstance(error, MossError)
        assert error.code in ("DB_INSERT_FAILED", "DB_QUERY_FAILED")
        assert (error.details or {})["storage_code"] == code


@holds("decisions §5: provenance is optional, its fields too")
def test_a_provenance_that_is_too_large_is_refused(archive: Archive) -> None:
    for provenance in ({"agent_id": "a" * 100_001}, {"source_refs": ["r" * 1000] * 101}, {"source_refs": ["r"] * 1001}):
        archive.refuses_at("provenance", "release", provenance=provenance)
    archive.submit("release", provenance={"agent_id": "a" * 99_000})
