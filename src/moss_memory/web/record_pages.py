"""Records: entities now or at a past time, the source of each field, and the timeline."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from moss_memory.errors import MossError
from moss_memory.tools.record.record_queries import event_types, observed_times

from .long_texts import value_view
from .page_context import PageContext, PageRequest

_EVENTS = 50
_TITLES = ("title", "name", "id", "session_id", "decision", "validation_type")
_SUMMARY_FIELDS = ("status", "related_entity_id", "description", "rationale", "version", "type", "outcomes")


def list_entities(context: PageContext, request: PageRequest) -> Response:
    """List entities, newest first, now or at a past time."""
    answer = context.call(
        "retrieve_entities",
        **request.query_values("workspace", "entity_type", "as_of"),
        **context.paging(request),
        include_snapshots=True,
    )
    titles = _titles(context)
    times = context.store.read(
        observed_times,
        what="times of entities",
        entities=[(entity["workspace"], entity["entity_id"]) for entity in answer["entities"]],
    )
    for entity in answer["entities"]:
        _set_title(entity, titles)
        entity["at"] = times.get((entity["workspace"], entity["entity_id"]))
    return context.page(
        request,
        "records.html",
        family="record",
        entities=answer["entities"],
        pagination=answer["pagination"],
        filters=request.query_values("entity_type", "as_of"),
        types=sorted(titles),
    )


def _titles(context: PageContext) -> dict[str, str]:
    from moss_memory.tools.record.capabilities import registry_of

    return {
        capability.entity_type: capability.title
        for capability in registry_of(context.store.config.home).capabilities.values()
    }


def _set_title(entity: dict[str, Any], titles: dict[str, str]) -> None:
    """Set the title and the summary line of an entity in lists."""
    snapshot = entity.get("snapshot") or {}
    fields = [titles.get(entity["entity_type"], ""), *_TITLES]
    entity["title"] = next((str(snapshot[name]) for name in fields if snapshot.get(name)), entity["entity_id"])
    summary = [
        str(snapshot[name]).replace("_", " ") if name == "status" else str(snapshot[name])
        for name in _SUMMARY_FIELDS
        if snapshot.get(name) and str(snapshot[name]) != entity["title"]
    ]
    entity["summary"] = " · ".join(summary)[:160]


def show_entity(context: PageContext, request: PageRequest) -> Response:
    key = request.path_parameters["id"]
    filters = request.query_values("workspace", "as_of")
    parts = {"include_snapshots": True, "include_provenance": True, "limit": 1}
    entities = context.call("retrieve_entities", entity_id=key, **filters, **parts)["entities"]
    if not entities:
        raise MossError("NOT_FOUND", "there is no such entity")
    entity = entities[0]
    _set_title(entity, _titles(context))
    events = context.call("list_timeline_events", entity_id=key, workspace=entity["workspace"], limit=_EVENTS)
    view = value_view(request, entity["snapshot"])
    return context.page(request, "entity.html", family="record", entity=entity, **view, events=events["events"])


def _with_entities(context: PageContext, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    titles = _titles(context)
    descriptions: dict[tuple[str, str], dict[str, str]] = {}
    for event in events:
        workspace = event["workspace"]
        for key in event["entity_ids"]:
            if (key, workspace) not in descriptions:
                descriptions[key, workspace] = _title_of(context, key, workspace, titles)
        event["entities"] = [{"id": key, **descriptions[key, workspace]} for key in event["entity_ids"]]
    return events


def _title_of(context: PageContext, key: str, workspace: str, titles: dict[str, str]) -> dict[str, str]:
    entities = context.call("retrieve_entities", entity_id=key, workspace=workspace, limit=1)["entities"]
    if not entities:
        return {"title": key, "summary": ""}
    _set_title(entities[0], titles)
    return {"title": str(entities[0]["title"]), "summary": entities[0]["summary"]}


def show_record(context: PageContext, request: PageRequest) -> Response:
    key = request.path_parameters["id"]
    records = context.call("retrieve_records", ids=[key], **request.query_values("workspace"))["records"]
    if not records:
        raise MossError("NOT_FOUND", "there is no such record")
    events = context.call(
        "list_timeline_events", source_record_id=key, workspace=records[0]["workspace"], limit=_EVENTS
    )
    entities = {
        entity["id"]: entity["title"]
        for event in _with_entities(context, events["events"])
        for entity in event["entities"]
    }
    view = value_view(request, records[0]["properties"])
    return context.page(request, "record.html", family="record", record=records[0], entities=entities, **view)


def show_timeline(context: PageContext, request: PageRequest) -> Response:
    """List events, newest first; all events of one record, entity and time are one row."""
    filters = request.query_values("event_type", "entity_type", "after_date", "before_date")
    answer = context.call(
        "list_timeline_events", **request.query_values("workspace"), **filters, **context.paging(request, _EVENTS)
    )
    return context.page(
        request,
        "timeline.html",
        family="record",
        rows=_with_observed(context, _rows_of(answer["events"])),
        count=len(answer["events"]),
        pagination=answer["pagination"],
        filters=filters,
        kinds=context.cached_read(
            request, event_types, what="types of events", workspace=request.query.get("workspace")
        ),
    )


def _rows_of(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events of the same record, entity and time as one row, in the order of the first of them."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for event in events:
        key = (event["workspace"], event["source_record_id"], *event["entity_ids"], event["event_timestamp"])
        subject, _, deed = event["event_type"].rpartition(".")
        rows.setdefault(key, {**event, "subject": subject, "deeds": []})["deeds"].insert(0, deed)
    return list(rows.values())


def _with_observed(context: PageContext, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the timeline with the title and the summary line of the record that reports them."""
    titles = _titles(context)
    ids = sorted({row["source_record_id"] for row in rows})
    stored_records = context.call("retrieve_records", ids=ids, limit=_EVENTS)["records"] if ids else []
    records = {(record["workspace"], record["id"]): record for record in stored_records}
    for row in rows:
        record = records.get((row["workspace"], row["source_record_id"]), {"type": row["subject"], "properties": {}})
        entity = {"entity_type": record["type"], "snapshot": record["properties"], "entity_id": row["entity_ids"][0]}
        _set_title(entity, titles)
        # The record has the state after the last change, not the state at creation.
        row |= {"title": entity["title"], "summary": "" if row["deeds"] == ["created"] else entity["summary"]}
    return rows
