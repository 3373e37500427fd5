"""A tool as a model reads it: its name, what it does, the schema of what it takes."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.catalog import DisabledTools
    from moss_memory.registry.operation import Operation

_SENTENCE = re.compile(r"(?<=\.) ")

_MARKS = ("additionalProperties", "minimum", "nullable", "or_zero", "checked_later", "own_limit")
"""What only Moss's own decoder reads, and what goes without saying."""


def described(operation: Operation) -> dict[str, Any]:
    """A tool with everything that a caller needs to know of it."""
    return {
        "name": operation.name,
        "description": " ".join(operation.description.split()),
        "inputSchema": {**_public(operation.schema()), "additionalProperties": False},
    }


def opened(tool: dict[str, Any], closed: DisabledTools) -> dict[str, Any]:
    """The tool without what leads to something closed: arguments, values of arguments, sentences that name a tool."""
    name, schema = tool["name"], tool["inputSchema"]
    properties = {
        argument: _with_open_values(part, name, argument, closed)
        for argument, part in schema["properties"].items()
        if closed.takes(name, argument)
    }
    kept = [sentence for sentence in _SENTENCE.split(tool["description"]) if not _names_closed(sentence, closed)]
    return {**tool, "description": " ".join(kept), "inputSchema": {**schema, "properties": properties}}


def _with_open_values(schema: dict[str, Any], tool: str, argument: str, closed: DisabledTools) -> dict[str, Any]:
    if "enum" in schema:
        return {**schema, "enum": closed.values(tool, argument, schema["enum"])}
    if "items" in schema:
        return {**schema, "items": _with_open_values(schema["items"], tool, argument, closed)}
    return schema


def _names_closed(sentence: str, closed: DisabledTools) -> bool:
    return any(closed.has(name) for name in re.findall(r"`(\w+)`", sentence))


def placed(tool: dict[str, Any], workspace: str) -> dict[str, Any]:
    """The tool as callers see it who have a default workspace: shown as default, not required."""
    schema = tool["inputSchema"]
    place, required = schema["properties"].get("workspace"), schema.get("required", [])
    if place is None or not ("default" in place or "workspace" in required):
        return tool  # without a workspace it looks everywhere, or takes an id
    properties = {**schema["properties"], "workspace": {**place, "default": workspace}}
    changed = {**schema, "properties": properties, "required": [name for name in required if name != "workspace"]}
    if not changed["required"]:
        del changed["required"]
    return {**tool, "inputSchema": changed}


def _public(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            name: _public(part)
            for name, part in schema.items()
            if name not in _MARKS and not (name == "default" and part is False)
        }
    return [_public(part) for part in schema] if isinstance(schema, list) else schema
