"""How records go to files and come back: what was said is added to what is known, and snapshots are folded again."""

from __future__ import annotations

import json

from moss_memory.rows.times import format_instant
from moss_memory.tools.record.entity_ids import payload_id
from moss_memory.tools.record.submission import recompute_snapshot, sql
from moss_memory.transfer.export_schema import InvalidRow, Table, json_column, norm, number, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.transfer.export_schema import Line, Values

FILE = "records.jsonl"
PROPERTIES = "properties"
TABLES = (
    Table(
        "entities",
        number("row_id", "entities"),
        norm("workspace_norm"),
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
    ),
    Table(
        "records",
        number("row_id", "records"),
        norm("workspace_norm"),
        text("workspace_raw"),
        text("payload_id"),
        text("content_id"),
        text("capability_id"),
        text("type"),
        number("entity_row", "entities"),
        json_column("body_json", dict),
        json_column("sets_json", list, of=str, spaced=True, ascii=True),
        text("title", optional=True),
        text("search_text", optional=True),
        whole("created_at_ms"),
        whole("updated_at_ms"),
        key=("row_id",),
        refers={"entity_row": "entities"},
        unique=(("payload_id",), ("workspace_norm", "content_id")),
    ),
    Table(
        "observations",
        number("row_id", "observations"),
        norm("workspace_norm"),
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
    ),
    Table(
        "timeline_events",
        number("row_id", "timeline_events"),
        norm("workspace_norm"),
        text("workspace_raw"),
        text("event_id"),
        text("event_type"),
        whole("at_us"),
        number("entity_row", "entities"),
        number("record_row", "records"),
        key=("row_id",),
        refers={"entity_row": "entities", "record_row": "records"},
        unique=(("workspace_norm", "event_id"),),
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
_SAID = "select record_row, observed_us, content_id, agent_id from observations where row_id = :row_id"


def more_of(tx: ReadTransaction, table: str, values: Values, line: Line) -> None:
    """Puts into a line what is kept of its row in other tables: the properties by which a record is looked up."""
    if table == "records":
        found = tx.rows(
            "select name, value from record_properties where row_id = :row_id order by name, value",
            {"row_id": values["row_id"]},
        )
        line[PROPERTIES] = [list(row) for row in found]


def take_more(table: str, line: Line) -> Any:
    """Takes the same out of a line again."""
    found = line.pop(PROPERTIES, []) if table == "records" else []
    if not isinstance(found, list) or not all(_is_property(one) for one in found):
        raise InvalidRow(f"{PROPERTIES} must be a list of names with their values")
    return found


def _is_property(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value)


def check(table: str, values: Values) -> None:
    """Refuses a row that contradicts itself; raises `InvalidRow`."""
    if table == "records" and values["payload_id"] != payload_id(values["workspace_norm"], values["content_id"]):
        raise InvalidRow("payload_id does not follow from workspace_norm and content_id")
    for name, value in values.items():
        if name.endswith("_us"):
            _check_instant(name, value)


def _check_instant(name: str, us: int) -> None:
    try:
        format_instant(us)
    except OverflowError:
        raise InvalidRow(f"{name} is no time between the years 1 and 9999") from None


class Incoming:
    """Records on their way into a store: what it knows stays, what is new is added, touched entities are folded."""

    def __init__(self, tx: Transaction, offsets: dict[str, int], mode: str, *, as_exported: bool) -> None:
        self._tx = tx
        self._offsets = offsets
        self._mode = mode
        self._fold = any(offsets.values()) or not as_exported
        self._rows: dict[tuple[str, int], int] = {}
        self._touched: dict[int, None] = {}
        self.collisions: list[tuple[Any, Values, str]] = []
        """Submissions and requests that the store knows with other content: where they stand, what, and why."""

    def take(self, table: Table, where: Any, values: Values, more: Any) -> None:
        """Writes one row, or finds the one that says the same."""
        row = dict(values)
        for column, other in table.refers.items():
            row[column] = self._rows[other, row[column]]
        known = self._tx.row(_KNOWN[table.name], {name: row[name] for name in _IDENTITY[table.name]})
        if table.name == "observations":
            if not self._is_new(where, row, known):
                return
        elif known is not None:
            self._rows[table.name, values["row_id"]] = known[0]
            self._grow(table, known[0], row)
            return
        row["row_id"] += self._offsets[table.name]
        self._rows[table.name, values["row_id"]] = row["row_id"]
        table.insert_all(self._tx, [row])
        for name, value in more:
            self._tx.run(sql["add_property"], {"name": name, "value": value, "record_row": row["row_id"]})
        if table.name == "observations" and self._fold:
            self._touched[row["entity_row"]] = None

    def _grow(self, table: Table, row_id: int, row: Values) -> None:
        """A record that is known keeps its content; its times span both."""
        if table.name == "records":
            self._tx.run(
                "update records set "
                "created_at_ms = case when created_at_ms < :created_at_ms then created_at_ms else :created_at_ms end, "
                "updated_at_ms = case when updated_at_ms > :updated_at_ms then updated_at_ms else :updated_at_ms end "
                "where row_id = :row_id",
                {key: row[key] for key in ("created_at_ms", "updated_at_ms")} | {"row_id": row_id},
            )

    def _is_new(self, where: Any, row: Values, known: Any) -> bool:
        """Whether an observation is to be added; one that is there with other content is settled by the mode."""
        if known is not None:
            said = self._tx.row(_SAID, {"row_id": known[0]})
            if said == (row["record_row"], row["observed_us"], row["content_id"], row["agent_id"]):
                return False
            if self._mode == "error":
                self.collisions.append((where, row, "this submission is known with other content"))
                return False
            if self._mode == "replace":
                self._forget(known[0])
            else:
                row["submission_id"] = self._another(row["submission_id"])
        request = row["client_request_id"]
        if request is not None:
            key = {"workspace": row["workspace_norm"], "client_request_id": request}
            if self._tx.row(sql["request"], key) is not None:
                if self._mode == "error":
                    self.collisions.append((where, row, "its client_request_id was used for another submission"))
                    return False
                row["client_request_id"] = row["answer_json"] = None
        return True

    def _another(self, submission: str) -> str:
        number = 1
        while self._tx.row(_KNOWN["observations"], {"submission_id": f"{submission}-{number}"}) is not None:
            number += 1
        return f"{submission}-{number}"

    def _forget(self, row_id: int) -> None:
        entity = self._tx.row("select entity_row from observations where row_id = :row_id", {"row_id": row_id})
        assert entity is not None
        self._touched[entity[0]] = None
        self._tx.run("delete from observations where row_id = :row_id", {"row_id": row_id})

    def finish(self) -> None:
        """Folds the snapshots of entities that were told something new."""
        for entity_row in self._touched:
            recompute_snapshot(self._tx, entity_row)


def delete_workspace(tx: Transaction, workspace: str) -> None:
    """Removes the records of a workspace with all that was made of them."""
    inside = "in (select row_id from records where workspace_norm = :workspace)"
    tx.run(f"delete from record_properties where row_id {inside}", {"workspace": workspace})
    for table in reversed(TABLES):
        table.delete(tx, workspace)


def name_again(tx: Transaction, workspace: str) -> None:
    """Gives the records of a workspace that was renamed the ids that follow from its new name."""
    known = list(
        tx.stream(
            "select row_id, content_id from records where workspace_norm = :workspace order by row_id",
            {"workspace": workspace},
        )
    )
    for row_id, content in known:
        named = {"row_id": row_id, "payload_id": payload_id(workspace, content)}
        tx.run("update records set payload_id = :payload_id where row_id = :row_id", named)
        _tell_again(tx, **named)


def _tell_again(tx: Transaction, *, row_id: int, payload_id: str) -> None:
    """What a repeated request will be told is the record's new id."""
    told = tx.stream(
        "select o.row_id, o.answer_json, r.workspace_raw from observations o join records r on r.row_id = o.record_row "
        "where r.row_id = :row_id and o.entity_row = r.entity_row and o.answer_json is not null",
        {"row_id": row_id},
    )
    for observation, answer_json, workspace in list(told):
        answer = {**json.loads(answer_json), "payload_id": payload_id, "workspace": workspace}
        tx.run(
            "update observations set answer_json = :answer_json where row_id = :row_id",
            {"row_id": observation, "answer_json": json.dumps(answer)},
        )
