"""What records cost: a submission beside its bare writes, reads of a large store beside a small one, searches."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from typing import Any

from moss_memory import open_store
from moss_memory.store import Store
from moss_memory.tools.record.capabilities import registry_of
from moss_memory.tools.record.entity_ids import entity_id

from . import record_search
from .bare_writes import CallContext, change_us
from .measure import Line, compared_us, medians_us, scratch_folder, worst_line
from .record_stores import (
    FEATURES,
    FEW,
    OBSERVATIONS,
    PROJECT,
    WANTED_DEPENDENCY,
    WANTED_ID,
    Reporter,
    moment,
    observed_home,
    provenance,
    records_of,
)

Taken = dict[str, tuple[float, float]]

LARGE, SMALL = 100_000, 1_000
SUBMITTED = 300
FEATURE = "feature_unit"
EARLY = "2024-12-01T00:00:00Z"

FILTERS: dict[str, CallContext] = {
    "a rare value": {"type": FEATURE, "properties": {"id": WANTED_ID}},
    "a rare value, counted": {"type": FEATURE, "properties": {"id": WANTED_ID}, "include_total_count": True},
    "a common value": {"type": FEATURE, "properties": {"status": "planning"}},
    "a common value, its second page": {
        "type": FEATURE, "properties": {"status": "planning"}, "limit": FEW, "offset": FEW,
    },
    "an item of arrays": {"type": FEATURE, "properties": {"dependencies": WANTED_DEPENDENCY}},
    "two common values": {"type": FEATURE, "properties": {"status": "planning", "risk_level": "high"}, "limit": 25},
    "a rare value and a common one": {"type": FEATURE, "properties": {"id": WANTED_ID, "status": "planning"}},
    "a common value and a rare one": {"type": FEATURE, "properties": {"status": "planning", "id": WANTED_ID}},
    "a common value of a rare type": {"type": "release", "properties": {"status": "planning"}},
    "a common value of a rare type, counted": {
        "type": "release", "properties": {"status": "planning"}, "include_total_count": True,
    },
    "a common value in a workspace": {"type": FEATURE, "properties": {"status": "planning"}, "workspace": PROJECT},
    "a common value of a rare type in a workspace": {
        "type": "release", "properties": {"status": "planning"}, "workspace": PROJECT,
    },
    "a value alone": {"properties": {"risk_level": "high"}},
    "a value in a workspace, of any type": {"properties": {"risk_level": "high"}, "workspace": PROJECT},
}  # fmt: skip
"""Filters by the words of the table; in both stores as many records pass each, or more than a page."""

OTHERS: dict[str, tuple[str, CallContext]] = {
    "`retrieve_records` by a common value, counted": (
        "retrieve_records", {"type": FEATURE, "properties": {"status": "planning"}, "include_total_count": True},
    ),
    "`retrieve_records` by a common value in a workspace of 1,000, counted": (
        "retrieve_records",
        {"type": FEATURE, "properties": {"status": "planning"}, "workspace": PROJECT, "include_total_count": True},
    ),
    "`retrieve_records` by two common values that few have both": (
        "retrieve_records", {"type": FEATURE, "properties": {"status": "deferred", "risk_level": "high"}},
    ),
    "`retrieve_entities` by type, which counts them": ("retrieve_entities", {"entity_type": FEATURE}),
    "`retrieve_entities` by id": ("retrieve_entities", {"entity_id": ""}),
    "`list_timeline_events` by type, which counts them": ("list_timeline_events", {"event_type": f"{FEATURE}.created"}),
    "`list_timeline_events` by entity": ("list_timeline_events", {"entity_id": ""}),
    "`list_timeline_events` of a workspace of 1,000": ("list_timeline_events", {"workspace": PROJECT}),
}  # fmt: skip
"""Reads of which nothing is promised; an empty id stands for that of the entity with fifty records."""


def submit_lines() -> list[Line]:
    """A submission against everything that it writes, run bare; the worst kind counts."""
    reporter = Reporter(seed=43)
    first = [reporter.feature(number) for number in range(SUBMITTED)]
    kinds = {
        "new": [reporter.feature(number) for number in range(SUBMITTED, 2 * SUBMITTED)],
        "known content": [_from_another(call) for call in first],
        "further observation": [_later(reporter.feature(number), number) for number in range(SUBMITTED)],
    }
    durable: Taken = {}
    unsynced: Taken = {}
    with scratch_folder() as folder:
        start = os.path.join(folder, "start")
        with open_store(start) as store:
            for call in first:
                store.call("submit_payload", call)
        for name, calls in kinds.items():
            # at least observation, entity and event
            durable[name] = change_us(start, name, "submit_payload", calls, at_least=3)
            hurried = f"{name}, hurried"
            unsynced[name] = change_us(start, hurried, "submit_payload", calls, at_least=3, synced=False)
    what = "`submit_payload`, in process : its bare writes (record, index, properties, observation, events)"
    return [
        worst_line(f"{what} and commit", durable, 3),
        worst_line("the same without waiting for the disk", unsynced, None),
    ]


def _from_another(call: CallContext) -> CallContext:
    """The same content, told by another agent."""
    return {**call, "provenance": {**call["provenance"], "agent_id": "agent-2"}}


def _later(call: CallContext, number: int) -> CallContext:
    """What is told of the same feature unit when work on it has gone on."""
    when = moment(number + 100_000)
    told = {**provenance(number), "extracted_at": when}
    return {**call, "body": {**call["body"], "updated_at": when}, "provenance": told}


def filter_line(rounds: int = 100) -> Line:
    """Records by type and property in a large store against a small one; the worst filter counts."""
    taken: Taken = {}
    with open_store(records_of(LARGE)) as large, open_store(records_of(SMALL)) as small:
        for name, filters in FILTERS.items():
            sides = [_asking(store, "retrieve_records", filters) for store in (large, small)]
            found, expected = (side() for side in sides)
            assert len(found["records"]) == len(expected["records"]) > 0, name
            assert found.get("total_count") == expected.get("total_count"), name
            taken[name] = _pair(sides, rounds)
    return worst_line("`retrieve_records` by type and property among 100,000 records : among 1,000", taken, 1.5)


def other_lines(rounds: int = 30) -> list[Line]:
    """What else is read, in a large store against a small one."""
    lines = []
    with open_store(records_of(LARGE)) as large, open_store(records_of(SMALL)) as small:
        wanted = _entity(large, WANTED_ID)
        for name, (tool, call) in OTHERS.items():
            asked = {**call, "entity_id": wanted} if "entity_id" in call else call
            one, other = _pair([_asking(store, tool, asked) for store in (large, small)], rounds)
            lines.append(
                Line(f"{name}, of 100,000 records : of 1,000", one / other, None, note=compared_us(one, other))
            )
    return lines


def _entity(store: Store, name: str) -> str:
    """The id of a feature unit's entity."""
    return entity_id(registry_of(store.config.home).find(FEATURES), {"id": name})


