"""Submission of a payload: record, observation, entity, timeline events and properties, in one transaction."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import instant_us
from moss_memory.rows.workspace_names import note_new_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.storage.queries import load_queries

from .entity_ids import canonical, content_id, entity_id, event_id, payload_id, property_value, submission_id
from .snapshots import Snapshot, reduce_observations, sets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Row, Transaction

    from .capabilities import Capability

REFS_MAX = 1000
PROVENANCE_MAX_CHARS = 100_000
ALWAYS_US = 2**63 - 1

sql = load_queries(__file__)


class Entity(NamedRow):
    """The snapshot of an entity, and its last observation."""

    __slots__ = ()
    row_id: int
    snapshot_json: str
    sources_json: str
    observation_count: int
    observed_us: int
    content_id: str
    submission_id: str

    def last(self) -> tuple[int, str, str]:
        """Return the sort key of the last observation."""
        return self.observed_us, self.content_id, self.submission_id

    def snapshot(self) -> Snapshot:
        snapshot = Snapshot(json.loads(self.snapshot_json), json.loads(self.sources_json))
        snapshot.count = self.observation_count
        return snapshot


def errors_in_provenance(provenance: dict[str, Any]) -> list[MossError]:
    errors = []
    refs, observed = provenance.get("source_refs", []), provenance.get("extracted_at")
    if len(refs) > REFS_MAX:
        problem = f"`provenance.source_refs` has {len(refs)} entries; at most {REFS_MAX}"
        errors.append(invalid_request(problem, path="provenance"))
    if provenance and len(canonical(provenance)) > PROVENANCE_MAX_CHARS:
        problem = f"`provenance` has more than {PROVENANCE_MAX_CHARS} characters of JSON"
        errors.append(invalid_request(problem, path="provenance"))
    if observed is not None:
        try:
            instant_us(observed, what="provenance.extracted_at")
        except MossError as error:
            errors.append(error)
    return errors


class Submission:
    """One payload to be written."""

    def __init__(
        self, tx: Transaction, capability: Capability, body: dict[str, Any], provenance: dict[str, Any], workspace: str
    ) -> None:
        self._tx = tx
        self._capability = capability
        self._body = body
        self._provenance = provenance
        self._workspace = workspace
        refs = provenance.get("source_refs", [])
        self.content_id = content_id(capability.capability_id, body, refs, provenance.get("extractor_version"))
        self.key = {"workspace": normalize_workspace(workspace)}
        observed = provenance.get("extracted_at")
        self._given_us = None if observed is None else instant_us(observed, what="provenance.extracted_at")

    def write(self, client_request_id: str | None) -> dict[str, Any]:
        """Write the record if it is new, and its observation, entity, events and properties."""
        tx = self._tx
        tx.begin()
        note_new_workspace(tx, self.key["workspace"])
        submission = submission_id(tx.now_ms)
        entity = entity_id(self._capability, self._body)
        entity_row = tx.row(sql["entity"], {**self.key, "entity_id": entity})
        stored_entity = None if entity_row is None else Entity(entity_row)
        row: dict[str, Any] = {
            **self.key,
            "workspace_raw": self._workspace,
            "content_id": self.content_id,
            "payload_id": payload_id(self.key["workspace"], self.content_id),
            "submission_id": submission,
            "entity_id": entity,
            "type": self._capability.entity_type,
            "capability_id": self._capability.capability_id,
            "observed_us": self._observed_us(stored_entity),
            "now_ms": tx.now_ms,
        }
        row["entity_row"] = stored_entity.row_id if stored_entity else tx.value(sql["add_entity"], row)
        record_row = tx.value(sql["record"], row)
        created = record_row is None
        row["record_row"] = self._add_record(row) if created else record_row
        if not created:
            tx.run(sql["touch_record"], row)
        kind = row["type"]
        answer = {
            "payload_id": row["payload_id"],
            "payload_content_id": self.content_id,
            "payload_submission_id": submission,
            "created": created,
            "message": f"recorded: {kind}" if created else f"recorded before: {kind}; the observation was added",
            "entity_id": entity,
            "workspace": self._workspace,
            **tx.call.created,
        }
        self._add_observation(row, client_request_id, answer)
        self._update_entity(row, stored_entity)
        if created:
            add_events(tx, self._capability, self._body, row)
        tx.set_event_subject(workspace=self.key["workspace"], address=str(row["payload_id"]))
        return answer

    def _observed_us(self, entity: Entity | None) -> int:
        """Return the given time, or now, but after the entity's last observation in this millisecond."""
        if self._given_us is not None:
            return self._given_us
        now_us = self._tx.now_ms * 1000
        return entity.observed_us + 1 if entity and now_us <= entity.observed_us < now_us + 1000 else now_us

    def _add_record(self, row: dict[str, Any]) -> int:
        title = self._body.get(self._capability.title)
        texts = [
            text
            for name, field in self._capability.fields.items()
            if field.get("search") and name != self._capability.title
            for text in _strings_in(self._body.get(name))
        ]
        columns = {
            **row,
            "body_json": json.dumps(self._body, ensure_ascii=False, separators=(",", ":")),
            "sets_json": json.dumps(sets_of(self._capability)),
            "title": title if title is None or isinstance(title, str) else canonical(title),
            "search_text": "\n".join(texts),
        }
        record_row: int = self._tx.value(sql["add_record"], columns)
        for name, value in _properties(self._capability, self._body):
            self._tx.run(sql["add_property"], {"name": name, "value": value, "record_row": record_row})
        return record_row

    def _add_observation(self, row: dict[str, Any], client_request_id: str | None, answer: dict[str, Any]) -> None:
        refs, unmapped = self._provenance.get("source_refs"), self._provenance.get("unmapped")
        columns = {
            **row,
            "agent_id": self._provenance.get("agent_id"),
            "source_refs_json": json.dumps(refs, ensure_ascii=False) if refs else None,
            "extractor_version": self._provenance.get("extractor_version"),
            "unmapped_json": canonical(unmapped) if unmapped else None,
            "client_request_id": client_request_id,
            "answer_json": json.dumps(answer) if client_request_id else None,
        }
        self._tx.run(sql["add_observation"], columns)

    def _update_entity(self, row: dict[str, Any], entity: Entity | None) -> None:
        """Add the observation to the snapshot, or reduce all observations again if it is not the last."""
        last = (row["observed_us"], self.content_id, row["submission_id"])
        if entity is None or last > entity.last():
            snapshot = Snapshot() if entity is None else entity.snapshot()
            snapshot.add(self._body, row["submission_id"], set(sets_of(self._capability)))
        else:
            everything = {"entity_row": row["entity_row"], "upto": ALWAYS_US}
            snapshot = reduce_observations(self._tx.stream(sql["observations"], everything))
            last = entity.last()
        _change_entity(self._tx, row["entity_row"], snapshot, last)


