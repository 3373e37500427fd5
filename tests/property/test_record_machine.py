"""Submissions, duplicates, retries and replays in any order yield the entities of a plain fold."""

from __future__ import annotations

import random
import shutil
import tempfile
from datetime import datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from contract.doors import START_MS, Clock, open_test_store, outcome
from contract.records.archive import FIELDS, SAMPLES, capability_of
from moss_memory.errors import MossError
from moss_memory.store import Store
from property.record_model import Observation, RecordModel, Space, content_of, identity_of, instant, norm, shown
from support.thorough import machine_settings

WORKSPACES = st.sampled_from(["default", "default", " Default", "\u00c9t\u00e9", "e\u0301te\u0301  "])
TIMES = [
    "2025-12-01", "2025-12-01T00:00:00Z", "2025-12-01T01:00:00+01:00", "2025-12-01T00:00:00.000001Z",
    "2025-12-02T12:30", "2025-12-03T23:00:00-05:00", "2030-03-17T17:46:40Z", "2031-01-01",
]  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "id": ["FU-1", " fu-1", "FU-2", ""], "session_id": ["s", "S ", "t"], "name": ["Key  ring", "key ring", "caf\u00e9"],
    "decision": ["Caf\u00e9", "cafe\u0301", "other"], "validation_type": ["test", "lint"],
    "related_entity_id": [None, "", " ", "FU-1"], "description": ["one", "two"], "version": ["1", "2"],
    "rationale": ["because", "why not"], "context": [None, "here"], "outcomes": [None, "success", "failure"],
    "impact": [None, "large"], "location": [None, "src"], "type": ["component", "pattern"],
    "risk_level": [None, "low", "high"], "details": [None, {}, {"a": [1, None]}, {"b": 2}],
    "actions": [None, [], [{"a": 1}], [{"b": 1}, {}]], "checkpoints": [None, [{"step": 1}]],
    "notes": [None, "first", "second"],
}  # fmt: skip
STATUS = {
    "feature_unit": ["planning", "deferred", "completed"],
    "release": ["planning", "deployed"],
    "validation_result": ["passed", "failed"],
}
ITEMS = st.none() | st.lists(st.sampled_from(["a", "b", "c", "\u00e9"]), max_size=3)
KINDS = st.sampled_from(["feature_unit"] * 4 + ["validation_result"] * 2 + list(SAMPLES))
REQUESTS = st.sampled_from([None, None, "r-1", "r-2", "r-3"])
PROVENANCE = st.fixed_dictionaries(
    {},
    optional={
        "extracted_at": st.sampled_from(TIMES),
        "source_refs": st.sampled_from([[], ["a"], ["b", "a"], ["a", "b"]]),
        "extractor_version": st.sampled_from(["v1", "v2"]),
        "agent_id": st.sampled_from(["one", "two"]),
    },
)