def _asking(store: Store, tool: str, call: CallContext) -> Callable[[], CallContext]:
    return lambda: store.call(tool, call)


def _pair(sides: list[Callable[[], CallContext]], rounds: int) -> tuple[float, float]:
    one, other = medians_us(*sides, rounds=rounds)
    return one, other


def snapshot_lines(rounds: int = 300) -> list[Line]:
    """An entity of 1,000 observations, read and observed once more, against entities of a single observation."""
    with scratch_folder() as folder:
        home = str(shutil.copytree(observed_home(), os.path.join(folder, "observed")))
        with open_store(home) as store:
            read = _pair([_reading(store, WANTED_ID, OBSERVATIONS), _reading(store, "FU-1", 1)], rounds)
            told = medians_us(_observing(store, id=WANTED_ID), _observing(store), rounds=rounds)
            # Told after others that were observed later, an observation means that all are folded again.
            early = medians_us(
                _observing(store, at=EARLY, id=WANTED_ID), _observing(store, at=EARLY), rounds=rounds // 10
            )
    return [
        Line(
            "`retrieve_entities` of an entity with 1,000 observations : with one",
            read[0] / read[1], 1.5, note=compared_us(*read),
        ),
        Line(
            "one more observation of an entity with 1,000 : of one with one",
            told[0] / told[1], None, note=compared_us(*told),
        ),
        Line(
            "the same, observed before the others : of one with two",
            early[0] / early[1], None, note=compared_us(*early),
        ),
    ]  # fmt: skip


def _observing(store: Store, *, at: str | None = None, **known: Any) -> Callable[[], CallContext]:
    """Submits an observation of one feature unit after the other, unless its id is known; later than all before it."""
    reporter, numbers = Reporter(seed=44 if at is None else 45), itertools.count(1)

    def observe() -> CallContext:
        number = next(numbers)
        call = _later(reporter.feature(number, dependencies=[], **known), number)
        if at is not None:
            call["provenance"]["extracted_at"] = at
        return store.call("submit_payload", {**call, "workspace": PROJECT})

    return observe


def _reading(store: Store, name: str, observations: int) -> Callable[[], CallContext]:
    """Reads a feature unit's entity by its id."""
    call = {"entity_id": _entity(store, name), "workspace": PROJECT}
    (entity,) = store.call("retrieve_entities", call)["entities"]
    assert entity["observation_count"] == observations
    return _asking(store, "retrieve_entities", call)


def lines() -> list[Line]:
    """Every line about records."""
    return [*submit_lines(), filter_line(), *record_search.lines(), *snapshot_lines(), *other_lines()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
