"""Records: what is known of entities now or at a time, where every field comes from, and what happened when."""

from __future__ import annotations

from .filter_options import most_used
from .long_texts import shown_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_EVENTS = 50
_TITLES = ("title", "name", "id", "session_id", "decision", "validation_type")
_GLANCE = ("status", "description", "rationale", "version", "type", "outcomes")


def listing(site: PageContext, visit: PageRequest) -> Response:
    """The entities, newest first, as they are known now or were at a time."""
    answer = site.call(
        "retrieve_entities",
        **visit.asked("workspace", "entity_type", "as_of"),
        **site.rows(visit),
        include_snapshots=True,
    )
    titles = _titles(site)
    for entity in answer["entities"]:
        _name(entity, titles)
    return site.page(
        visit,
        "records.html",
        family="record",
        entities=answer["entities"],
        pagination=answer["pagination"],
        filters=visit.asked("entity_type", "as_of"),
        types=sorted(titles),
    )


def _titles(site: PageContext) -> dict[str, str]:
    """The field that names an entity, by its type."""
    return {one["entity_type"]: one["title"] for one in site.call("record_capabilities")["capabilities"]}


def _name(entity: dict[str, Any], titles: dict[str, str]) -> None:
    """Gives an entity the title and the line that lists show."""
    snapshot = entity.get("snapshot") or {}
    named = [titles.get(entity["entity_type"], ""), *_TITLES]
    entity["title"] = next((str(snapshot[name]) for name in named if snapshot.get(name)), entity["entity_id"])
    told = [f"{snapshot[name]}" for name in _GLANCE if snapshot.get(name) and str(snapshot[name]) != entity["title"]]
    entity["glance"] = " · ".join(told)[:160]


def reading(site: PageContext, visit: PageRequest) -> Response:
    """One entity: every field with the source that it comes from, and what happened to it."""
    key = visit.path["id"]
    place = visit.asked("workspace")
    found = site.call(
        "retrieve_entities",
        entity_id=key,
        **place,
        **visit.asked("as_of"),
        include_snapshots=True,
        include_provenance=True,
        limit=1,
    )["entities"]
    if not found:
        return site.page(visit, "nothing.html", family="record", status=404, what="entity")
    entity = found[0]
    _name(entity, _titles(site))
    events = site.call("list_timeline_events", entity_id=key, workspace=entity["workspace"], limit=_EVENTS)
    shown = shown_value(visit, entity["snapshot"])
    return site.page(visit, "entity.html", family="record", entity=entity, **shown, events=events["events"])


def _named(site: PageContext, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events with the entities that they are about, by name."""
    titles = _titles(site)
    known: dict[tuple[str, str], str] = {}
    for event in events:
        place = event["workspace"]
        for key in event["entity_ids"]:
            if (key, place) not in known:
                known[key, place] = _name_of(site, key, place, titles)
        event["entities"] = [{"id": key, "title": known[key, place]} for key in event["entity_ids"]]
    return events


def _name_of(site: PageContext, key: str, workspace: str, titles: dict[str, str]) -> str:
    found = site.call("retrieve_entities", entity_id=key, workspace=workspace, limit=1)["entities"]
    if not found:
        return key
    _name(found[0], titles)
    return str(found[0]["title"])


def record(site: PageContext, visit: PageRequest) -> Response:
    """One record as it was submitted, with the entities that it tells of."""
    key = visit.path["id"]
    found = site.call("retrieve_records", ids=[key], **visit.asked("workspace"))["records"]
    if not found:
        return site.page(visit, "nothing.html", family="record", status=404, what="record")
    events = site.call("list_timeline_events", source_record_id=key, workspace=found[0]["workspace"], limit=_EVENTS)
    entities = {one["id"]: one["title"] for event in _named(site, events["events"]) for one in event["entities"]}
    shown = shown_value(visit, found[0]["properties"])
    return site.page(visit, "record.html", family="record", record=found[0], entities=entities, **shown)


def timeline(site: PageContext, visit: PageRequest) -> Response:
    """What happened when, the newest first."""
    filters = visit.asked("event_type", "entity_type", "after_date", "before_date")
    answer = site.call("list_timeline_events", **visit.asked("workspace"), **filters, **site.rows(visit, _EVENTS))
    return site.page(
        visit,
        "timeline.html",
        family="record",
        events=_named(site, answer["events"]),
        pagination=answer["pagination"],
        filters=filters,
        kinds=most_used(event["event_type"] for event in answer["events"]),
    )


PAGES = {
    "/records": listing,
    "/records/timeline": timeline,
    "/records/entities/{id}": reading,
    "/records/{id}": record,
}
FORMS: dict[str, Any] = {}
