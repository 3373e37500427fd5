"""Descriptions of tools for models: name, description and input schema."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.catalog import DisabledTools
    from moss_memory.registry.operation import Operation

_SENTENCE = re.compile(r"(?<=\.) ")

_INTERNAL_KEYWORDS = ("additionalProperties", "minimum", "nullable", "or_zero", "checked_later", "own_limit")
"""Keywords of schemas that only Moss's decoder needs."""


def describe_tool(operation: Operation) -> dict[str, Any]:
    """Return the description of a tool."""
    return {
        "name": operation.name,
        "description": " ".join(operation.description.split()),
        "inputSchema": _remove_internal(operation.schema()),
    }


def without_disabled(tool: dict[str, Any], disabled: DisabledTools) -> dict[str, Any]:
    """Return the description without arguments, values and sentences that need a disabled tool or family."""
    name, schema = tool["name"], tool["inputSchema"]
    properties = {
        argument: _enabled_values(part, name, argument, disabled)
        for argument, part in schema["properties"].items()
        if disabled.accepts_argument(name, argument)
    }
    sentences = [
        sentence
        for sentence in _SENTENCE.split(tool["description"])
        if not any(disabled.has(name) for name in re.findall(r"`(\w+)`", sentence))
    ]
    return {**tool, "description": " ".join(sentences), "inputSchema": {**schema, "properties": properties}}


def _enabled_values(schema: dict[str, Any], tool: str, argument: str, disabled: DisabledTools) -> dict[str, Any]:
    if "enum" in schema:
        return {**schema, "enum": disabled.allowed_values(tool, argument, schema["enum"])}
    if "items" in schema:
        return {**schema, "items": _enabled_values(schema["items"], tool, argument, disabled)}
    return schema


def with_default_workspace(tool: dict[str, Any], workspace: str) -> dict[str, Any]:
    """Return the description with a caller's default workspace as the default of `workspace`."""
    schema = tool["inputSchema"]
    argument, required = schema["properties"].get("workspace"), schema.get("required", [])
    if argument is None or not ("default" in argument or "workspace" in required):
        return tool  # without a workspace it searches all, or takes an id
    properties = {**schema["properties"], "workspace": {**argument, "default": workspace}}
    changed = {**schema, "properties": properties, "required": [name for name in required if name != "workspace"]}
    if not changed["required"]:
        del changed["required"]
    return {**tool, "inputSchema": changed}


def _remove_internal(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            name: _remove_internal(part)
            for name, part in schema.items()
            if name not in _INTERNAL_KEYWORDS
            and not (name == "default" and part is False)
            and not (isinstance(part, dict) and part.get("unlisted"))
        }
    return [_remove_internal(part) for part in schema] if isinstance(schema, list) else schema
