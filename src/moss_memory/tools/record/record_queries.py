"""Queries of records, entities and timelines: filters, pages and rows as responses."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.budget import truncate_page
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_instant, format_time

from .capabilities import registry_of, unknown_field
from .entity_ids import property_value
from .record_hits import times_of
from .snapshots import reduce_observations
from .submission import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row

    from .capabilities import Capability

LIMIT_MAX = 500
PROPERTIES_MAX = 100
PROBED = 200
"""The number of newest rows of each filter that are read to find the most selective one."""
COUNTED = 100
"""The maximum that is counted on every page; the full count, which reads all matches, must be requested."""
RECORD_COLUMNS = "payload_id, type, workspace_raw, body_json, created_at_ms, updated_at_ms"
ENTITY_COLUMNS = "row_id, entity_id, type, workspace_raw, snapshot_json, sources_json, observation_count"
EVENT_TABLES = {
    "timeline_events t": "",
    "join entities e on e.row_id = t.entity_row": "e.",
    "join records r on r.row_id = t.record_row": "r.",
}
"""The tables of a query of events, each with the prefix of its columns; empty if it is always joined."""
MAX_EVENT_TYPES = 12
EVENT_COLUMNS = "t.event_id, t.event_type, t.at_us, r.payload_id, e.entity_id, t.workspace_raw"


class AccessPath:
    """One filter, as a query of its rows and as a condition on a row."""

    __slots__ = ("condition", "rows")

    def __init__(self, rows: str, condition: str) -> None:
        self.rows = rows
        """SQL that selects their row numbers as `at`, without duplicates."""
        self.condition = condition
        """SQL over the columns of `records`; `{at}` is replaced by the row number."""


class RecordFilters:
    """The filters of a query of records; all access paths and conditions must match."""

    def __init__(self, ways: list[AccessPath], conditions: list[str], values: dict[str, Any]) -> None:
        self._paths = ways
        self._conditions = conditions
        self._values = values

    def list_newest(self, tx: ReadTransaction, limit: int, offset: int, *, count: bool) -> dict[str, Any]:
        """Return one page, newest first."""
        lead = self._most_selective(tx)
        if lead is None:
            counted = tables = f"records {_where(self._other_conditions('records.row_id'))}"
            order = "row_id desc"
        else:
            other_conditions = self._other_conditions("l.at", lead)
            # The cross join keeps the order of the tables: the most selective filter is read first.
            tables = f"({lead.rows}) as l cross join records {_where(['records.row_id = l.at', *other_conditions])}"
            on_records = any("records." in condition for condition in other_conditions)
            counted, order = tables if on_records else f"({lead.rows}) as l {_where(other_conditions)}", "l.at desc"
        page = {**self._values, "limit": limit + 1, "offset": offset}
        sql_page = f"select {RECORD_COLUMNS} from {tables} order by {order} limit :limit offset :offset"
        rows = list(tx.rows(sql_page, page))
        pagination: dict[str, Any] = {"limit": limit, "offset": offset, "has_more": len(rows) > limit}
        if rows and len(rows) <= limit:
            pagination["total"] = offset + len(rows)
        elif count or not rows or offset + len(rows) <= COUNTED:
            most = "" if count or not rows else f"limit {COUNTED + 1}"
            total = tx.value(f"select count(*) from (select 1 from {counted} {most}) as counted", self._values)
            if not most or total <= COUNTED:
                pagination["total"] = total
        return _page(tx, [_record_response(row) for row in rows[:limit]], pagination, count=count)

    def _most_selective(self, tx: ReadTransaction) -> AccessPath | None:
        """Return the most selective access path, the one whose newest rows are furthest apart."""
        if len(self._paths) < 2:
            return self._paths[0] if self._paths else None
        spans = " union all ".join(
            f"select {number} as way, count(*) as passed, min(at) as oldest"
            f" from (select at from ({way.rows}) as newest order by at desc limit {PROBED}) as probed"
            for number, way in enumerate(self._paths)
        )
        rarest: int = tx.value(f"{spans} order by passed, oldest, way limit 1", self._values)
        return self._paths[rarest]

    def _other_conditions(self, row_column: str, leading: AccessPath | None = None) -> list[str]:
        """Return the conditions of all filters but the leading one."""
        path_conditions = [path.condition for path in self._paths if path is not leading]
        return [condition.format(at=row_column) for condition in (*path_conditions, *self._conditions)]

    def search(
        self, tx: ReadTransaction, terms: list[str], mode: str, limit: int, offset: int, *, count: bool
    ) -> dict[str, Any]:
        """Return one page of a search within the filters, best match first."""
        from moss_memory.search.query import MAX_CHARS, parse_any
        from moss_memory.search.request import SearchRequest, search

        if not terms or not any(term.strip() for term in terms):
            raise invalid_request("`search` is blank; give at least one word to look for", path="search")
        words = " ".join(terms)
        if len(words) > MAX_CHARS:
            raise invalid_request(f"`search` has {len(words)} characters; shorten it to {MAX_CHARS}", path="search")
        request = SearchRequest(
            parse_any(terms),
            mode=mode,
            sources=("record",),
            conditions=self._other_conditions("records.row_id"),
            parameters=self._values,
            limit=limit,
            offset=offset,
        )
        hits = search(tx, request)
        chosen = hits.rows("record")
        rows = tx.rows(
            f"select row_id, {RECORD_COLUMNS} from records where {tx.sql_in('row_id', 'chosen')} order by row_id",
            {"chosen": chosen},
        )
        times = times_of(tx, chosen)
        items = {}
        for row_id, *row in rows:
            fetch = {"tool": "retrieve_records", "arguments": {"workspace": row[2], "ids": [row[0]]}}
            items[row_id] = {**_record_response(row), "at": times[row_id], "fetch": fetch}
        has_more = offset + len(chosen) < hits.total
        pagination = {"limit": limit, "offset": offset, "has_more": has_more, "total": hits.total}
        return {**_page(tx, [items[row_id] for row_id in chosen], pagination, count=count), **hits.remarks()}


def _where(conditions: list[str]) -> str:
    return f"where {' and '.join(conditions)}" if conditions else ""


def record_filters(
    tx: ReadTransaction,
    type: str | None,
    properties: dict[str, Any] | None,
    ids: list[str] | None,
    workspace: str | None,
) -> RecordFilters:
    """Return the filters of a call; refuse a property that its type does not have."""
    _check_count(properties)
    paths, conditions = [], []
    placed, values = equality_conditions(workspace, (("type", type),), table="records.")
    capabilities = registry_of(tx.config.home).of_type(type) if type is not None else []
    for number, (name, value) in enumerate((properties or {}).items()):
        stored_values = _stored_values(capabilities, name, value)
        values[f"name{number}"] = name
        values.update((f"value{number}_{index}", stored_value) for index, stored_value in enumerate(stored_values))
        listed = ", ".join(f":value{number}_{index}" for index in range(len(stored_values)))
        from_clause = f"from record_properties p where p.name = :name{number} and p.value in ({listed})"
        condition = f"exists (select 1 {from_clause} and p.row_id = {{at}})"
        if len(stored_values) == 1:
            paths.append(AccessPath(f"select p.row_id as at {from_clause}", condition))
        else:  # a row may have both values
            conditions.append(condition)
    if placed:
        joined = " and ".join(placed)
        paths.append(AccessPath(f"select row_id as at from records where {joined}", joined))
    if ids is not None:
        listed = tx.sql_in("records.payload_id", "ids")
        paths.append(AccessPath(f"select row_id as at from records where {listed}", listed))
        values["ids"] = ids
    return RecordFilters(paths, conditions, values)


def matching_entities(
    tx: ReadTransaction,
    conditions: list[str],
    values: dict[str, Any],
    entity_type: str | None,
    properties: dict[str, Any],
    upto: int | None,
) -> list[int]:
    """Return the row numbers of the entities with these properties, now or by the observations up to a time."""
    _check_count(properties)
    capabilities = registry_of(tx.config.home).of_type(entity_type) if entity_type is not None else []
    forms_by_name = {name: set(_stored_values(capabilities, name, value)) for name, value in properties.items()}
    # A value of a snapshot comes from a record of the entity, so records narrow the entities down by an index.
    conditions, values = list(conditions), dict(values)
    for number, (name, forms) in enumerate(forms_by_name.items()):
        values[f"name{number}"], values[f"forms{number}"] = name, sorted(forms)
        conditions.append(
            "row_id in (select r.entity_row from record_properties p join records r on r.row_id = p.row_id"
            f" where p.name = :name{number} and {tx.sql_in('p.value', f'forms{number}')})"
        )
    rows = list(tx.stream(f"select {ENTITY_COLUMNS} from entities {_where(conditions)}", values))
    row_ids = []
    for row in rows:
        snapshot = snapshot_of(tx, row, upto)
        if all(forms & _forms_of(snapshot.get(name)) for name, forms in forms_by_name.items()):
            row_ids.append(row[0])
    return row_ids


def _forms_of(value: Any) -> set[str]:
    """Return the values of a field in each form that property filters compare."""
    forms: set[str] = set()
    for item in value if isinstance(value, list) else [value]:
        if item is not None and not isinstance(item, (dict, list)):
            forms.add(property_value(item, "string"))
            if isinstance(item, str):
                try:
                    forms.add(property_value(item, "time"))
                except MossError:
                    continue
    return forms


def snapshot_of(tx: ReadTransaction, row: Row, upto: int | None) -> dict[str, Any]:
    """Return the snapshot of an entity's row, now or from its observations up to a time."""
    if upto is None:
        snapshot: dict[str, Any] = json.loads(row[4])
        return snapshot
    return reduce_observations(tx.stream(sql["observations"], {"entity_row": row[0], "upto": upto})).fields


