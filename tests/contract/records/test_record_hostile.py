"""The record tools with hostile values in every position of a valid call."""

from __future__ import annotations

import json
import reprlib
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Clock, McpDoor, McpServer, open_test_store, outcome
from contract.records.archive import FIELDS, SAMPLES, TYPES, capability_of
from contract.records.conftest import forget
from contract.test_hostile_input import LEAST_VALUES, OVER_THE_WIRE, VALUES, check_error
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from support.direct_store import Watch
from support.promises import holds
from support.thorough import pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.store import Store

PROVENANCE = ("source_refs", "extracted_at", "extractor_version", "agent_id")
READS: dict[str, dict[str, Any]] = {
    "retrieve_records": {"type": "feature_unit", "properties": {"status": "in_progress"}, "search": ["keys"]},
    "retrieve_entities": {"as_of": "2999-01-01", "include_provenance": True},
    "list_timeline_events": {"after_date": "2020-01-01", "entity_type": "feature_unit"},
}
CODES = {"VALIDATION_ERROR", "UNKNOWN_CAPABILITY", "SEMANTIC_UNAVAILABLE"}


def good(kind: str) -> dict[str, Any]:
    return {"capability_id": capability_of(kind), "body": SAMPLES[kind]}


class Attack:
    """Calls with hostile values, with assertions on their answers."""

    def __init__(self, store: Store) -> None:
        self.store = store
        for kind in TYPES:
            store.call("submit_payload", good(kind))
        self.watch = Watch(store.config.home)

    def __call__(self, tool: str, arguments: Any) -> None:
        shown = f"{tool}({reprlib.repr(arguments)})"
        self.watch.saw_a_commit()
        try:
            answer = outcome(self.store, tool, arguments)
        except Exception as error:
            pytest.fail(f"{shown} raised {error!r:.500}")
        if not isinstance(answer, MossError):
            json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
            return
        check_error(answer, shown)
        assert answer.code in CODES, f"{shown}: {answer.payload()}"
        assert len(json.dumps(answer.payload())) < 10_000, f"{shown} repeats a huge value"
        assert not self.watch.saw_a_commit(), f"{shown} failed and changed the store"


@pytest.fixture
def hostile(home: str) -> Iterator[Attack]:
    with open_test_store(home, Clock()) as store:
        attack = Attack(store)
        yield attack
        attack.watch.close()


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
@pytest.mark.parametrize("kind", TYPES)
def test_any_value_in_any_field_of_a_body_is_kept_or_refused(kind: str, hostile: Attack) -> None:
    for name, value in pairs(FIELDS[kind], VALUES, start=list(TYPES).index(kind), least=LEAST_VALUES):
        form = FIELDS[kind][name]
        nested = [[value]] if form.startswith("array") else [{"x": value}] if form == "object" else []
        for hidden in (value, *nested):
            hostile("submit_payload", {**good(kind), "body": {**SAMPLES[kind], name: hidden}})
    for tool, arguments in READS.items():
        hostile(tool, {**arguments, **({"type": kind} if tool == "retrieve_records" else {"entity_type": kind})})


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_any_value_as_the_name_of_a_field_or_property_is_refused(hostile: Attack) -> None:
    for name in VALUES:
        if getattr(name, "__hash__", None):
            hostile("submit_payload", {**good("release"), "body": {**SAMPLES["release"], name: "x"}})
            hostile("submit_payload", {**good("release"), "provenance": {name: "x"}})
            for typed in ({}, {"type": "release"}):
                hostile("retrieve_records", {**typed, "properties": {name: "x"}})


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_any_value_in_any_place_of_a_provenance_is_kept_or_refused(hostile: Attack) -> None:
    for value in VALUES:
        for name in PROVENANCE:
            hostile("submit_payload", {**good("release"), "provenance": {name: value}})
        hostile("submit_payload", {**good("release"), "provenance": {"source_refs": ["x", value]}})


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_any_value_for_any_argument_beside_good_ones_is_served_or_refused(hostile: Attack) -> None:
    for tool, arguments in {"submit_payload": good("release"), **READS}.items():
        operation = catalog.find(tool)
        assert operation is not None
        hostile.store.call(tool, arguments)
        for name, value in pairs(operation.parameters, VALUES, least=LEAST_VALUES):
            hostile(tool, {**arguments, name: value})


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_any_value_as_a_filter_or_search_term_is_served_or_refused(hostile: Attack) -> None:
    for value in VALUES:
        for typed in ({}, {"type": "feature_unit"}):
            for name in ("status", "created_at", "dependencies"):
                hostile("retrieve_records", {**typed, "properties": {name: value}})
        hostile("retrieve_records", {"search": ["keys", value], "search_mode": "keyword"})
        hostile("retrieve_records", {"ids": ["x", value]})


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_unusual_valid_text_is_stored_unchanged(hostile: Attack) -> None:
    for number, text in enumerate(value for value in VALUES if isinstance(value, str)):
        body = {**SAMPLES["agent_session"], "session_id": f"{number}", "outcomes": text, "actions": [{text: text}]}
        answer = outcome(hostile.store, "submit_payload", {**good("agent_session"), "body": body})
        if not isinstance(answer, MossError):
            [record] = hostile.store.call("retrieve_records", {"ids": [answer["payload_id"]]})["records"]
            assert record["properties"] == body
            found = hostile.store.call("retrieve_records", {"properties": {"outcomes": text}})["records"]
            assert record in found


@holds("decisions §0: hostile values are a typed error, never silence, never INTERNAL")
def test_hostile_bodies_get_one_typed_answer_over_mcp(mcp_server: McpServer) -> None:
    forget(mcp_server.home)
    door = McpDoor(mcp_server)
    codes = set()
    for kind in TYPES:
        for name, value in pairs(FIELDS[kind], OVER_THE_WIRE, start=list(TYPES).index(kind)):
            try:
                door("submit_payload", **{**good(kind), "body": {**SAMPLES[kind], name: value}})
            except MossError as error:
                check_error(error, f"{kind}.{name} = {reprlib.repr(value)}")
                codes.add(error.code)
    forget(mcp_server.home)
    assert codes == {"VALIDATION_ERROR"}
