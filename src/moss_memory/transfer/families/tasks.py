"""Plans and tasks in export files: together with the reasoning of their workspace."""

from __future__ import annotations

import json

from moss_memory.tools.task.model.task_rows import CHECKPOINTS
from moss_memory.transfer.export_schema import (
    InvalidRow,
    Table,
    choice,
    counter,
    flag,
    json_column,
    normalized,
    number,
    tags_column,
    text,
    whole,
)

from .reasoning import renumber_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction
    from moss_memory.transfer.export_schema import Renumbering, Values

FILE = "tasks.jsonl"
_NUMBERED = ("tasks", "steps", "task_evidence", "task_claims")
SERIES = {
    **{table: f"select coalesce(max(row_id), 0) from {table}" for table in _NUMBERED},
    "events": "select coalesce(max(seq), 0) from events",
}
_OF_TASKS = "in (select row_id from tasks where workspace_norm = :workspace)"


def _renumber_event_row(event: Values, renumbering: Renumbering) -> None:
    event["event_id"] = renumbering.ids.get(event["event_id"], event["event_id"])
    event["payload"] = renumber_event(event["payload"], renumbering)


def _check_step(step: Values) -> None:
    parts = step["path"].split(".")
    indices = [part.removeprefix("s:") for part in parts]
    if not all(part.startswith("s:") for part in parts) or not all(index.isdecimal() for index in indices):
        raise InvalidRow("path must read like s:0.s:2")
    if step["sort_key"] != ".".join(f"{int(index):06d}" for index in indices):
        raise InvalidRow("sort_key is the path with six digits a number")
    checkpoints = json.loads(step["checkpoints_json"] or "{}")
    if not checkpoints.keys() <= set(CHECKPOINTS) or not all(isinstance(value, bool) for value in checkpoints.values()):
        raise InvalidRow(f"checkpoints says true or false of {', '.join(CHECKPOINTS)}")


def _check_event(event: Values) -> None:
    payload = json.loads(event["payload"])
    if not isinstance(payload.get("type"), str) or not isinstance(payload.get("target"), str):
        raise InvalidRow("the payload of an event has a type and a target")


def _texts(name: str) -> Any:
    return json_column(name, list, of=str, optional=True, spaced=True)


TABLES = (
    Table(
        "task_numbers",
        normalized("workspace_norm"),
        text("kind"),
        counter("last"),
        key=("workspace_norm", "kind"),
    ),
    Table(
        "tasks",
        number("row_id", "tasks"),
        normalized("workspace_norm"),
        text("id"),
        choice("kind", ("plan", "task")),
        text("title"),
        text("description", optional=True),
        choice("priority", ("low", "normal", "high")),
        tags_column(),
        choice("status", ("TODO", "ACTIVE", "DONE")),
        text("parent_id", optional=True),
        json_column("contract_json", dict, optional=True),
        counter("revision"),
        counter("next_index"),
        number("branch_id", "branch"),
        whole("created_at_ms"),
        whole("updated_at_ms"),
        key=("row_id",),
        refers={"branch_id": "branches", "parent_id": "tasks.id"},
        unique=(("workspace_norm", "id"),),
    ),
    Table(
        "task_dependencies",
        normalized("workspace_norm"),
        text("id"),
        text("depends_on"),
        whole("place"),
        key=("workspace_norm", "id", "depends_on"),
        refers={"id": "tasks.id", "depends_on": "tasks.id"},
    ),
    Table(
        "steps",
        number("row_id", "steps"),
        number("task_row", "tasks"),
        normalized("workspace_norm"),
        text("step_id"),
        text("parent_step", optional=True),
        text("path"),
        text("sort_key"),
        text("title"),
        _texts("success_criteria_json"),
        _texts("tests_json"),
        _texts("blockers_json"),
        flag("done"),
        flag("blocked"),
        text("block_reason", optional=True),
        json_column("checkpoints_json", dict, optional=True, spaced=True, ascii=True),
        counter("next_index"),
        key=("row_id",),
        refers={"task_row": "tasks", "parent_step": "steps.step_id"},
        unique=(("workspace_norm", "step_id"), ("task_row", "path")),
        check=_check_step,
    ),
    Table(
        "task_evidence",
        number("row_id", "task_evidence"),
        number("task_row", "tasks"),
        text("step_id", optional=True),
        text("kind"),
        text("content"),
        whole("ts_ms"),
        key=("row_id",),
        workspace_condition=f"task_row {_OF_TASKS}",
        refers={"task_row": "tasks"},
    ),
    Table(
        "task_claims",
        number("row_id", "task_claims"),
        number("task_row", "tasks"),
        normalized("workspace_norm"),
        text("step_id", default=""),
        text("agent"),
        whole("lease_s"),
        whole("lease_until_ms"),
        key=("row_id",),
        refers={"task_row": "tasks"},
        unique=(("task_row", "step_id"),),
    ),
    Table(
        "events",
        number("seq", "events"),
        text("event_id"),
        normalized("workspace"),
        text("tool"),
        text("address", optional=True),
        whole("ts_ms"),
        json_column("payload", dict),
        text("origin", optional=True),
        key=("seq",),
        workspace_condition="workspace = :workspace",
        workspace="workspace",
        unique=(("event_id",),),
        only="payload is not null",
        check=_check_event,
        fix=_renumber_event_row,
    ),
)


def new_event_ids(tx: Transaction, tables: dict[str, list[Values]]) -> dict[str, str]:
    """Return new ids for events whose ids exist: the same export was imported before under another name."""
    ids = {}
    for event in tables.get("events", ()):
        if tx.row("select 1 from events where event_id = :event_id", {"event_id": event["event_id"]}) is not None:
            ids[event["event_id"]] = tx.new_id()
    return ids
