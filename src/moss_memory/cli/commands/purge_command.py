"""`moss purge --type`: the purge of one family."""

from __future__ import annotations

from moss_memory.cli.args.command import Command
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import STDOUT, answer, is_terminal
from moss_memory.registry import catalog
from moss_memory.registry.tool_groups import TOOL_GROUPS

from .tool import run_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.command import CommandRequest

_PURGED_WITH = dict.fromkeys(("note", "trace", "node"), "reasoning")
_NEVER_PURGED = {
    "task": "deleted plans, tasks and steps are gone at once; their nodes in graphs are purged with --type reasoning",
    "record": "records are not deleted softly; `moss erase` removes one for good",
}


def run_purge(command: Command, words: list[str], home: str | None) -> int:
    """Run the purge of the family that `--type` names, with its own options."""
    purges = {name: catalog.find(f"{family.prefix}_purge") for name, family in TOOL_GROUPS.items() if name}
    merged = Command(command.operation, command.words)
    for operation in purges.values():
        if operation is not None:
            merged.options = Command(operation, command.words).options | merged.options
    request = merged.parse(words)
    kind = request.cli_options.get("type")
    if kind is None:
        return run_command(command, words, home)
    if " " in command.words and kind != catalog.toolset_of(command.operation.name):
        raise UsageError(f"`moss {command.words}` and --type {kind} contradict each other", command=command.words)
    if kind in _NEVER_PURGED:
        _print_nothing_to_purge(command, request, _NEVER_PURGED[kind])
        return 0
    chosen = purges.get(_PURGED_WITH.get(kind, kind))
    if chosen is None:
        raise UsageError(f"there is no type {kind!r}; known: {', '.join(purges)}", command="purge")
    return run_command(Command(chosen, command.words), words, home)


def _print_nothing_to_purge(command: Command, request: CommandRequest, reason: str) -> None:
    is_dry_run = bool(request.arguments.get("dry_run"))
    response = {"purged": 0, "message": f"There is nothing to purge: {reason}", "erased": not is_dry_run}
    if is_dry_run:
        response |= {"dry_run": True, "ids": []}
    schema = command.operation.answers if request.for_people(terminal=is_terminal(STDOUT)) else None
    answer(response, table=schema, plain="table" in request.cli_options)
