"""Which tool lives in which room; rooms are imported only when one of their tools is called."""

from __future__ import annotations

from .families import FAMILIES, module
from .operation import Operation

TOOLSETS = ("capsule", "artifact", "reasoning", "task", "record", "core")
"""The names that `toolsets` and `disabled_types` know."""

V1_TOOLS = (
    "store", "fetch", "fetch_many", "update", "delete", "latest", "list", "inventory", "export", "import", "purge",
)  # fmt: skip
"""The eleven names of v1.0 (`moss.store` …): they answer when called and are never listed."""


def find(tool: str) -> Operation | None:
    """The tool of that name, or none; answers the names of v1.0 too."""
    if tool.startswith("moss.") and tool[5:] in V1_TOOLS:
        return _alias(tool)
    for module_name in _modules(tool):
        found = getattr(module(module_name), tool, None)
        if isinstance(found, Operation):
            return found
    return None


def operations() -> list[Operation]:
    """Every listed tool, in listing order; imports every room."""
    return [
        value
        for family in FAMILIES.values()
        for module_name in family.modules
        for value in vars(module(module_name)).values()
        if isinstance(value, Operation) and value.listed and value.body.__module__ == module_name
    ]


def toolset_of(tool: str) -> str:
    """The toolset a tool belongs to; empty for those that are always on."""
    return next((family.name for family in FAMILIES.values() if family.has(tool)), "")


def _modules(tool: str) -> tuple[str, ...]:
    return next((family.modules for family in FAMILIES.values() if family.has(tool)), ())


def _alias(tool: str) -> Operation | None:
    original = find(f"capsule_{tool[5:]}")
    return original and original.renamed(tool)