def add_events(tx: Transaction, capability: Capability, body: dict[str, Any], row: dict[str, Any]) -> None:
    """Write the timeline events in a record's body, each once."""
    for name, field in capability.fields.items():
        value = body.get(name)
        if field.get("event") and value is not None:
            at_us = instant_us(value, what=f"body.{name}")
            kind = f"{capability.entity_type}.{field['event']}"
            identity = event_id(str(row["entity_id"]), name, value)
            tx.run(sql["add_event"], {**row, "event_id": identity, "event_type": kind, "at_us": at_us})


def first_answer(again: Row, content: str, request: str) -> dict[str, Any]:
    """Return the first answer to a repeated request; refuse other content."""
    first_content, answer_json = again
    if first_content != content:
        raise invalid_request(
            f"`client_request_id` {request[:100]!r} was used for other content; use a new one", path="client_request_id"
        )
    answer: dict[str, Any] = json.loads(answer_json)
    return answer


def _strings_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, (dict, list)):
        parts = value.values() if isinstance(value, dict) else value
        return [text for part in parts for text in _strings_in(part)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _properties(capability: Capability, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the scalars of a body and the items of its arrays in the form that filters compare."""
    properties = []
    for name, value in body.items():
        kind = capability.fields[name]["type"]
        for item in value if isinstance(value, list) else [value]:
            if item is not None and not isinstance(item, (dict, list)):
                properties.append((name, property_value(item, kind)))
    return properties


def recompute_snapshot(tx: Transaction, entity_row: int) -> None:
    snapshot = reduce_observations(tx.stream(sql["observations"], {"entity_row": entity_row, "upto": ALWAYS_US}))
    last = tx.row(sql["last_observation"], {"entity_row": entity_row}) or (0, "", "")
    _change_entity(tx, entity_row, snapshot, last)


def _change_entity(tx: Transaction, entity_row: int, snapshot: Snapshot, last: Row) -> None:
    """Write the snapshot of an entity, and the sort key of its last observation."""
    columns = {
        "entity_row": entity_row,
        "snapshot_json": json.dumps(snapshot.fields, ensure_ascii=False, separators=(",", ":")),
        "sources_json": json.dumps(snapshot.sources, separators=(",", ":")),
        "observation_count": snapshot.count,
        **dict(zip(("observed_us", "content_id", "submission_id"), last, strict=True)),
    }
    tx.run(sql["change_entity"], columns)
