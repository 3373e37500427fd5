"""What a tool declares to answer as the JSON Schema that MCP calls its `outputSchema`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.responses import Field, Shape

    Schema = dict[str, Any]

_TYPES = {
    "integer": "integer", "moment": "integer", "moment_ms": "integer", "number": "number", "flag": "boolean",
    "free": "object", "map": "object", "list": "array",
}  # fmt: skip
"""The JSON type of a kind of field; those not named are strings."""


def output_schema(answers: Shape) -> Schema:
    """The schema of an answer, closed to undeclared fields; shapes with a name stand once, below `$defs`."""
    definitions: dict[str, Schema] = {}
    schema = _object(answers, definitions)
    return {**schema, "$defs": definitions} if definitions else schema


def _object(shape: Shape, definitions: dict[str, Schema]) -> Schema:
    properties = {name: _described(field, definitions) for name, field in shape.fields.items()}
    required = [name for name, field in shape.fields.items() if not field.optional]
    closed: Schema = {"type": "object", "properties": properties, "additionalProperties": shape.is_open}
    return {**closed, "required": required} if required else closed


def _described(field: Field, definitions: dict[str, Schema]) -> Schema:
    schema = _schema(field, definitions)
    if field.nullable:
        kind = schema.get("type")
        schema = {**schema, "type": [kind, "null"]} if kind else {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": field.meaning} if field.meaning else schema


def _schema(field: Field, definitions: dict[str, Schema]) -> Schema:
    if field.kind == "any":
        return {}
    if field.kind == "either":
        return {"anyOf": [_schema(one, definitions) for one in field.of]}
    if field.kind == "object":
        return _reference(field.of, definitions)
    schema: Schema = {"type": _TYPES.get(field.kind, "string")}
    if field.kind == "choice":
        # Null is one of the values where the field may be null, or the enumeration would forbid it.
        schema["enum"] = [*field.values, *([None] if field.nullable else [])]
    if field.kind == "list":
        schema["items"] = _described(field.of, definitions)
    if field.kind == "map":
        schema["additionalProperties"] = _described(field.of, definitions)
    return schema


def _reference(shape: Shape, definitions: dict[str, Schema]) -> Schema:
    if not shape.name:
        return _object(shape, definitions)
    if shape.name not in definitions:
        definitions[shape.name] = {}  # so that a shape may hold others of its kind
        definitions[shape.name] = _object(shape, definitions)
    return {"$ref": f"#/$defs/{shape.name}"}