def value_hint(tx: ReadTransaction, type: str | None, properties: dict[str, Any] | None) -> dict[str, str]:
    """Return a `hint` if a property filter has a value that no entity of the type can have, else nothing."""
    capabilities = [] if type is None else registry_of(tx.config.home).of_type(type)
    for name, value in (properties or {}).items():
        fields = [capability.fields[name] for capability in capabilities if name in capability.fields]
        allowed = [allowed_value for field in fields for allowed_value in field.get("enum", ())]
        if allowed and value not in allowed:
            return {"hint": f"no {type} can have this `{name}`; it is one of {', '.join(dict.fromkeys(allowed))}"}
    return {}


def _check_count(properties: dict[str, Any] | None) -> None:
    if properties is not None and len(properties) > PROPERTIES_MAX:
        message = f"`properties` has {len(properties)} entries; at most {PROPERTIES_MAX}"
        raise invalid_request(message, path="properties")


def _page(
    tx: ReadTransaction, records: list[dict[str, Any]], pagination: dict[str, Any], *, count: bool
) -> dict[str, Any]:
    """Return a page of records; a record is marked if a later one of its entity supersedes it."""
    ids = [record["id"] for record in records]
    if ids:
        query = sql["superseded"].filled(chosen=tx.sql_in("r.payload_id", "ids"))
        outdated = {payload_id for (payload_id,) in tx.rows(query, {"ids": ids})}
        records = [{**record, "superseded": True} if record["id"] in outdated else record for record in records]
    total = {"total_count": pagination["total"]} if count else {}
    records, pagination = truncate_page(records, pagination, tx.config.page_max_chars)
    return {"records": records, **total, "pagination": pagination}


