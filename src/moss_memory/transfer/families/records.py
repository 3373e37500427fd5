"""Records in export files: new observations are added, and snapshots are computed again."""

from __future__ import annotations

import json

from moss_memory.rows.times import format_instant
from moss_memory.tools.record.entity_ids import payload_id
from moss_memory.tools.record.submission import recompute_snapshot, sql
from moss_memory.transfer.export_schema import InvalidRow, Table, json_column, normalized, number, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.transfer.export_schema import Line, Values

FILE = "records.jsonl"
PROPERTIES = "properties"


def _check_times(values: Values) -> None:
    for name in values.keys() & {"last_observed_us", "observed_us", "at_us"}:
        try:
            format_instant(values[name])
        except OverflowError:
            raise InvalidRow(f"{name} is no time between the years 1 and 9999") from None


def _check_record(values: Values) -> None:
    if values["payload_id"] != payload_id(values["workspace_norm"], values["content_id"]):
        raise InvalidRow("payload_id does not follow from workspace_norm and content_id")


TABLES = (
    Table(
        "entities",
        number("row_id", "entities"),
        normalized("workspace_norm"),
        text("workspace_raw"),
        text("entity_id"),
        text("type"),
        json_column("snapshot_json", dict),
        json_column("sources_json", dict, ascii=True),
        whole("observation_count"),
        whole("last_observed_us"),
        text("last_content_id"),
        text("last_submission"),
        key=("row_id",),
        unique=(("workspace_norm", "entity_id"),),
        check=_check_times,
    ),
    Table(
        "records",
        number("row_id", "records"),
        normalized("workspace_norm"),
        text("workspace_raw"),
        text("payload_id"),
        text("content_id"),
        text("capability_id"),
        text("type"),
        number("entity_row", "entities"),
        json_column("body_json", dict),
        json_column("sets_json", list, of=str, spaced=True, ascii=True, default="[]"),  # files have no empty lists
        text("title", optional=True),
        text("search_text", optional=True),
        whole("created_at_ms"),
        whole("updated_at_ms"),
        key=("row_id",),
        refers={"entity_row": "entities"},
        unique=(("payload_id",), ("workspace_norm", "content_id")),
        check=_check_record,
    ),
    Table(
        "observations",
        number("row_id", "observations"),
        normalized("workspace_norm"),
        number("entity_row", "entities"),
        number("record_row", "records"),
        text("submission_id"),
        whole("observed_us"),
        text("content_id"),
        text("agent_id", optional=True),
        json_column("source_refs_json", list, of=str, optional=True, spaced=True),
        text("extractor_version", optional=True),
        json_column("unmapped_json", dict, optional=True),
        text("client_request_id", optional=True),
        json_column("answer_json", dict, optional=True, spaced=True, ascii=True),
        whole("arrived_at_ms"),
        key=("row_id",),
        refers={"entity_row": "entities", "record_row": "records"},
        unique=(("submission_id",), ("workspace_norm", "client_request_id")),
        check=_check_times,
    ),
    Table(
        "timeline_events",
        number("row_id", "timeline_events"),
        normalized("workspace_norm"),
        text("workspace_raw"),
        text("event_id"),
        text("event_type"),
        whole("at_us"),
        number("entity_row", "entities"),
        number("record_row", "records"),
        key=("row_id",),
        refers={"entity_row": "entities", "record_row": "records"},
        unique=(("workspace_norm", "event_id"),),
        check=_check_times,
    ),
)
SERIES = {table.name: f"select coalesce(max(row_id), 0) from {table.name}" for table in TABLES}
_IDENTITY = {
    "entities": ("workspace_norm", "entity_id"),
    "records": ("workspace_norm", "content_id"),
    "observations": ("submission_id",),
    "timeline_events": ("workspace_norm", "event_id"),
}
_KNOWN = {
    table: f"select row_id from {table} where {' and '.join([f'{name} = :{name}' for name in names])}"
    for table, names in _IDENTITY.items()
}
_CONTENT = "select record_row, observed_us, content_id, agent_id from observations where row_id = :row_id"


def properties_of(tx: ReadTransaction, record_row: int) -> list[list[str]]:
    """Return the properties by which a record is searched, each with its value."""
    sql = "select name, value from record_properties where row_id = :row_id order by name, value"
    return [list(row) for row in tx.rows(sql, {"row_id": record_row})]


def pop_properties(line: Line) -> Any:
    """Remove the properties from the line of a record and return them."""
    properties = line.pop(PROPERTIES, [])
    if not isinstance(properties, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(item, str) for item in pair) for pair in properties
    ):
        raise InvalidRow(f"{PROPERTIES} must be a list of names with their values")
    return properties


