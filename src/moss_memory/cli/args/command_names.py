"""The names of commands, from the index that `make docs` writes."""

from __future__ import annotations

from moss_memory.registry.tool_index import COMMANDS

from .built_in_commands import BUILT_IN


def command_names() -> list[str]:
    return [*BUILT_IN, *COMMANDS]


def words_of(tool: str) -> str:
    """Return the shortest name of a tool's command: `store` for `capsule_store`."""
    tool = tool.replace("moss.", "capsule_")
    return next(iter(all_words_of(tool)), tool.replace("_", " ", 1).replace("_", "-"))


def all_words_of(tool: str) -> list[str]:
    """Return every name of a tool's command, the shortest first; empty if the command is hidden."""
    return [words for words, name in COMMANDS.items() if name == tool]


def group_of(tool: str) -> str:
    """Return the group under which a tool is listed, empty if it belongs to no family."""
    family, _, _ = tool.partition("_")
    if family == "moss":
        return ""
    group, space, _ = words_of(tool).partition(" ")
    return group if space else family
