"""A tool's declared answer as JSON Schema: the `outputSchema` of MCP."""

from __future__ import annotations

from moss_memory.registry.budget import may_be_left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.responses import Field, ResponseSchema

    Schema = dict[str, Any]

_TYPES = {
    "integer": "integer", "moment": "integer", "moment_ms": "integer", "number": "number", "flag": "boolean",
    "free": "object", "map": "object", "list": "array",
}  # fmt: skip
"""The JSON type of each kind of field; all other kinds are strings."""


class _Definitions(dict):  # type: ignore[type-arg]
    """The JSON Schemas of named responses; `shortened` if they lie inside an answer that a budget may truncate."""

    def __init__(self, *, shortened: bool) -> None:
        super().__init__()
        self.shortened = shortened


def output_schema(answers: ResponseSchema) -> Schema:
    """Return the schema of an answer, which allows no undeclared fields; named schemas are listed below `$defs`."""
    definitions = _Definitions(shortened="truncated" in answers.fields)
    required = [name for name, field in answers.fields.items() if not field.optional]
    schema = {**_object(answers, definitions), **({"required": required} if required else {})}
    return {**schema, "$defs": dict(definitions)} if definitions else schema


def _object(response: ResponseSchema, definitions: _Definitions) -> Schema:
    properties = {name: _field_schema(field, definitions) for name, field in response.fields.items()}
    required = [
        name
        for name, field in response.fields.items()
        if not field.optional and not (definitions.shortened and may_be_left_out(name, field.kind))
    ]
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": response.is_open}
    return {**schema, "required": required} if required else schema


def _field_schema(field: Field, definitions: _Definitions) -> Schema:
    schema = _type_schema(field, definitions)
    if field.nullable:
        kind = schema.get("type")
        schema = {**schema, "type": [kind, "null"]} if kind else {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": field.meaning} if field.meaning else schema


def _type_schema(field: Field, definitions: _Definitions) -> Schema:
    if field.kind == "any":
        return {}
    if field.kind == "either":
        return {"anyOf": [_type_schema(alternative, definitions) for alternative in field.of]}
    if field.kind == "object":
        return _reference(field.of, definitions)
    schema: Schema = {"type": _TYPES.get(field.kind, "string")}
    if field.kind == "choice":
        # A nullable choice lists null as a value, or the enumeration would forbid it.
        schema["enum"] = [*field.values, *([None] if field.nullable else [])]
    if field.kind == "list":
        schema["items"] = _field_schema(field.of, definitions)
    if field.kind == "map":
        schema["additionalProperties"] = _field_schema(field.of, definitions)
    return schema


def _reference(response: ResponseSchema, definitions: _Definitions) -> Schema:
    if not response.name:
        return _object(response, definitions)
    if response.name not in definitions:
        definitions[response.name] = {}  # a placeholder, so that a response may contain itself
        definitions[response.name] = _object(response, definitions)
    return {"$ref": f"#/$defs/{response.name}"}
