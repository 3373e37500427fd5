"""Generator of `tool_index.py`: `python -m moss_memory.registry.write_tool_index`, or `make docs`.

A test fails if the index is stale.
"""

from __future__ import annotations

from . import tool_index
from .catalog import every_operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .operation import Operation

_GROUPS = (
    ("branchmind_branch_", "branch"),
    ("branchmind_graph_", "graph"),
    ("branchmind_think_", "think"),
    ("branchmind_trace_", "trace"),
    ("tasks_", "task"),
)
"""Prefix of a tool's name, and the group of its command: `branchmind_graph_diff` is `graph diff`."""
_HEADER = (
    '"""The module of each tool, and the tool of each command, its shortest name first; written by `make docs`."""'
)


def command_name(tool: str) -> str:
    """Return the name of a command that follows from the tool's: `artifact store` from `artifact_store`.

    Commands over all families have no group, and those of capsules have an optional one: `store`.
    """
    for prefix, group in _GROUPS:
        if tool.startswith(prefix):
            return f"{group} {tool.removeprefix(prefix).replace('_', '-')}"
    family, _, verb = tool.partition("_")
    verb = verb.replace("_", "-")
    # `search` is `moss_search`.
    return verb if family == "moss" or (family == "capsule" and verb != "search") else f"{family} {verb}"


def command_names(operation: Operation) -> list[str]:
    """Return all names of a tool's command, the shortest first; empty if it is hidden."""
    cli = operation.cli
    if cli.hidden:
        return []
    name = cli.name or command_name(operation.name)
    names = [name, *(f"{group} {name}" for group in cli.groups)]
    if operation.name.startswith("capsule_"):
        names = [name, f"capsule {name.removeprefix('capsule ')}"]
        names += [f"{prefix}{alias}" for alias in cli.aliases for prefix in ("", "capsule ")]
    else:
        names += [f"{name.partition(' ')[0]} {alias}" for alias in cli.aliases]
    return list(dict.fromkeys(names))


def index_source() -> str:
    operations = every_operation()
    modules = {operation.name: operation.body.__module__ for operation in operations}
    commands = {name: operation.name for operation in operations for name in command_names(operation)}
    return f"{_HEADER}\n\nMODULES = {_literal(modules)}\nCOMMANDS = {_literal(commands)}"


def _literal(table: dict[str, str]) -> str:
    lines = [f'    "{key}": "{value}",\n' for key, value in table.items()]
    return f"{{\n{''.join(lines)}}}\n"


if __name__ == "__main__":
    with open(tool_index.__file__, "w", encoding="utf-8") as index:
        index.write(index_source())
