"""Runs a built-in command and prints its response."""

from __future__ import annotations

from moss_memory.cli.args.command import Command
from moss_memory.cli.render.cli_words import to_cli_words
from moss_memory.cli.render.output import STDOUT, answer, is_terminal, show, width
from moss_memory.cli.render.style import paint, wants_colour
from moss_memory.errors import MossError
from moss_memory.registry.cli_traits import cli_function

from .command_request import request_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.built_in import BuiltIn


def run_built_in(built_in: BuiltIn, words: list[str], home: str | None) -> int:
    """Run a command and return its exit code; 1 if its response reports a failure."""
    request = request_of(Command(built_in, built_in.name), words, home)
    if request is None:
        return 0
    try:
        result = cli_function(built_in.does)(request.extras.get("home", home), **request.arguments)
    except MossError as error:
        error.message = to_cli_words(error.message, built_in, written=request.arguments)
        raise
    if isinstance(result, int):
        return result
    table = request.for_people(terminal=is_terminal(STDOUT)) and bool(built_in.table or built_in.answers.fields)
    text = cli_function(built_in.table)(result, width=width()) if table and built_in.table else ""
    if text:
        show(paint(text, colour=is_terminal(STDOUT) and "table" not in request.extras and wants_colour()))
    else:
        answer(result, table=built_in.answers if table else None, plain="table" in request.extras)
    return 1 if result.get("failed") or result.get("healthy") is False else 0
