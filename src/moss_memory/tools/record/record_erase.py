"""Hard deletion of a record with its observations; the entity's snapshot and events are computed again."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.hard_delete import HardDelete
from moss_memory.rows.names import normalize_workspace

from .capabilities import registry_of
from .submission import add_events, recompute_snapshot, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction


def erase_record(tx: ReadTransaction, workspace: str | None, id: str | None) -> tuple[HardDelete, str]:
    """Return the erasure of a record by its `payload_id`, and the workspace that it is in."""
    if id is None:
        raise invalid_request("`id` is needed: the `payload_id` of the record", path="id")
    record_row, entity_row, own = tx.row(sql["record_by_payload"], {"payload_id": id}) or (None, None, "")
    if record_row is None or (workspace is not None and own != normalize_workspace(workspace)):
        raise MossError(
            "NOT_FOUND",
            f"there is no record {id[:100]!r}",
            recovery=next_call("retrieve_records", {}, "lists the records, newest first"),
        )
    key = {"record_row": record_row, "entity_row": entity_row}

    def execute(tx: Transaction) -> None:
        for statement in ("delete_properties", "delete_events", "delete_observations", "delete_record"):
            tx.run(sql[statement], key)
        if tx.row(sql["last_observation"], key) is None:
            tx.run(sql["delete_entity"], key)
        else:
            recompute_snapshot(tx, entity_row)
            _rewrite_events(tx, entity_row)

    observations: int = tx.value(sql["count_observations"], key)
    erasure = HardDelete(
        execute,
        rows=1 + observations,
        vectors=tx.vectors_of("record", [record_row]),
        texts=[tx.value(sql["record_text"], key)],
        row_versions=[("records", record_row)],
    )
    return erasure, own


def _rewrite_events(tx: Transaction, entity_row: int) -> None:
    """Write the events of an entity again that other records report too."""
    registry = registry_of(tx.config.home)
    for row in list(tx.stream(sql["records_of_entity"], {"entity_row": entity_row})):
        record_row, capability_id, entity, workspace, raw, body_json = row
        capability = registry.capabilities.get(capability_id)
        if capability is not None:
            columns = {"workspace": workspace, "workspace_raw": raw, "entity_row": entity_row, "record_row": record_row}
            add_events(tx, capability, json.loads(body_json), {**columns, "entity_id": entity})
