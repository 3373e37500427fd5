"""The tool list: a file generated at development time, filtered by the configuration.

`python -m moss_memory.mcp.tool_list` writes the file; a test fails if it is stale.
"""

from __future__ import annotations

import os

from moss_memory.registry import catalog
from moss_memory.registry.catalog import CORE, DisabledTools

from .messages import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.errors import MossError
    from moss_memory.registry.operation import Operation

TOOLS_FILE = os.path.join(os.path.dirname(__file__), "tools.jsonl")

_SELF_EVIDENT = frozenset({
    "artifact", "blocked", "branch_id", "by", "conflict_id", "content", "doc", "doc_kind", "edges_limit", "entity_id",
    "entity_type", "expected_revision", "force", "format", "include_deleted", "include_edges", "include_provenance",
    "include_snapshots", "include_total_count", "is_revision", "lease_s", "limit", "limit_cards", "max_bytes",
    "max_errors", "max_lines", "message", "mode", "name", "new", "next_thought_needed", "note", "notes_doc",
    "notes_limit", "offset", "old", "pinned", "provenance", "question_id", "reason", "rel", "release", "status",
    "step", "subgoal_id", "tag", "tags", "text", "thought", "title", "tool", "trace_limit", "workspace",
})  # fmt: skip
"""Arguments with a self-explanatory name: only the command line's help and the reference describe them."""

_RARE_ARGUMENTS = {
    "allow_secrets": "boolean",
    "expected_revision": "integer",
    "max_bytes": "integer",
    "max_lines": "integer",
    "meta": "object",
    "format": "string",
    "notes_doc": "string",
    "trace_doc": "string",
    "graph_doc": "string",
    "notes_limit": "integer",
    "trace_limit": "integer",
    "limit_cards": "integer",
}
"""Arguments that the list of `core` leaves out."""

_HINT_CHARS = 200
"""Clients read only the beginning of a hint."""

_WRITES_TO_READS = ('"readOnlyHint":false,"destructiveHint":true', '"readOnlyHint":true,"destructiveHint":false')
"""The hints of `moss_call`, and those for a client for which it only calls tools that read."""

_NAME_START = len('{"name":"')


class ToolList:
    """The tools of a connection: listed ones and callable ones."""

    def __init__(
        self,
        *,
        toolsets: Iterable[str] = (),
        disabled_tools: Iterable[str] = (),
        disabled_types: Iterable[str] = (),
        output_schemas: bool = False,
        workspace: str = "",
        read_only: bool = False,
    ) -> None:
        self.workspace = workspace
        self.read_only = read_only
        """True if the client may not write: tools that write are not listed."""
        self._reading: frozenset[str] | None = None
        self._toolsets = frozenset(toolsets) & frozenset(catalog.TOOLSETS)
        self.is_partial = bool(self._toolsets) or read_only
        """True if the list is shortened by toolsets or has only tools that read."""
        self.disabled = DisabledTools(disabled_tools, disabled_types)
        self._output_schemas = output_schemas
        self._listing = ""
        self.is_listed = self.lists if self.is_partial else None
        """A function that returns whether a tool is in the client's list; None if all are."""

    def listing(self) -> str:
        """Return the listed tools as a JSON array, copied from the file without parsing it."""
        if not self._listing:
            lines = [(name, line) for name, line in tool_lines() if self.lists(name)]
            if "core" in self._toolsets:
                lines = [(name, _without_rare_arguments(line)) for name, line in lines]
            if self.read_only:
                lines = [(name, line.replace(*_WRITES_TO_READS)) for name, line in lines]
            if self.workspace or self.disabled:
                lines = [(name, self._for_client(line)) for name, line in lines]
            tools = _with_output_schemas(lines) if self._output_schemas else [line for _, line in lines]
            self._listing = f"[{','.join(tools)}]"
        return self._listing

    def _for_client(self, line: str) -> str:
        """Return a tool for this client: with its default workspace, without disabled parts."""
        import json  # few clients set a workspace or disable tools

        from moss_memory.tools.everything.tool_descriptions import with_default_workspace, without_disabled

        tool = without_disabled(json.loads(line), self.disabled)
        return encode(with_default_workspace(tool, self.workspace) if self.workspace else tool)

    def find(self, tool: str) -> Operation | None:
        """Return the tool with this name, v1.0 names included; None if it is unknown or disabled."""
        operation = catalog.find(tool)
        return None if operation is None or not operation.visible or self.disabled.has(tool) else operation

    def refusal(self, tool: str, arguments: Any = None) -> MossError:
        """Return the error for a tool that is not available, with the best next call as this client can send it."""
        from moss_memory.tools.everything.unknown_tools import unknown_tool

        tool_name = "capsule_" + tool[5:] if tool.startswith("moss.") else tool
        error = unknown_tool(tool_name, arguments, lambda name: not self.disabled.has(name))
        error.recovery = None if error.recovery is None else self.rewrite_for_client(error.recovery)
        return error

    def resolve_proxy(self, operation: Operation, arguments: Any) -> tuple[Operation, dict[str, Any]]:
        """Return the target tool and the arguments of a `moss_call`."""
        return catalog.resolve_proxy(operation, arguments, self.find, self.refusal)

    def rewrite_for_client(self, proposal: dict[str, Any]) -> dict[str, Any] | None:
        """Return a proposed call, wrapped in `moss_call` if its tool is not listed; None if it is disabled."""
        tool = proposal["tool"]
        if self.disabled.has(tool) or not self._may_call(tool):
            return None
        if self.reaches(tool):
            return proposal
        return {**proposal, "tool": "moss_call", "arguments": {"tool": tool, "arguments": proposal["arguments"]}}

    def reaches(self, tool: str) -> bool:
        """Return True if the client can call a tool by its own name: it is listed, or `moss_call` is disabled."""
        return not self.is_partial or self.lists(tool) or self.disabled.has("moss_call")

    def _may_call(self, tool: str) -> bool:
        if not self.read_only:
            return True
        if self._reading is None:
            self._reading = _reading_tools()
        return tool in self._reading

    def lists(self, tool: str) -> bool:
        """Return True if a tool is on the client's list."""
        if self.disabled.has(tool) or not self._may_call(tool):
            return False
        if tool == "moss_call" and not self._toolsets and self.read_only:
            return False  # all that it could call is listed
        toolsets = catalog.toolsets_of(tool)
        chosen = self._toolsets
        return not chosen or not toolsets or not chosen.isdisjoint(toolsets) or ("core" in chosen and tool in CORE)


