"""A record as a file: its content with all observations of it; snapshots are computed again when it is taken."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.record.entity_ids import content_id, payload_id
from moss_memory.transfer.export_schema import InvalidRow, json_file, json_object

from . import records as record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.transfer.export_schema import Line, Table, Values

    ParsedRow = tuple[Table, dict[str, Any], Values, Any]

FOLDER, SUFFIX = "records", ".json"
_TABLES = {table.name: table for table in record.TABLES}
_OF_RECORD = ("row_id", "entity_row", "workspace_norm", "created_at_ms", "updated_at_ms")
_OF_OBSERVATION = (
    "row_id", "entity_row", "record_row", "workspace_norm", "content_id", "client_request_id", "answer_json",
)  # fmt: skip
_OF_EVENT = ("row_id", "entity_row", "record_row", "workspace_norm", "workspace_raw")
_SELECT_ENTITY = "select row_id, entity_id, workspace_raw from entities where row_id = :row_id"


class RecordFile:
    """A record of the store in the form of its file, with the numbers that belong to the store."""

    def __init__(self, tx: ReadTransaction, values: Values) -> None:
        self._tx = tx
        self.values = values
        self.id: str = values["payload_id"]
        self._entity = self._read_entity(values["entity_row"])
        self._observations = self._rows("observations", "submission_id")
        self._events = self._rows("timeline_events", "event_id")

    def _rows(self, table: str, order: str) -> list[Values]:
        rows = list(_TABLES[table].rows(self._tx, "record_row = :record", record=self.values["row_id"]))
        return sorted(rows, key=lambda row: str(row[order]))

    def _read_entity(self, row_id: int) -> tuple[Any, ...]:
        row = self._tx.row(_SELECT_ENTITY, {"row_id": row_id})
        assert row is not None
        return row

    def encode(self) -> bytes:
        """Return the content of the file."""
        line = _TABLES["records"].line(self.values, *_OF_RECORD)
        line = {
            "id": line.pop("payload_id"),
            "workspace": line.pop("workspace_raw"),
            "entity_id": self._entity[1],
            **line,
        }
        line[record.PROPERTIES] = record.properties_of(self._tx, self.values["row_id"])
        line["observations"] = [self._part("observations", row, _OF_OBSERVATION) for row in self._observations]
        line["events"] = [self._part("timeline_events", row, _OF_EVENT) for row in self._events]
        return json_file({key: value for key, value in line.items() if value not in (None, [])})

    def _part(self, table: str, values: Values, without: tuple[str, ...]) -> Line:
        line = {key: value for key, value in _TABLES[table].line(values, *without).items() if value is not None}
        if values["entity_row"] != self.values["entity_row"]:
            line["entity_id"] = self._read_entity(values["entity_row"])[1]
        return line

    def numbers(self) -> Line:
        """Return the columns that belong to the store: numbers, times of arrival, answers of repeated requests."""
        answers = [[row["client_request_id"], row["answer_json"]] for row in self._observations]
        return {
            **{key: self.values[key] for key in ("row_id", "entity_row", "created_at_ms", "updated_at_ms")},
            "entity_workspace": self._entity[2],
            "observations": [row["row_id"] for row in self._observations],
            "answers": answers if any(answer != [None, None] for answer in answers) else [],
            "events": [row["row_id"] for row in self._events],
            "event_workspaces": [row["workspace_raw"] for row in self._events],
        }


def records_in(tx: ReadTransaction, condition: str = "", **parameters: Any) -> Iterator[RecordFile]:
    """Yield the records that meet a condition, in their order."""
    for values in list(_TABLES["records"].rows(tx, condition, **parameters)):
        yield RecordFile(tx, values)


def submissions_of(content: str) -> set[str]:
    """Return the ids of the observations in a file."""
    return {str(observation.get("submission_id")) for observation in _parts(json_object(content), "observations")}


def _parts(line: Line, key: str) -> list[Line]:
    parts = line.get(key, [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidRow(f"{key} must be a list of objects")
    return parts


class RecordRows:
    """The rows of many files: each entity once, with the numbers of a folder or with new ones."""

    def __init__(self, last: int = 0) -> None:
        self._entities: dict[tuple[str, str], int] = {}
        self._last = last
        self.rows: list[ParsedRow] = []

    def _next(self) -> int:
        self._last += 1
        return self._last

    def add(self, file: str, content: str, numbers: Line | None = None, *, verify: bool = False) -> str:
        """Add the rows of one file and return the record's id; raise `InvalidRow` if it is invalid.

        With `verify` the content must be the one that the ids follow from: a record is never edited.
        """
        line, numbers = json_object(content), dict(numbers or {})
        observations, events = _parts(line, "observations"), _parts(line, "events")
        fields = {key: value for key, value in line.items() if key not in ("observations", "events")}
        where = {"file": file, "line": 1}
        workspace, entity = fields.pop("workspace", None), fields.pop("entity_id", None)
        if not isinstance(workspace, str) or not isinstance(entity, str) or not observations:
            raise InvalidRow("a record has a workspace, an entity_id and observations")
        norm = normalize_workspace(workspace)
        properties = record.pop_properties(fields)
        arrival_times = [observation.get("arrived_at_ms") for observation in observations]
        times = [time for time in arrival_times if isinstance(time, int)] or [0]
        record_columns = {
            "payload_id": fields.pop("id", None),
            "workspace_norm": norm,
            "workspace_raw": workspace,
            "row_id": numbers.get("row_id") or self._next(),
            "entity_row": self._entity(norm, entity, line, numbers, where),
            "created_at_ms": numbers.get("created_at_ms", min(times)),
            "updated_at_ms": numbers.get("updated_at_ms", max(times)),
        }
        values = _TABLES["records"].read({**fields, **record_columns})
        if verify:
            _verify(values, observations)
        self.rows.append((_TABLES["records"], where, values, properties))
        answers = _one_for_each(observations, numbers.get("answers"), [None, None])
        ids = _one_for_each(observations, numbers.get("observations"), None)
        for observation, row_id, (request, stored_answer) in zip(observations, ids, answers, strict=True):
            columns = {"content_id": values["content_id"], "client_request_id": request, "answer_json": stored_answer}
            self._add_part("observations", observation, row_id, columns, values, line, where)
        workspaces = _one_for_each(events, numbers.get("event_workspaces"), workspace)
        ids = _one_for_each(events, numbers.get("events"), None)
        for event, row_id, raw in zip(events, ids, workspaces, strict=True):
            self._add_part("timeline_events", event, row_id, {"workspace_raw": raw}, values, line, where)
        return str(values["payload_id"])

    def _entity(self, norm: str, entity: str, line: Line, numbers: Line, where: dict[str, Any]) -> int:
        """Return the number of an entity; the first record that names it adds its row."""
        row_id = self._entities.get((norm, entity))
        if row_id is None:
            row_id = self._entities[norm, entity] = numbers.get("entity_row") or self._next()
            row: Line = {
                "row_id": row_id,
                "workspace_norm": norm,
                "workspace_raw": numbers.get("entity_workspace", line.get("workspace")),
                "entity_id": entity,
                "type": line.get("type"),
                "snapshot": {},
                "sources": {},
                **dict.fromkeys(("observation_count", "last_observed_us"), 0),
                **dict.fromkeys(("last_content_id", "last_submission"), ""),
            }
            self.rows.append((_TABLES["entities"], where, _TABLES["entities"].read(row), []))
        return row_id

    def _add_part(
        self, name: str, part: Line, row_id: Any, columns: Line, of: Values, line: Line, where: dict[str, Any]
    ) -> None:
        """Add an observation or an event of the record `of`; it may be of an entity of its own."""
        norm, entity = of["workspace_norm"], part.get("entity_id")
        row = {key: value for key, value in part.items() if key != "entity_id"} | columns
        row |= {"row_id": row_id or self._next(), "workspace_norm": norm, "record_row": of["row_id"]}
        row["entity_row"] = of["entity_row"] if entity is None else self._entity(norm, str(entity), line, {}, where)
        self.rows.append((_TABLES[name], where, _TABLES[name].read(row), []))


def _one_for_each(parts: list[Line], listed: Any, default: Any) -> list[Any]:
    """Return the listed values if there is one for each part, else defaults: the file was edited by hand."""
    return listed if listed is not None and len(listed) == len(parts) else [default] * len(parts)


def _verify(values: Values, observations: list[Line]) -> None:
    refs = observations[0].get("source_refs") or []
    body = json.loads(values["body_json"])
    if not isinstance(refs, list) or not all(isinstance(ref, str) for ref in refs):
        raise InvalidRow("source_refs must be a list of strings")
    expected = content_id(values["capability_id"], body, refs, observations[0].get("extractor_version"))
    if values["content_id"] != expected:
        raise InvalidRow("its content is not the one that was recorded; records are added and never edited")
    if values["payload_id"] != payload_id(values["workspace_norm"], expected):
        raise InvalidRow("its id does not follow from its content")
