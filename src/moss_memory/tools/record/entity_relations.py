"""Relations of entities: the fields that name another entity, followed in both directions."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace

from .capabilities import registry_of
from .entity_ids import entity_id, property_value
from .record_queries import ENTITY_COLUMNS, snapshot_of
from .submission import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row

    from .capabilities import Capability, Registry

REFERENCES_MAX = 200
TITLE_CHARS = 200


def relations_of(tx: ReadTransaction, row: Row, upto: int | None) -> dict[str, list[dict[str, Any]]]:
    """Return the entities that an entity refers to and the entities that refer to it, in the same workspace."""
    registry = registry_of(tx.config.home)
    references = []
    condition = f"workspace_norm = :workspace and {tx.sql_in('entity_id', 'ids')}"
    for field, name in _named_in(registry, row[2], snapshot_of(tx, row, upto))[:REFERENCES_MAX]:
        rows = tx.stream(
            f"select {ENTITY_COLUMNS} from entities where {condition} order by row_id",
            {"workspace": normalize_workspace(row[3]), "ids": _entity_ids(registry, name)},
        )
        references += [_relation(tx, registry, field, entity, upto) for entity in list(rows) if entity[0] != row[0]]
    return {"references": references, "referenced_by": _referenced_by(tx, registry, row, upto)}


def _referenced_by(tx: ReadTransaction, registry: Registry, row: Row, upto: int | None) -> list[dict[str, Any]]:
    fields = sorted({name for capability in registry.capabilities.values() for name in _ref_fields(capability)})
    forms = {property_value(row[1], "string")}
    for capability in registry.of_type(row[2]):
        key = {"entity_row": row[0], "name": capability.identity[0]}
        forms |= {value for (value,) in tx.stream(sql["spellings"], key)}
    query = sql["referrers"].filled(fields=tx.sql_in("p.name", "fields"), forms=tx.sql_in("p.value", "forms"))
    row_of_entity = {"workspace": normalize_workspace(row[3]), "entity_row": row[0]}
    row_ids = [row_id for (row_id,) in tx.stream(query, {"fields": fields, "forms": sorted(forms), **row_of_entity})]
    rows = tx.rows(
        f"select {ENTITY_COLUMNS} from entities where {tx.sql_in('row_id', 'found')} order by row_id desc",
        {"found": row_ids[:REFERENCES_MAX]},
    )
    return [
        _relation(tx, registry, field, entity, upto)
        for entity in list(rows)
        for field, name in _named_in(registry, entity[2], snapshot_of(tx, entity, upto))
        if row[1] in _entity_ids(registry, name)
    ]


def _ref_fields(capability: Capability) -> list[str]:
    return [name for name, field in capability.fields.items() if field.get("ref")]


def _named_in(registry: Registry, entity_type: str, snapshot: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names of other entities in a snapshot, each with its field."""
    fields = dict.fromkeys(name for capability in registry.of_type(entity_type) for name in _ref_fields(capability))
    pairs = []
    for field in fields:
        value = snapshot.get(field)
        pairs += [(field, name) for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)]
    return pairs


def _entity_ids(registry: Registry, name: str) -> list[str]:
    """Return the ids of all entities that a name can mean: the name as an id, and entities with that identity."""
    ids = [name]
    for capability in registry.capabilities.values():
        first, *other_fields = capability.identity
        kinds = [capability.fields[field].get("enum") for field in other_fields]
        if capability.fields[first]["type"] != "string" or len(other_fields) > 1 or not all(kinds):
            continue
        bodies = [{other_fields[0]: kind} for kind in kinds[0] or ()] if other_fields else [{}]
        ids += [entity_id(capability, {first: name, **body}) for body in bodies]
    return ids


def _relation(tx: ReadTransaction, registry: Registry, field: str, entity: Row, upto: int | None) -> dict[str, Any]:
    snapshot = snapshot_of(tx, entity, upto)
    titles = [snapshot.get(capability.title) for capability in registry.of_type(entity[2])]
    title = next((title for title in titles if title is not None), entity[1])
    shown = title if isinstance(title, str) else json.dumps(title, ensure_ascii=False)
    return {"field": field, "entity_id": entity[1], "entity_type": entity[2], "title": shown[:TITLE_CHARS]}
