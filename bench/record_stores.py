"""Stores full of records to measure with: projects that record their feature units, and a few releases."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

from moss_memory import open_store
from moss_memory.rows.ids import new_id
from moss_memory.storage.engine import CallContext as EngineCall
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.store import Store
from moss_memory.tools.record.record_tools import submit_payload

from .measure import cached, read_once
from .texts import Author

CallContext = dict[str, Any]

FEATURES, RELEASES = "neotoma:store_feature_unit:v1", "neotoma:store_release:v1"
PROJECT = "project 0"
PROJECT_RECORDS = 1_000
"""How many records a project has; projects take turns, so that those of one are not neighbours on disk."""
FEW = 50
"""How many records have each of the rare traits, in a store of any size; all of them are in the first project."""
WANTED_ID, WANTED_DEPENDENCY = "FU-wanted", "FU-blocker"
OBSERVATIONS = 1_000
DESCRIPTION_CHARS = 300
STATUSES = ("planning", "in_progress", "completed", "deployed", "deferred", "cancelled")
RISKS = ("low", "medium", "high")
_BEGIN_MS = 1_700_000_000_000


class Reporter:
    """Writes payloads about feature units and releases, never the same one twice."""

    def __init__(self, *, seed: int) -> None:
        self._author = Author(seed=seed)
        self._chance = random.Random(seed)  # noqa: S311

    def feature(self, number: int, **known: Any) -> CallContext:
        """What an agent tells of a feature unit, with where it has it from."""
        chance = self._chance
        body = {
            "id": f"FU-{number}",
            "description": self._author.prose(DESCRIPTION_CHARS),
            "status": chance.choice(STATUSES),
            "dependencies": [f"FU-{chance.randrange(number + 1)}-{place}" for place in range(3)],
            "risk_level": chance.choice(RISKS),
            "created_at": moment(number),
            "updated_at": moment(number + 7_000),
            **known,
        }
        return {"capability_id": FEATURES, "body": body, "provenance": provenance(number)}

    def release(self, number: int) -> CallContext:
        """What an agent tells of a release; it has statuses that most feature units have too."""
        body = {
            "id": f"v1.{number}",
            "version": f"1.{number}",
            "feature_units": [f"FU-{number}"],
            "status": "planning",
            "acceptance_criteria": [self._author.prose(DESCRIPTION_CHARS)],
            "created_at": moment(number),
            "updated_at": moment(number + 7_000),
        }
        return {"capability_id": RELEASES, "body": body, "provenance": provenance(number)}


def moment(number: int) -> str:
    """A time of its own for every number."""
    minutes, second = divmod(number, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"2025-01-{days + 1:02d}T{hour:02d}:{minute:02d}:{second:02d}Z"


def provenance(number: int, *, agent: str = "agent-1") -> CallContext:
    """Where a payload comes from, as agents tell it."""
    return {
        "source_refs": [f"file:///project/units/FU-{number}.md", f"commit:{number:040x}"],
        "extracted_at": moment(number),
        "extractor_version": "1.4.0",
        "agent_id": agent,
    }


def records_of(count: int) -> str:
    """The home of a store of so many records of feature units and fifty releases."""
    return _ready(f"records-{count}", lambda: _records(count))


def observed_home() -> str:
    """The home of a store with one feature unit observed 1,000 times among 1,000 observed once."""
    return _ready("observed", _observed)


def _ready(kind: str, payloads: Any) -> str:
    home = cached(kind, lambda folder: _fill(folder, payloads()))
    read_once(os.path.join(home, DATABASE))
    return home


def _fill(home: str, payloads: Iterator[CallContext]) -> None:
    """Submits everything in one transaction, which is much faster than each in its own."""
    with open_store(home) as store:
        engine: Any = store._engine
        tx = engine.begin_write(timeout_s=0, call=_call(store))
        tx.connection.execute("pragma cache_size = -200000")
        for number, payload in enumerate(payloads):
            tx._now_ms = _BEGIN_MS + number
            submit_payload.body(tx, **payload)
        tx.commit()
        tx.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        tx.release()


def _call(store: Store) -> EngineCall:
    return EngineCall(
        operation="submit_payload",
        config=store.config,
        clock_ms=lambda: _BEGIN_MS,
        new_id=new_id,
        cancelled=None,
        progress=None,
    )


def _records(count: int) -> Iterator[CallContext]:
    """The first project of a large store has what the only one of a small store has."""
    reporter = Reporter(seed=41)
    projects, rare = count // PROJECT_RECORDS, count // FEW
    for number in range(count):
        place, project = divmod(number, projects)
        payload = reporter.release(number) if number % rare == 0 else None
        if payload is None:
            payload = reporter.feature(number, **_traits(place, project))
        yield {**payload, "workspace": f"project {project}"}


def _traits(place: int, project: int) -> CallContext:
    """Every sixth record has each status, every third of most each risk; fifty have each of three rare traits."""
    known: CallContext = {
        "status": STATUSES[(place + project) % len(STATUSES)],
        "risk_level": RISKS[(place // len(STATUSES) + project) % len(RISKS)],
    }
    turn = place % (PROJECT_RECORDS // FEW) if project == 0 else 0
    if turn == 1:
        return {**known, "id": WANTED_ID, "status": "planning"}
    if turn == 2:
        return {**known, "dependencies": [f"FU-{place}", WANTED_DEPENDENCY]}
    if turn == 3:
        return {**known, "status": "deferred", "risk_level": "high"}
    return {**known, "risk_level": "low"} if known["status"] == "deferred" else known


def _observed() -> Iterator[CallContext]:
    reporter = Reporter(seed=42)
    first = reporter.feature(0, id=WANTED_ID)["body"]
    for number in range(OBSERVATIONS):
        yield {**reporter.feature(number), "workspace": PROJECT}
        body = {**first, "status": STATUSES[number % len(STATUSES)], "updated_at": moment(number)}
        yield {
            "capability_id": FEATURES,
            "body": body,
            "provenance": provenance(number),
            "workspace": PROJECT,
        }