def _stored_values(capabilities: list[Capability], name: str, value: Any) -> list[str]:
    """Return the stored forms of a property filter's value; without a type it may be a time or a text."""
    path = f"properties.{name[:100]}"
    if isinstance(value, (dict, list)) or value is None:
        message = f"{path} must be a string, number or boolean; arrays contain it, scalars equal it"
        raise invalid_request(message, path=path)
    fields = [capability.fields[name] for capability in capabilities if name in capability.fields]
    if capabilities and not fields:
        names = sorted({field for capability in capabilities for field in capability.fields})
        raise unknown_field(path, name, capabilities[0].entity_type, names)
    kinds = {field["type"] for field in fields} or {"string", "time"}
    forms = {property_value(value, "string")} if kinds != {"time"} else set()
    if "time" in kinds:
        try:
            forms.add(property_value(value, "time"))
        except MossError:
            forms.add(property_value(value, "string"))
    return sorted(forms)


def equality_conditions(
    workspace: str | None, equals: tuple[tuple[str, str | None], ...], *, table: str = ""
) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions that columns equal the given values, and the parameters."""
    conditions, values = [], {}
    if workspace is not None:
        conditions.append(f"{table}workspace_norm = :workspace")
        values["workspace"] = normalize_workspace(workspace)
    for column, value in equals:
        if value is not None:
            conditions.append(f"{table}{column} = :{column}")
            values[column] = value
    return conditions, values


def select_page(
    tx: ReadTransaction,
    columns: str,
    tables: dict[str, str],
    conditions: list[str],
    values: dict[str, Any],
    order: str,
    limit: int,
    offset: int,
) -> tuple[list[Row], dict[str, Any]]:
    """Return one page of rows and its pagination; the count joins only the tables of the conditions."""
    where = _where(conditions)
    counted = " ".join(table for table, prefix in tables.items() if prefix in where)
    total: int = tx.value(f"select count(*) from {counted} {where}", values)
    most = min(limit, LIMIT_MAX)
    page = f"select {columns} from {' '.join(tables)} {where} order by {order} limit :limit offset :offset"
    rows = list(tx.rows(page, {**values, "limit": most, "offset": offset}))
    return rows, {"limit": most, "offset": offset, "has_more": offset + len(rows) < total, "total": total}


def _record_response(row: Iterable[Any]) -> dict[str, Any]:
    identity, kind, workspace, body, created_at_ms, updated_at_ms = row
    created_at = format_time(created_at_ms)
    return {
        "id": identity,
        "type": kind,
        "workspace": workspace,
        "properties": json.loads(body),
        "created_at": created_at,
        "updated_at": created_at if updated_at_ms == created_at_ms else format_time(updated_at_ms),
    }


def entity_response(
    tx: ReadTransaction, row: Row, upto: int | None, snapshots: bool, provenance: bool
) -> dict[str, Any]:
    """Return an entity as a response, now or by its observations up to a time."""
    row_id, identity, kind, workspace, snapshot_json, sources_json, count = row
    if upto is None:
        fields, sources = json.loads(snapshot_json), json.loads(sources_json)
    else:
        then = reduce_observations(tx.stream(sql["observations"], {"entity_row": row_id, "upto": upto}))
        fields, sources, count = then.fields, then.sources, then.count
    entity: dict[str, Any] = {"entity_id": identity, "entity_type": kind, "workspace": workspace}
    if snapshots:
        entity["snapshot"] = fields
    if provenance:
        entity["provenance"] = _provenance(tx, sources)
    return {**entity, "observation_count": count}


def _provenance(tx: ReadTransaction, sources: dict[str, str]) -> dict[str, Any]:
    """Return for each field the observation that set it."""
    provenance = sql["provenance"].filled(chosen=tx.sql_in("o.submission_id", "submissions"))
    rows = tx.rows(provenance, {"submissions": sorted(set(sources.values()))})
    observations = {
        submission: {
            "payload_submission_id": submission,
            "source_record_id": payload,
            "observed_at": format_instant(observed_us),
            "agent_id": agent_id,
            "source_refs": json.loads(refs) if refs else [],
            "extractor_version": extractor,
            **({"unmapped": json.loads(unmapped)} if unmapped else {}),
        }
        for submission, payload, observed_us, agent_id, refs, extractor, unmapped in rows
    }
    return {name: observations[submission] for name, submission in sources.items()}


def event_response(row: Row) -> dict[str, Any]:
    identity, kind, at_us, record, entity, workspace = row
    return {
        "event_id": identity,
        "event_type": kind,
        "event_timestamp": format_instant(at_us),
        "source_record_id": record,
        "entity_ids": [entity],
        "workspace": workspace,
    }


def observed_times(tx: ReadTransaction, *, entities: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return the time in seconds of the last observation of entities, by workspace and id."""
    times = {}
    for workspace, entity_id in entities:
        observed_us = tx.value(
            "select last_observed_us from entities where workspace_norm = :workspace and entity_id = :entity_id",
            {"workspace": normalize_workspace(workspace), "entity_id": entity_id},
        )
        if observed_us is not None:
            times[workspace, entity_id] = observed_us / 1_000_000
    return times


def event_types(tx: ReadTransaction, *, workspace: str | None) -> list[tuple[str, int]]:
    """Return the most frequent types of timeline events with their counts, in the store or in a workspace."""
    condition = "where workspace_norm = :workspace" if workspace else ""
    values = {"workspace": normalize_workspace(workspace) if workspace else "", "most": MAX_EVENT_TYPES}
    counts = f"select event_type, count(*) from timeline_events {condition} group by event_type"
    return list(tx.rows(f"{counts} order by 2 desc, 1 limit :most", values))
