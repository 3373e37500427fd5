"""Reading records, entities and timelines: filters, pages, and how rows are shown."""

from __future__ import annotations

import json

from ..errors import MossError, invalid
from ..values import normalize, shown_time
from .capabilities import registry_of
from .identity import property_value
from .snapshot import fold
from .submission import sql
from .times import shown_instant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction, Row
    from .capabilities import Capability

LIMIT_MAX = 500
RECORD_COLUMNS = "payload_id, type, workspace_raw, body_json, created_at_ms, updated_at_ms"
ENTITY_COLUMNS = "row_id, entity_id, type, workspace_raw, snapshot_json, sources_json, observation_count"
EVENT_COLUMNS = "t.event_id, t.event_type, t.at_us, r.payload_id, e.entity_id, t.workspace_raw"


class RecordFilters:
    """Which records are asked for, in SQL over the columns of `record_rows`."""

    def __init__(self, conditions: list[str], values: dict[str, Any], led_by: str | None) -> None:
        self._conditions = conditions
        self._values = values
        self._led_by = led_by

    def newest(self, tx: ReadTransaction, limit: int, offset: int, *, count: bool) -> dict[str, Any]:
        """One page, newest first."""
        led = f"(select p.row_id as at from record_properties p where {self._led_by}) l join records on row_id = l.at"
        tables, order = ("records", "row_id desc") if self._led_by is None else (led, "l.at desc")
        chosen = f"where {' and '.join(self._conditions)}" if self._conditions else ""
        page = {**self._values, "limit": limit + 1, "offset": offset}
        rows = list(
            tx.rows(
                f"select {RECORD_COLUMNS} from {tables} {chosen} order by {order} limit :limit offset :offset", page
            )
        )
        pagination: dict[str, Any] = {"limit": limit, "offset": offset, "has_more": len(rows) > limit}
        if count:  # not otherwise: it reads every match
            found = tx.row(f"select count(*) from {tables} {chosen}", self._values)
            pagination["total"] = found[0] if found else 0
        return _records([_record(row) for row in rows[:limit]], pagination, count=count)

    def searched(
        self, tx: ReadTransaction, terms: list[str], mode: str, limit: int, offset: int, *, count: bool
    ) -> dict[str, Any]:
        """One page of what the words find within the filters, best match first."""
        from ..search.fuse import search
        from ..search.query import MAX_CHARS, question

        if not terms or not any(term.strip() for term in terms):
            raise invalid("search is blank; give at least one word to look for", path="search")
        words = " ".join(terms)
        if len(words) > MAX_CHARS:
            raise invalid(f"search has {len(words)} characters; shorten it to {MAX_CHARS}", path="search")
        conditions = list(self._conditions)
        if self._led_by is not None:
            conditions.append(f"row_id in (select p.row_id from record_properties p where {self._led_by})")
        hits = search(
            tx,
            question(words),
            mode,
            sources=("record",),
            where=conditions,
            parameters=self._values,
            limit=limit,
            offset=offset,
        )
        chosen = [hit.row_id for hit in hits.items]
        numbers = ", ".join(map(str, chosen)) or "null"
        rows = tx.rows(f"select {RECORD_COLUMNS}, row_id from records where row_id in ({numbers})")
        found = {row[-1]: _record(row[:-1]) for row in rows}
        more = offset + len(chosen) < hits.total and bool(chosen)
        pagination = {"limit": limit, "offset": offset, "has_more": more, "total": hits.total}
        return {**_records([found[row_id] for row_id in chosen], pagination, count=count), **hits.remarks()}


def record_filters(
    tx: ReadTransaction,
    type: str | None,
    properties: dict[str, Any] | None,
    ids: list[str] | None,
    workspace: str | None,
) -> RecordFilters:
    conditions, values = where(workspace, (("type", type),))
    if ids is not None:
        conditions.append("payload_id in (select value from json_each(:ids))")
        values["ids"] = json.dumps(ids)
    led_by = None
    capabilities = registry_of(tx.config.home).of_type(type) if type is not None else []
    for number, (name, value) in enumerate((properties or {}).items()):
        wanted = _wanted(capabilities, name, value)
        values[f"name{number}"] = name
        values.update((f"value{number}_{at}", one) for at, one in enumerate(wanted))
        listed = ", ".join(f":value{number}_{at}" for at in range(len(wanted)))
        condition = f"p.name = :name{number} and p.value in ({listed})"
        if led_by is None and len(wanted) == 1:
            led_by = condition
        else:
            conditions.append(f"row_id in (select p.row_id from record_properties p where {condition})")
    return RecordFilters(conditions, values, led_by)