@st.composite
def bodies(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """Return a valid body with optional fields present, null or missing."""
    body: dict[str, Any] = {}
    for name, form in FIELDS[kind].items():
        required = form.endswith("!")
        if not required and draw(st.integers(0, 3)) == 0:
            continue
        if form.startswith("time"):
            body[name] = draw(st.sampled_from(TIMES if required else [None, *TIMES]))
        elif form == "array<string>":
            body[name] = draw(ITEMS)
        else:
            body[name] = draw(st.sampled_from(STATUS[kind] if name == "status" else VALUES[name]))
    return body


def make_invalid(body: dict[str, Any], kind: str, number: int) -> dict[str, Any]:
    """Return the body with one invalid part."""
    first = next(iter(FIELDS[kind]))
    last_time = [name for name, form in FIELDS[kind].items() if form.startswith("time")][-1]
    wrong: list[dict[str, Any]] = [{first: None}, {first: 5}, {last_time: "soon"}, {"unknown": 1}]
    return {**body, **wrong[number % len(wrong)]}


class RecordMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="moss-records-")
        self.clock = Clock()
        self.store = open_test_store(self.folder, self.clock)
        self.model = RecordModel()
        self.ids: dict[str, dict[str, str]] = {}
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.observed: list[str] = []
        self.changed = True

    def teardown(self) -> None:
        self.check_everything(self.store)
        self.replay(list(range(len(self.sent)))[::-1])
        self.store.close()
        shutil.rmtree(self.folder)

    # Steps

    def submit(self, kind: str, arguments: dict[str, Any]) -> None:
        """Submit to the store; assert that it answers like the model, with ids that are one to one."""
        space = self.model.space(arguments["workspace"])
        body, provenance = arguments["body"], arguments.get("provenance") or {}
        content, request = content_of(kind, body, provenance), arguments.get("client_request_id")
        answer = outcome(self.store, "submit_payload", arguments)
        before = space.requests.get(request) if request is not None else None
        if before is not None and before.content != content:
            assert isinstance(answer, MossError), "a request was taken up again with other content"
            assert answer.code == "VALIDATION_ERROR"
            return
        assert not isinstance(answer, MossError), answer.payload()
        if before is not None:
            assert answer == before.answer, "a repeated request got another answer"
            return
        known = space.has(content)
        assert answer["created"] == (known is None)
        self.is_named(content, "payload_content_id", answer)
        self.is_named(f"{norm(arguments['workspace'])} {content}", "payload_id", answer)
        self.is_named(identity_of(kind, body), "entity_id", answer)
        self.is_named(str(len(self.sent)), "payload_submission_id", answer)
        observation = Observation(kind, body, provenance, self.clock.ms, answer)
        space.add(observation, request)
        self.sent.append((kind, {**arguments, "now_ms": self.clock.ms}))
        self.observed.append(shown(observation.observed_us).isoformat())
        self.changed = True

    def is_named(self, thing: str, by: str, answer: dict[str, Any]) -> None:
        """Assert that equal things have equal ids of a kind, and different things different ids."""
        names = self.ids.setdefault(by, {})
        expected = names.setdefault(thing, answer[by])
        assert answer[by] == expected, f"{by} is another for the same {thing}"
        assert len(set(names.values())) == len(names), f"{by} is the same for two things, {thing} is one of them"

    @initialize()
    def begin_with_the_same_payload_in_two_workspaces(self) -> None:
        for workspace in ("default", "\u00e9t\u00e9"):
            body = {**SAMPLES["feature_unit"], "id": "FU-1"}
            arguments = {"capability_id": capability_of("feature_unit"), "body": body, "workspace": workspace}
            self.submit("feature_unit", arguments)

    @rule(step_ms=st.sampled_from([1, 999, 86_400_000, -1500]))
    def time_passes_or_steps_back(self, step_ms: int) -> None:
        self.clock.ms += step_ms

    @rule(
        data=st.data(),
        kind=KINDS,
        workspace=WORKSPACES,
        provenance=st.none() | PROVENANCE,
        request=REQUESTS,
    )
    def submit_something(
        self, data: st.DataObject, kind: str, workspace: str, provenance: dict[str, Any] | None, request: str | None
    ) -> None:
        arguments = {
            "capability_id": capability_of(kind),
            "body": data.draw(bodies(kind)),
            "provenance": provenance,
            "client_request_id": request,
            "workspace": workspace,
        }
        self.submit(kind, arguments)

    @rule(number=st.integers(0, 1000), provenance=PROVENANCE)
    def submit_the_same_body_from_another_source(self, number: int, provenance: dict[str, Any]) -> None:
        kind, arguments = self.sent[number % len(self.sent)]
        again = {name: value for name, value in arguments.items() if name not in ("now_ms", "client_request_id")}
        self.submit(kind, {**again, "provenance": provenance})

    @rule(number=st.integers(0, 1000), turned=st.booleans())
    def submit_a_duplicate(self, number: int, turned: bool) -> None:
        kind, arguments = self.sent[number % len(self.sent)]
        again = {name: value for name, value in arguments.items() if name not in ("now_ms", "client_request_id")}
        if turned:
            again["body"] = dict(reversed(again["body"].items()))
            provenance = again.get("provenance") or {}
            again["provenance"] = {**provenance, "source_refs": (provenance.get("source_refs") or [])[::-1]}
        self.submit(kind, again)

    @rule(number=st.integers(0, 1000), agent=st.sampled_from(["one", "three"]))
    def retry_a_request(self, number: int, agent: str) -> None:
        retried = [one for one in self.sent if one[1].get("client_request_id")]
        if retried:
            kind, arguments = retried[number % len(retried)]
            again = {name: value for name, value in arguments.items() if name != "now_ms"}
            provenance = {**(again.get("provenance") or {}), "agent_id": agent}
            self.submit(kind, {**again, "provenance": provenance})

    @rule(number=st.integers(0, 1000), wrong=st.integers(0, 3))
    def submit_something_wrong(self, number: int, wrong: int) -> None:
        kind, arguments = self.sent[number % len(self.sent)]
        body = make_invalid(arguments["body"], kind, wrong)
        again = {"capability_id": arguments["capability_id"], "body": body, "workspace": arguments["workspace"]}
        answer = outcome(self.store, "submit_payload", again)
        assert isinstance(answer, MossError)
        assert answer.code == "VALIDATION_ERROR"
        self.changed = True

    @rule()
    def open_the_store_again(self) -> None:
        self.store.close()
        self.store = open_test_store(self.folder, self.clock)

    @precondition(lambda self: len(self.sent) > 3)
    @rule(seed=st.integers(0, 1000))
    def replay_in_another_order(self, seed: int) -> None:
        order = list(range(len(self.sent)))
        random.Random(seed).shuffle(order)  # noqa: S311
        self.replay(order)

    # Invariants

    @invariant()
    def entities_equal_a_fold_of_their_observations(self) -> None:
        if self.changed:
            self.changed = False
            for space in self.model.spaces.values():
                self.check_entities(self.store, space)

    def check_everything(self, store: Store) -> None:
        for space in self.model.spaces.values():
            self.check_entities(store, space)
            self.check_records(store, space)
            self.check_events(store, space)
            for text in TIMES:
                self.check_entities(store, space, as_of=text)
        spaces = self.model.spaces.values()
        assert len(every(store, "retrieve_entities")) == sum(len(list(space.entities())) for space in spaces)
        assert len(every(store, "list_timeline_events")) == sum(len(space.events()) for space in spaces)

    def check_entities(self, store: Store, space: Space, as_of: str | None = None) -> None:
        until = None if as_of is None else instant(as_of)
        if as_of is not None and len(as_of) == len("2025-12-01"):
            until = instant(f"{as_of}T23:59:59.999999Z")
        asked = {} if as_of is None else {"as_of": as_of}
        found = every(store, "retrieve_entities", workspace=space.raw, include_provenance=True, **asked)
        for entity in found:
            assert norm(entity.pop("workspace")) == norm(space.raw)
            entity["provenance"] = {
                name: {**origin, "observed_at": datetime.fromisoformat(origin["observed_at"])}
                for name, origin in entity["provenance"].items()
            }
        assert found == list(space.entities(until)), f"as of {as_of}"

    def check_records(self, store: Store, space: Space) -> None:
        found = every(store, "retrieve_records", workspace=space.raw, include_total_count=True)
        for record in found:
            assert norm(record["workspace"]) == norm(space.raw)
        expected = space.records()
        assert [{name: record[name] for name in ("id", "type", "properties")} for record in found] == [
            {name: record[name] for name in ("id", "type", "properties")} for record in expected
        ]
        for record, wanted in zip(found, expected, strict=True):
            for name in ("created", "updated"):
                assert datetime.fromisoformat(record[f"{name}_at"]) == shown(wanted[f"{name}_ms"] * 1000)

    def check_events(self, store: Store, space: Space) -> None:
        """Assert that dates of bodies and events are one to one, newest first."""
        found = every(store, "list_timeline_events", workspace=space.raw)
        times = [datetime.fromisoformat(event["event_timestamp"]) for event in found]
        assert times == sorted(times, reverse=True)
        assert len({event["event_id"] for event in found}) == len(found)
        for event, time in zip(found, times, strict=True):
            del event["event_id"], event["workspace"]
            event["event_timestamp"] = time
        assert sorted(map(repr, found)) == sorted(map(repr, space.events()))

    def replay(self, order: list[int]) -> None:
        """Submit everything again to an empty store, in another order; assert equal entities, snapshots and events."""
        folder = tempfile.mkdtemp(prefix="moss-replayed-")
        clock = Clock(START_MS)
        try:
            with open_test_store(folder, clock) as store:
                for number in order:
                    again = dict(self.sent[number][1])
                    clock.ms = again.pop("now_ms")
                    again["provenance"] = {**(again.get("provenance") or {}), "extracted_at": self.observed[number]}
                    store.call("submit_payload", {**again, "client_request_id": None})
                assert self.order_independent_state(store) == self.order_independent_state(self.store)
        finally:
            shutil.rmtree(folder)

    def order_independent_state(self, store: Store) -> dict[str, Any]:
        """Return everything that must not depend on the order of arrival."""
        found: dict[str, Any] = {}
        for name, space in self.model.spaces.items():
            asked = {"workspace": space.raw}
            for entity in every(store, "retrieve_entities", **asked):
                found[f"{name} {entity['entity_id']}"] = (entity["snapshot"], entity["observation_count"])
            for record in every(store, "retrieve_records", **asked):
                found[f"{name} {record['id']}"] = record["properties"]
            for event in every(store, "list_timeline_events", **asked):
                found[f"{name} {event['event_id']}"] = (event["event_timestamp"], event["entity_ids"])
        return found


def every(store: Store, tool: str, **asked: Any) -> list[dict[str, Any]]:
    """Return every row of a list, page by page."""
    rows_of = {"retrieve_records": "records", "retrieve_entities": "entities", "list_timeline_events": "events"}
    found: list[dict[str, Any]] = []
    while True:
        answer = store.call(tool, {**asked, "limit": 7, "offset": len(found)})
        page = answer[rows_of[tool]]
        found += page
        if "pagination" in answer:
            pagination = answer["pagination"]
            if tool == "retrieve_records":
                total = store.call(tool, {**asked, "include_total_count": True})["total_count"]
            else:
                total = pagination["total"]
            assert pagination["has_more"] == (len(found) < total)
        if not page:
            return found


RecordMachine.TestCase.settings = machine_settings(40)
TestAnyOrderOfSubmissionsLeavesWhatAFoldLeaves = RecordMachine.TestCase
