"""The question before something is removed for good; asked on a terminal only."""

from __future__ import annotations

import os

from moss_memory.cli.render.output import STDERR, STDIN, is_terminal, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.command import Command, CommandRequest
    from moss_memory.store import Store


def is_confirmed(store: Store, command: Command, request: CommandRequest) -> bool:
    """Return True if a command that removes for good may run: `--yes` was given, or the answer is yes.

    In a pipe or a script nothing is asked. The dry run refuses an invalid request before the question.
    """
    if request.arguments.get("dry_run") or request.cli_options.get("yes"):
        return True
    if not (is_terminal(STDIN) and is_terminal(STDERR)):
        return True
    preview = store.call(command.operation.name, {**request.arguments, "dry_run": True})
    count = preview["purged"] if "purged" in preview else preview["removed"]["rows"]
    if not count and not preview.get("removed", {}).get("versions"):
        return True
    say(f"moss: {count:,} {'row' if count == 1 else 'rows'} would be removed for good, from the disk too.")
    say("Go on? [y/N]")
    return os.read(STDIN, 1000).decode("utf-8", "replace").strip().lower() in ("y", "yes")