def _records(records: list[dict[str, Any]], pagination: dict[str, Any], *, count: bool) -> dict[str, Any]:
    total = {"total_count": pagination["total"]} if count else {}
    return {"records": records, **total, "pagination": pagination}


def _wanted(capabilities: list[Capability], name: str, value: Any) -> list[str]:
    """The value of a property filter as it is stored: where no type says so, a time may also be text."""
    path = f"properties.{name[:100]}"
    if isinstance(value, (dict, list)) or value is None:
        raise invalid(f"{path} must be a string, number or boolean; arrays contain it, scalars equal it", path=path)
    fields = [capability.fields[name] for capability in capabilities if name in capability.fields]
    if capabilities and not fields:
        known = sorted({field for capability in capabilities for field in capability.fields})
        raise invalid(f"{path} is no field of {capabilities[0].entity_type} (known: {', '.join(known)})", path=path)
    kinds = {field["type"] for field in fields} or {"string", "time"}
    found = {property_value(value, "string")} if kinds != {"time"} else set()
    if "time" in kinds:
        try:
            found.add(property_value(value, "time"))
        except MossError:
            found.add(property_value(value, "string"))
    return sorted(found)


def where(
    workspace: str | None, equals: tuple[tuple[str, str | None], ...], *, table: str = ""
) -> tuple[list[str], dict[str, Any]]:
    """Conditions that columns equal values, and the values."""
    conditions, values = [], {}
    if workspace is not None:
        conditions.append(f"{table}workspace_norm = :workspace")
        values["workspace"] = normalize(workspace, what="workspace")
    for column, value in equals:
        if value is not None:
            conditions.append(f"{table}{column} = :{column}")
            values[column] = value
    return conditions, values


def page_of(
    tx: ReadTransaction,
    columns: str,
    tables: str,
    conditions: list[str],
    values: dict[str, Any],
    order: str,
    limit: int,
    offset: int,
) -> tuple[list[Row], dict[str, Any]]:
    """One page of rows and its pagination object."""
    where = f"where {' and '.join(conditions)}" if conditions else ""
    counted = tx.row(f"select count(*) from {tables} {where}", values)
    total = counted[0] if counted else 0
    most = min(limit, LIMIT_MAX)
    rows = list(
        tx.rows(
            f"select {columns} from {tables} {where} order by {order} limit :limit offset :offset",
            {**values, "limit": most, "offset": offset},
        )
    )
    return rows, {"limit": most, "offset": offset, "has_more": offset + len(rows) < total, "total": total}


def _record(row: Row) -> dict[str, Any]:
    identity, kind, workspace, body, created_at_ms, updated_at_ms = row
    return {
        "id": identity,
        "type": kind,
        "workspace": workspace,
        "properties": json.loads(body),
        "created_at": shown_time(created_at_ms),
        "updated_at": shown_time(updated_at_ms),
    }


def shown_entity(tx: ReadTransaction, row: Row, upto: int | None, snapshots: bool, provenance: bool) -> dict[str, Any]:
    row_id, identity, kind, workspace, snapshot_json, sources_json, count = row
    fields, sources = (json.loads(snapshot_json), json.loads(sources_json)) if upto is None else ({}, {})
    if upto is not None:
        then = fold(tx.rows(sql["observations"], {"entity_row": row_id, "upto": upto}))
        fields, sources, count = then.fields, then.sources, then.count
    entity: dict[str, Any] = {"entity_id": identity, "entity_type": kind, "workspace": workspace}
    if snapshots:
        entity["snapshot"] = fields
    if provenance:
        entity["provenance"] = _provenance(tx, sources)
    return {**entity, "observation_count": count}


def _provenance(tx: ReadTransaction, sources: dict[str, str]) -> dict[str, Any]:
    """For each field the observation it came from."""
    rows = tx.rows(sql["provenance"], {"submissions": json.dumps(sorted(set(sources.values())))})
    told = {
        submission: {
            "payload_submission_id": submission,
            "source_record_id": payload,
            "observed_at": shown_instant(observed_us),
            "agent_id": agent_id,
            "source_refs": json.loads(refs) if refs else [],
            "extractor_version": extractor,
        }
        for submission, payload, observed_us, agent_id, refs, extractor in rows
    }
    return {name: told[submission] for name, submission in sources.items()}


def shown_event(row: Row) -> dict[str, Any]:
    identity, kind, at_us, record, entity, workspace = row
    return {
        "event_id": identity,
        "event_type": kind,
        "event_timestamp": shown_instant(at_us),
        "source_record_id": record,
        "entity_ids": [entity],
        "workspace": workspace,
    }