def _reading_tools() -> frozenset[str]:
    """Return the tools that only read, and `moss_call`, whose target is checked."""
    return frozenset([name for name, line in tool_lines() if '"readOnlyHint":true' in line or name == "moss_call"])


def tool_list_of(
    config: Config, toolsets: Sequence[str] | None, workspace: str | None = None, *, read_only: bool = False
) -> ToolList:
    """Return the tool list of a configuration; arguments override its toolsets and its workspace."""
    return ToolList(
        toolsets=config.toolsets if toolsets is None else toolsets,
        disabled_tools=config.disabled_tools,
        disabled_types=config.disabled_types,
        output_schemas=config.output_schemas,
        workspace=config.workspace if workspace is None else workspace,
        read_only=read_only,
    )


def unknown_toolsets(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in catalog.TOOLSETS]


def mistakes_in(config: Config) -> list[str]:
    """Return a warning for each unknown name in a configuration; such names have no effect."""
    toolset_names = ", ".join(catalog.TOOLSETS)
    warnings = [
        f"{key}: unknown name {name!r} is ignored (known: {toolset_names})"
        for key in ("toolsets", "disabled_types")
        for name in unknown_toolsets(getattr(config, key))
    ]
    if config.disabled_tools:
        tools = {name for name, _ in tool_lines()} | {f"moss.{name}" for name in catalog.V1_TOOLS}
        warnings += [
            f"disabled_tools: there is no tool {name!r}" for name in config.disabled_tools if name not in tools
        ]
    return warnings


def tool_lines() -> list[tuple[str, str]]:
    """Return names and JSON of the tools in the file, in listing order."""
    with open(TOOLS_FILE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [(line[_NAME_START : line.index('"', _NAME_START)], line) for line in lines]


def _without_rare_arguments(line: str) -> str:
    """Return a tool without the arguments that few calls need; they are accepted, and `moss_tools` shows them."""
    for argument, kind in _RARE_ARGUMENTS.items():
        line = line.replace(f',"{argument}":{{"type":"{kind}"}}', "")
    return line


def _with_output_schemas(lines: list[tuple[str, str]]) -> list[str]:
    """Return the tools with their output schemas, which are generated on demand because few clients use them."""
    from .output_schema import output_schema

    schemas = {operation.name: encode(output_schema(operation.answers)) for operation in catalog.operations()}
    return [f'{line[:-1]},"outputSchema":{schemas[name]}}}' for name, line in lines]


def generated() -> str:
    """Return the content of the tools file, one tool per line."""
    from moss_memory.tools.everything.tool_descriptions import describe_tool

    descriptions: dict[str, set[tuple[str, str]]] = {}
    tools = [
        {**describe_tool(operation), "annotations": _annotations(operation), "_meta": _meta(operation)}
        for operation in catalog.operations()
    ]
    for tool in tools:
        family = catalog.toolset_of(tool["name"])
        _drop_repeated(tool["inputSchema"]["properties"], descriptions.setdefault(family, set()))
    return "".join(encode(tool) + "\n" for tool in tools)


def _annotations(operation: Operation) -> dict[str, bool]:
    """Return all four hints, so that no client depends on the protocol's defaults."""
    return {
        "readOnlyHint": operation.only_reads,
        "destructiveHint": operation.destructive,
        "idempotentHint": operation.idempotent,
        "openWorldHint": False,
    }


def _meta(operation: Operation) -> dict[str, Any]:
    """Return the hints for clients that load tools on demand: load the core always, find others by everyday words."""
    if operation.name in CORE:
        return {"anthropic/alwaysLoad": True}
    hint = operation.words
    if len(hint) > _HINT_CHARS:
        hint = hint[: hint.rfind(",", 0, _HINT_CHARS)]
    return {"anthropic/searchHint": hint}


def _drop_repeated(properties: dict[str, dict[str, Any]], described: set[tuple[str, str]]) -> None:
    """Remove the description of an argument that an earlier tool of the family already described."""
    for name, schema in properties.items():
        description = schema.get("description")
        if name in _SELF_EVIDENT and schema["type"] == "integer":
            schema.pop("default", None)
        if description is not None and ((name, description) in described or name in _SELF_EVIDENT):
            del schema["description"]
        elif description is not None:
            described.add((name, description))


if __name__ == "__main__":
    with open(TOOLS_FILE, "w", encoding="utf-8") as tools_file:
        tools_file.write(generated())
