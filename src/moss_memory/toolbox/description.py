"""A tool as a model reads it: its name, what it does, the schema of what it takes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..operation import Operation

_MARKS = ("additionalProperties", "minimum", "nullable", "checked_later")
"""What only Moss's own decoder reads, and what goes without saying."""


def described(operation: Operation) -> dict[str, Any]:
    """A tool with everything that a caller needs to know of it."""
    return {
        "name": operation.name,
        "description": " ".join(operation.description.split()),
        "inputSchema": {**_public(operation.schema()), "additionalProperties": False},
    }


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
