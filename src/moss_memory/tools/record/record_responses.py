"""Responses of the record tools."""

from __future__ import annotations

from moss_memory.registry.responses import (
    HIT_FIELDS,
    LONG,
    PAGE_THAT_ENDS,
    ResponseSchema,
    TableColumn,
    flag,
    free,
    integer,
    list_of,
    map_of,
    object_of,
    text,
    texts,
    time_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.registry.responses import ResponseRow

_SUMMARY_COLUMNS = (
    TableColumn("title", min_width=16),
    TableColumn("status", drop_rank=6),
    TableColumn("summary", "text", min_width=24, drop_rank=4, max_width=LONG),
    TableColumn("workspace", min_width=8, drop_rank=7),
)
"""The columns of tables that come from a body."""


def _row(item: ResponseRow) -> ResponseRow:
    from .record_summary import table_row  # only tables need it

    return table_row(item)


RECORD = ResponseSchema(
    "Record",
    {
        "id": text("payload_id"),
        "type": text("type of its entity"),
        "workspace": text("namespace, as it was first written"),
        "properties": free("the body that was submitted"),
        "created_at": time_text("when it was first submitted"),
        "updated_at": time_text("when it was last submitted"),
        "superseded": flag("whether a later payload is about the same entity", optional=True),
        **{name: field.or_absent() for name, field in HIT_FIELDS.items()},
    },
    table=(
        TableColumn("type", drop_rank=5),
        *_SUMMARY_COLUMNS,
        TableColumn("submitted", drop_rank=8),
        TableColumn("id", drop_rank=9),
    ),
    row=_row,
)
_SOURCE = ResponseSchema(
    "FieldSource",
    {
        "payload_submission_id": text("the submission that set the field"),
        "source_record_id": text("its record"),
        "observed_at": time_text("when it was observed"),
        "agent_id": text("who observed it", nullable=True),
        "source_refs": texts("references to its sources"),
        "extractor_version": text("the program that extracted it", nullable=True),
        "unmapped": free("fields of the source that the capability does not have", optional=True),
    },
)
_RELATION = ResponseSchema(
    "Relation",
    {
        "field": text("the field that refers"),
        "entity_id": text("the other entity"),
        "entity_type": text("its type"),
        "title": text("its title"),
    },
)
ENTITY = ResponseSchema(
    "Entity",
    {
        "entity_id": text("a hash of its type and identity"),
        "entity_type": text("its type"),
        "workspace": text("namespace, as it was first written"),
        "snapshot": free("its known fields", optional=True),
        "provenance": map_of(object_of(_SOURCE, "its source"), "the source of each field", optional=True),
        "observation_count": integer("how many observations it has"),
        "references": list_of(_RELATION, "entities that it refers to", optional=True),
        "referenced_by": list_of(_RELATION, "entities that refer to it", optional=True),
    },
    table=(
        TableColumn("entity_type", "type", drop_rank=4),
        *_SUMMARY_COLUMNS,
        TableColumn("observation_count", "seen", drop_rank=8),
        TableColumn("entity_id", "id", drop_rank=9),
    ),
    row=_row,
)
EVENT = ResponseSchema(
    "TimelineEvent",
    {
        "event_id": text("a hash of what happened when"),
        "event_type": text("such as feature_unit.created"),
        "event_timestamp": time_text("when it happened"),
        "source_record_id": text("the first record that reported it"),
        "entity_ids": texts("the entity to which it happened"),
        "workspace": text("namespace"),
    },
    table=(
        TableColumn("event_timestamp", "when"),
        TableColumn("event_type", "what", min_width=10, drop_rank=2),
        TableColumn("title", "of", min_width=12),
        TableColumn("workspace", min_width=8, drop_rank=6),
        TableColumn("entity_ids", "entity", drop_rank=8),
        TableColumn("source_record_id", "record", drop_rank=9),
    ),
)
_CAPABILITY_FIELD = ResponseSchema(
    "CapabilityField",
    {
        "type": text("its type"),
        "required": flag("whether a body must have it"),
        "enum": texts("the allowed values", optional=True),
        "set": flag("whether its values are merged", optional=True),
    },
)
CAPABILITY = ResponseSchema(
    "Capability",
    {
        "capability_id": text("its id"),
        "entity_type": text("type of the entity of its payloads"),
        "identity": texts("the fields that identify the entity"),
        "fields": map_of(object_of(_CAPABILITY_FIELD, "the field"), "the fields of a body"),
        "example": free("a small body that is accepted"),
    },
)
SOME_PAGE = object_of(
    PAGE_THAT_ENDS.with_fields({"total": PAGE_THAT_ENDS.fields["total"].or_absent()}, "PageIfCounted"),
    "the position of this page",
    shown="page",
)