class RecordImport:
    """Import of records: existing ones stay, new ones are added, affected snapshots are computed again."""

    def __init__(self, tx: Transaction, offsets: dict[str, int], mode: str, *, as_exported: bool) -> None:
        self._tx = tx
        self._offsets = offsets
        self._mode = mode
        self._recomputes = any(offsets.values()) or not as_exported
        self._rows: dict[tuple[str, int], int] = {}
        self._changed_entities: dict[int, None] = {}
        self.collisions: list[tuple[Any, Values, str]] = []
        """Submissions and requests that exist with different content: line, kind and reason."""

    def add(self, table: Table, where: Any, values: Values, more: Any) -> None:
        """Insert one row, or match it with an equal existing one."""
        row = dict(values)
        for column, target in table.refers.items():
            row[column] = self._rows[target, row[column]]
        existing_row = self._tx.row(_KNOWN[table.name], {name: row[name] for name in _IDENTITY[table.name]})
        if table.name == "observations":
            if not self._is_new(where, row, existing_row):
                return
        elif existing_row is not None:
            self._rows[table.name, values["row_id"]] = existing_row[0]
            self._extend_times(table, existing_row[0], row)
            return
        row["row_id"] += self._offsets[table.name]
        self._rows[table.name, values["row_id"]] = row["row_id"]
        table.insert_all(self._tx, [row])
        for name, value in more:
            self._tx.run(sql["add_property"], {"name": name, "value": value, "record_row": row["row_id"]})
        if table.name == "observations" and self._recomputes:
            self._changed_entities[row["entity_row"]] = None

    def _extend_times(self, table: Table, row_id: int, row: Values) -> None:
        """Extend the times of an existing record; its content stays."""
        if table.name == "records":
            self._tx.run(
                "update records set "
                "created_at_ms = case when created_at_ms < :created_at_ms then created_at_ms else :created_at_ms end, "
                "updated_at_ms = case when updated_at_ms > :updated_at_ms then updated_at_ms else :updated_at_ms end "
                "where row_id = :row_id",
                {key: row[key] for key in ("created_at_ms", "updated_at_ms")} | {"row_id": row_id},
            )

    def _is_new(self, where: Any, row: Values, existing_row: Any) -> bool:
        """Return True if an observation must be added; resolve a conflict by the mode."""
        if existing_row is not None:
            stored = self._tx.row(_CONTENT, {"row_id": existing_row[0]})
            if stored == (row["record_row"], row["observed_us"], row["content_id"], row["agent_id"]):
                return False
            if self._mode == "error":
                self.collisions.append((where, row, "this submission is known with other content"))
                return False
            if self._mode == "replace":
                self._delete_observation(existing_row[0])
            else:
                row["submission_id"] = self._free_id(row["submission_id"])
        request = row["client_request_id"]
        if request is not None:
            key = {"workspace": row["workspace_norm"], "client_request_id": request}
            if self._tx.row(sql["request"], key) is not None:
                if self._mode == "error":
                    self.collisions.append((where, row, "its client_request_id was used for another submission"))
                    return False
                row["client_request_id"] = row["answer_json"] = None
        return True

    def _free_id(self, submission: str) -> str:
        number = 1
        while self._tx.row(_KNOWN["observations"], {"submission_id": f"{submission}-{number}"}) is not None:
            number += 1
        return f"{submission}-{number}"

    def _delete_observation(self, row_id: int) -> None:
        entity = self._tx.row("select entity_row from observations where row_id = :row_id", {"row_id": row_id})
        assert entity is not None
        self._changed_entities[entity[0]] = None
        self._tx.run("delete from observations where row_id = :row_id", {"row_id": row_id})

    def finish(self) -> None:
        """Compute the snapshots of changed entities."""
        for entity_row in self._changed_entities:
            recompute_snapshot(self._tx, entity_row)


def delete_records(tx: Transaction, workspace: str) -> None:
    """Delete the records of a workspace with everything derived from them."""
    inside = "in (select row_id from records where workspace_norm = :workspace)"
    tx.run(f"delete from record_properties where row_id {inside}", {"workspace": workspace})
    for table in reversed(TABLES):
        table.delete(tx, workspace)


def update_record_ids(tx: Transaction, workspace: str) -> None:
    """Replace the record ids of a renamed workspace by those derived from its new name."""
    rows = list(
        tx.stream(
            "select row_id, content_id from records where workspace_norm = :workspace order by row_id",
            {"workspace": workspace},
        )
    )
    for row_id, content in rows:
        ids = {"row_id": row_id, "payload_id": payload_id(workspace, content)}
        tx.run("update records set payload_id = :payload_id where row_id = :row_id", ids)
        _update_responses(tx, **ids)


def _update_responses(tx: Transaction, *, row_id: int, payload_id: str) -> None:
    """Replace the record's id in the stored responses of repeated requests."""
    responses = tx.stream(
        "select o.row_id, o.answer_json, r.workspace_raw from observations o join records r on r.row_id = o.record_row "
        "where r.row_id = :row_id and o.entity_row = r.entity_row and o.answer_json is not null",
        {"row_id": row_id},
    )
    for observation, answer_json, workspace in list(responses):
        stored_answer = {**json.loads(answer_json), "payload_id": payload_id, "workspace": workspace}
        tx.run(
            "update observations set answer_json = :answer_json where row_id = :row_id",
            {"row_id": observation, "answer_json": json.dumps(stored_answer)},
        )
