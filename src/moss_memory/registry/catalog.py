"""Which tool lives in which room; a call imports the one module that holds its tool.

`python -m moss_memory.registry.catalog` writes the table of these modules anew; a test fails when it is stale.
"""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .operation import Operation
from .tool_groups import CHOOSES, GROUP_OF_TYPE, NEEDS, TOOL_GROUPS, module
from .tool_modules import MODULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.errors import MossError

TOOLSETS = ("capsule", "artifact", "reasoning", "task", "record", "core")
"""The names that `toolsets` and `disabled_types` know."""

CORE = frozenset({
    "capsule_store", "capsule_fetch", "capsule_append", "capsule_latest", "moss_search", "moss_tools", "moss_call",
    "branchmind_notes_commit", "branchmind_think_card", "branchmind_context_pack",
    "tasks_create", "tasks_radar", "tasks_done", "tasks_complete", "tasks_handoff",
})  # fmt: skip
"""What a session needs most: hand over, find again, remember and think, know what to do next, reach all the rest."""

V1_TOOLS = (
    "store", "fetch", "fetch_many", "update", "delete", "latest", "list", "inventory", "export", "import", "purge",
)  # fmt: skip
"""The eleven names of v1.0 (`moss.store` …): they answer when called and are never listed."""


_found: dict[str, Operation] = {}
"""Every tool that was asked for; the faces and the store share it."""


def find(tool: str) -> Operation | None:
    """The tool of that name, or none; answers the names of v1.0 too."""
    return _found.get(tool) or _look_for(tool)


def _look_for(tool: str) -> Operation | None:
    if tool.startswith("moss.") and tool[5:] in V1_TOOLS:
        return _alias(tool)
    # A tool that the table does not know yet is looked for where its family lives.
    for module_name in (MODULES[tool],) if tool in MODULES else _modules(tool):
        found = getattr(module(module_name), tool, None)
        if isinstance(found, Operation):
            return _found.setdefault(tool, found)
    return None


def operations() -> list[Operation]:
    """Every listed tool, in listing order; imports every room."""
    return [operation for operation in every_operation() if operation.listed]


def every_operation() -> list[Operation]:
    """Return every tool, those that no agent is told of too; imports every room."""
    return [
        value
        for family in TOOL_GROUPS.values()
        for module_name in family.modules
        for value in vars(module(module_name)).values()
        if isinstance(value, Operation) and value.body.__module__ == module_name
    ]


def toolset_of(tool: str) -> str:
    """The toolset a tool belongs to; empty for those of no family."""
    return next((family.name for family in TOOL_GROUPS.values() if family.has(tool)), "")


def toolsets_of(tool: str) -> tuple[str, ...]:
    """The toolsets with any of which a tool is listed; none for those that are always on."""
    family = next((family for family in TOOL_GROUPS.values() if family.has(tool)), None)
    if family is None:
        return ()
    return (family.name,) if family.name else family.serves.get(tool, ())


class DisabledTools:
    """What a configuration switches off: single tools, and families with all of their tools."""

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
        """Whether a tool, or the one that a v1.0 name stands for, is switched off."""
        if tool in self.tools:
            return True
        if tool.startswith("moss."):
            return self.has(f"capsule_{tool[5:]}")
        toolsets = toolsets_of(tool)
        return bool(toolsets) and (self.types.issuperset(toolsets) or ("core" in self.types and tool in CORE))

    def refuse(self, operation: Operation, values: dict[str, Any]) -> None:
        """Refuses a call of a tool over several families that names one which is closed."""
        chosen = values.get("type")
        if isinstance(chosen, str) and self.values(operation.name, "type", [chosen]) == []:
            raise invalid_request(f"{chosen!r} is not possible: the configuration has switched that off", path="type")

    def takes(self, tool: str, argument: str) -> bool:
        """Whether an argument of a tool means something while these families are closed."""
        return NEEDS.get((tool, argument)) not in self.types

    def values(self, tool: str, argument: str, values: list[str]) -> list[str]:
        """Those of an argument's values that name nothing closed."""
        over_several = not toolset_of(tool) or argument == "include"
        if argument not in CHOOSES or not over_several:
            return values
        return [value for value in values if GROUP_OF_TYPE.get(value) not in self.types]


def disabled_by(config: Config) -> DisabledTools:
    """What these settings switch off."""
    return DisabledTools(config.disabled_tools, config.disabled_types)


def forwarded(
    operation: Operation,
    arguments: Any,
    offered: Callable[[str], Operation | None],
    refusal: Callable[[str], MossError],
) -> tuple[Operation, dict[str, Any]]:
    """The tool that a call stands for, and its arguments; refused where that is not on offer, or is itself."""
    asked = operation.body(None, **operation.decode(arguments))
    found = offered(asked["tool"])
    if found is None:
        raise refusal(asked["tool"])
    if found.forwards:
        raise invalid_request(f"`{operation.name}` does not call itself; name the tool that is meant", path="tool")
    return found, asked["arguments"]


def _modules(tool: str) -> tuple[str, ...]:
    return next((family.modules for family in TOOL_GROUPS.values() if family.has(tool)), ())


def _alias(tool: str) -> Operation | None:
    original = find(f"capsule_{tool[5:]}")
    return original and _found.setdefault(tool, original.renamed(tool))


def generated() -> str:
    """What the table of modules must contain: one tool a line."""
    lines = [f'    "{operation.name}": "{operation.body.__module__}",\n' for operation in every_operation()]
    return f'"""The module of every tool, as `make docs` finds them."""\n\nMODULES = {{\n{"".join(lines)}}}\n'


if __name__ == "__main__":
    from . import tool_modules

    with open(tool_modules.__file__, "w", encoding="utf-8") as table:
        table.write(generated())
