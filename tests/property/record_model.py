"""A plain-Python model of records: submissions, entities, timelines and past states."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from contract.records.archive import EVENT_OF, FIELDS, IDENTITY, SETS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def norm(text: str) -> str:
    """Normalize a name; compose it again, since a lower-case letter may compose if its capital does not."""
    lowered = unicodedata.normalize("NFC", text).strip().lower()
    return unicodedata.normalize("NFC", " ".join(lowered.split()))


def instant(text: str) -> int:
    """Return microseconds since the epoch; a date is its first moment, a time without a zone is UTC."""
    moment = datetime.fromisoformat(text)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def shown(at_us: int) -> datetime:
    return EPOCH + at_us * MICROSECOND


def identity_of(kind: str, body: dict[str, Any]) -> str:
    """Return the identity of a body as text: its type and the parts of its identity."""
    parts: list[Any] = []
    for name in IDENTITY[kind]:
        value = body.get(name)
        if value is not None:
            value = instant(value) if FIELDS[kind][name].startswith("time") else norm(value)
        parts.append(value)
    return json.dumps([kind, parts])


def content_of(kind: str, body: dict[str, Any], provenance: dict[str, Any]) -> str:
    """Return text that is equal for equal records."""
    refs = sorted(provenance.get("source_refs") or [])
    return json.dumps([kind, body, refs, provenance.get("extractor_version")], sort_keys=True)


class Observation:
    """An accepted submission."""

    def __init__(
        self, kind: str, body: dict[str, Any], provenance: dict[str, Any], arrived_ms: int, answer: dict[str, Any]
    ) -> None:
        self.kind = kind
        self.body = body
        self.provenance = provenance
        self.arrived_ms = arrived_ms
        self.answer = answer
        self.content = content_of(kind, body, provenance)
        self.identity = identity_of(kind, body)
        told = provenance.get("extracted_at")
        self.observed_us = arrived_ms * 1000 if told is None else instant(told)

    @property
    def order(self) -> tuple[int, str, str]:
        return self.observed_us, self.answer["payload_content_id"], self.answer["payload_submission_id"]

    def origin(self) -> dict[str, Any]:
        """Return the fields of `include_provenance`, with the time as an instant."""
        return {
            "payload_submission_id": self.answer["payload_submission_id"],
            "source_record_id": self.answer["payload_id"],
            "observed_at": shown(self.observed_us),
            "agent_id": self.provenance.get("agent_id"),
            "source_refs": self.provenance.get("source_refs") or [],
            "extractor_version": self.provenance.get("extractor_version"),
        }


def fold(observations: list[Observation]) -> tuple[dict[str, Any], dict[str, Observation]]:
    """Return the snapshot of observations, and the observation that each field came from."""
    fields: dict[str, Any] = {}
    sources: dict[str, Observation] = {}
    for observation in sorted(observations, key=lambda one: one.order):
        for name, value in observation.body.items():
            if value is None:
                fields.pop(name, None)
                sources.pop(name, None)
                continue
            fields[name] = list(dict.fromkeys([*fields.get(name, []), *value])) if name in SETS else value
            sources[name] = observation
    return fields, sources


class Space:
    """One workspace: its observations in the order of arrival, and the requests that made them."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.observations: list[Observation] = []
        self.requests: dict[str, Observation] = {}

    def has(self, content: str) -> Observation | None:
        """Return the first observation with that content."""
        return next((one for one in self.observations if one.content == content), None)

    def add(self, observation: Observation, request: str | None) -> None:
        """Add an observation; without a time of its own it is the last of its entity in its millisecond."""
        before = max((one.observed_us for one in self.observations if one.identity == observation.identity), default=0)
        if observation.provenance.get("extracted_at") is None and before // 1000 == observation.arrived_ms:
            observation.observed_us = before + 1
        self.observations.append(observation)
        if request is not None:
            self.requests[request] = observation

    def records(self) -> list[dict[str, Any]]:
        """Return every record, newest first by first arrival."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.observations:
            record = found.setdefault(one.content, {
                "id": one.answer["payload_id"], "type": one.kind, "properties": one.body,
                "created_ms": one.arrived_ms, "updated_ms": one.arrived_ms,
            })  # fmt: skip
            record["updated_ms"] = max(record["updated_ms"], one.arrived_ms)
        return list(found.values())[::-1]

    def entities(self, as_of_us: int | None = None) -> Iterator[dict[str, Any]]:
        """Return every entity that existed at that time with its snapshot, newest first by first arrival."""
        for identity in reversed(dict.fromkeys(one.identity for one in self.observations)):
            known = [
                one
                for one in self.observations
                if one.identity == identity and (as_of_us is None or one.observed_us <= as_of_us)
            ]
            if known:
                fields, sources = fold(known)
                yield {
                    "entity_id": known[0].answer["entity_id"],
                    "entity_type": known[0].kind,
                    "snapshot": fields,
                    "provenance": {name: source.origin() for name, source in sources.items()},
                    "observation_count": len(known),
                }

    def events(self) -> list[dict[str, Any]]:
        """Return one event for each entity, date field and instant, with its first record."""
        found: dict[tuple[str, str, int], dict[str, Any]] = {}
        for one in self.observations:
            for name, form in FIELDS[one.kind].items():
                if form.startswith("time") and one.body.get(name) is not None:
                    at_us = instant(one.body[name])
                    found.setdefault((one.identity, name, at_us), {
                        "event_type": f"{one.kind}.{EVENT_OF[name]}",
                        "event_timestamp": shown(at_us),
                        "source_record_id": one.answer["payload_id"],
                        "entity_ids": [one.answer["entity_id"]],
                    })  # fmt: skip
        return list(found.values())


class RecordModel:
    """Workspaces by normalized name."""

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}

    def space(self, raw: str) -> Space:
        return self.spaces.setdefault(norm(raw), Space(raw))
