"""The catalog of tools: a call imports only the module of its tool."""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .operation import Operation
from .tool_groups import FAMILY_ARGUMENTS, FAMILY_NEEDED_BY, GROUP_OF_TYPE, TOOL_GROUPS, import_module
from .tool_index import MODULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.errors import MossError

TOOLSETS = ("capsule", "artifact", "reasoning", "task", "record", "core")
"""The names that `toolsets` and `disabled_types` accept."""

CORE = frozenset({
    "capsule_store", "capsule_fetch", "capsule_latest", "capsule_append", "capsule_inventory",
    "branchmind_notes_commit", "branchmind_think_card", "branchmind_think_set_status", "branchmind_context_pack",
    "tasks_create", "tasks_radar", "tasks_claim", "tasks_done", "tasks_handoff",
    "moss_search", "moss_workspaces", "moss_tools", "moss_call",
})  # fmt: skip
"""The toolset `core`: the most used tools, and `moss_tools` and `moss_call` to reach all others."""

V1_TOOLS = (
    "store", "fetch", "fetch_many", "update", "delete", "latest", "list", "inventory", "export", "import", "purge",
)  # fmt: skip
"""The eleven tools with an alias of v1.0 (`moss.store` …); the aliases can be called but are not listed."""


_loaded: dict[str, Operation] = {}
"""The cache of `find`."""


def find(tool: str) -> Operation | None:
    """Return the tool of this name or alias, or None."""
    return _loaded.get(tool) or _load(tool)


def _load(tool: str) -> Operation | None:
    if tool.startswith("moss.") and tool[5:] in V1_TOOLS:
        original = find(f"capsule_{tool[5:]}")
        return original and _loaded.setdefault(tool, original.renamed(tool))
    if tool in MODULES:
        modules: tuple[str, ...] = (MODULES[tool],)
    else:  # a new tool is not in the generated index yet
        modules = next((family.modules for family in TOOL_GROUPS.values() if family.has(tool)), ())
    for module_name in modules:
        operation = getattr(import_module(module_name), tool, None)
        if isinstance(operation, Operation):
            return _loaded.setdefault(tool, operation)
    return None


def operations() -> list[Operation]:
    """Import all tools and return the visible ones in listing order."""
    return [operation for operation in every_operation() if operation.visible]


def every_operation() -> list[Operation]:
    """Import all tools and return them, hidden ones too."""
    return [
        value
        for family in TOOL_GROUPS.values()
        for module_name in family.modules
        for value in vars(import_module(module_name)).values()
        if isinstance(value, Operation) and value.body.__module__ == module_name
    ]


def toolset_of(tool: str) -> str:
    """Return the toolset that a tool belongs to; empty if it belongs to no family."""
    return next((family.name for family in TOOL_GROUPS.values() if family.has(tool)), "")


def toolsets_of(tool: str) -> tuple[str, ...]:
    """Return the toolsets that list a tool; empty if it is always listed."""
    family = next((family for family in TOOL_GROUPS.values() if family.has(tool)), None)
    if family is None:
        return ()
    return (family.name,) if family.name else family.serves.get(tool, ())


class DisabledTools:
    """The tools that a configuration disables: single tools, and families with all of their tools."""

    def __init__(self, tools: Iterable[str], types: Iterable[str]) -> None:
        self.tools = frozenset(tools)
        self.types = frozenset(types)

    def __bool__(self) -> bool:
        return bool(self.tools or self.types)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledTools) and (self.tools, self.types) == (other.tools, other.types)

    def __hash__(self) -> int:
        return hash((self.tools, self.types))

    def has(self, tool: str) -> bool:
        """Return True if a tool, given by its name or its v1.0 alias, is disabled."""
        if tool in self.tools:
            return True
        if tool.startswith("moss."):
            return self.has(f"capsule_{tool[5:]}")
        toolsets = toolsets_of(tool)
        return bool(toolsets) and (self.types.issuperset(toolsets) or ("core" in self.types and tool in CORE))

    def refuse(self, operation: Operation, values: dict[str, Any]) -> None:
        """Refuse a call of a tool over several families if its `type` is of a disabled one."""
        chosen = values.get("type")
        if isinstance(chosen, str) and self.allowed_values(operation.name, "type", [chosen]) == []:
            raise invalid_request(f"{chosen!r} is disabled by the configuration", path="type")

    def accepts_argument(self, tool: str, argument: str) -> bool:
        """Return True unless an argument of a tool needs a disabled family."""
        return FAMILY_NEEDED_BY.get((tool, argument)) not in self.types

    def allowed_values(self, tool: str, argument: str, values: list[str]) -> list[str]:
        """Return the values of an argument that name no disabled family."""
        over_several = not toolset_of(tool) or argument == "include"
        if argument not in FAMILY_ARGUMENTS or not over_several:
            return values
        return [value for value in values if GROUP_OF_TYPE.get(value) not in self.types]


def disabled_by(config: Config) -> DisabledTools:
    return DisabledTools(config.disabled_tools, config.disabled_types)


def resolve_proxy(
    operation: Operation,
    arguments: Any,
    offered: Callable[[str], Operation | None],
    refusal: Callable[[str, Any], MossError],
) -> tuple[Operation, dict[str, Any]]:
    """Return the tool that a call of a proxy names, and its arguments.

    Raise the `refusal` if `offered` does not find that tool; refuse a proxy that names a proxy.
    """
    forwarded = operation.body(None, **operation.decode(arguments))
    target = offered(forwarded["tool"])
    if target is None:
        raise refusal(forwarded["tool"], forwarded["arguments"])
    if target.proxy:
        raise invalid_request(f"`{operation.name}` does not call itself; name the tool that is meant", path="tool")
    return target, forwarded["arguments"]
