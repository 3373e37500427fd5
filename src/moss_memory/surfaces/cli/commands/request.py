"""What one command line asks of a command, or its help where that is what it asks for."""

from __future__ import annotations

from ..showing.output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..parsing.command import Command, Request


def request_of(command: Command, words: list[str]) -> Request | None:
    """The whole request that the words make; none when they ask for help, which is shown."""
    request = command.parse(words)
    if "help" in request.extras:
        from .help import command_help

        show(command_help(command))
        return None
    command.require(request)
    return request
