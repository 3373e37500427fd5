"""Runs a tool from the command line: reads its text, calls it, prints its response."""

from __future__ import annotations

from moss_memory.cli.args.argument_names import ADDRESS
from moss_memory.cli.args.command import Command, find_command
from moss_memory.cli.args.positional import takes_json
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import (
    STDIN,
    STDOUT,
    answer,
    is_terminal,
    progress_for,
    say,
    show,
    show_paragraph,
    show_text,
)
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.registry.cli_traits import cli_function
from moss_memory.registry.operation import Operation
from moss_memory.store import Store

from .command_request import load_settings, request_of
from .signals import InterruptHandler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command import CommandRequest
    from moss_memory.config import Config
    from moss_memory.registry.responses import ResponseSchema


def run_tool(words: list[str], home: str | None) -> int:
    """Run the tool that the words name and print its response."""
    match = find_command(words)
    if match is None:
        return _help_or_refuse(words)
    command, rest = match
    runs = command.operation.cli.runs
    return cli_function(runs)(command, rest, home) if runs else run_command(command, rest, home)


def run_command(command: Command, words: list[str], home: str | None) -> int:
    """Run a command with the words after it and print its response."""
    request = request_of(command, words, home)
    if request is None:
        return 0
    if "text" in request.cli_options:
        _ask_for_text(command, request)
    return execute(command, request, load_settings(request.cli_options.get("home", home)))


def execute(command: Command, request: CommandRequest, config: Config) -> int:
    """Call the tool of a command and print its response."""
    _read_text(command, request)
    with InterruptHandler(command.operation) as interrupt_handler:
        store = Store(config, actor="cli")
        _infer(store, command, request)
        if command.operation.cli.asks:
            from .confirm import is_confirmed

            if not is_confirmed(store, command, request):
                say("moss: nothing was changed")
                return 1
        result = perform(store, command, request, interrupt_handler)
        if "text" in request.cli_options:
            show_text(text_of(result, command.operation.answers))
        else:
            _show(store, command, request, result)
        if interrupt_handler.deferred:
            # Checkpoint after a write, so that one database file remains.
            store.close()
    return 0


def _show(store: Store, command: Command, request: CommandRequest, result: dict[str, Any]) -> None:
    """Print the response: JSON, a table, or on a terminal the sentence that confirms a write."""
    terminal = is_terminal(STDOUT)
    if not request.for_people(terminal=terminal):
        answer(result)
        return
    plain = "table" in request.cli_options
    if terminal and not plain and _confirm(command, request, result):
        return
    operation = command.operation
    if operation.cli.completes:
        result = cli_function(operation.cli.completes)(store, request.arguments, result)
    # The response of `moss call` has the schema of the called tool's.
    called_operation = catalog.find(request.arguments["tool"]) if operation.answers.is_open else operation
    schema, view = (None, "") if called_operation is None else (called_operation.answers, called_operation.cli.table)
    answer(result, table=schema, view=view, plain=plain)
    if not plain:
        if "hint" in result:
            say(f"moss: {result['hint']}")
        elif operation.cli.remark:
            cli_function(operation.cli.remark)(store, command, request.arguments, result)


def _confirm(command: Command, request: CommandRequest, result: dict[str, Any]) -> bool:
    """Print the sentence that confirms a write, and the fields that need attention; return False if it has none."""
    sentence = sentence_for(command, request, result)
    if not sentence:
        return False
    from moss_memory.cli.render.sentences import NOTABLE

    show_paragraph(sentence)
    notable = {name: result[name] for name in NOTABLE if result.get(name)}
    if notable:
        answer(notable, table=command.operation.answers)
    return True


def sentence_for(command: Command, request: CommandRequest, result: dict[str, Any]) -> str:
    """Return the sentence that confirms a write on a terminal, empty if there is none."""
    operation = command.operation
    if not operation.cli.sentence:
        return ""
    from moss_memory.cli.render.cli_words import to_cli_words
    from moss_memory.cli.render.sentences import sentence_of

    return to_cli_words(sentence_of(operation.cli.sentence, result, request.arguments), operation)


def _infer(store: Store, command: Command, request: CommandRequest) -> None:
    """Set the inferred arguments: the previous version, the task that radar chooses, or the checkout."""
    for name in command.operation.cli.inferred:
        if name in request.arguments:
            continue
        workspace = {key: value for key, value in request.arguments.items() if key == "workspace"}
        if name == "target":
            request.arguments[name] = store.call("tasks_radar", workspace)["target"]["id"]
        elif name == "into":
            request.arguments[name] = store.call("branchmind_status", workspace)["checkout"] or "main"
        else:
            from .diff import version_before

            address = {
                key: value for key, value in request.arguments.items() if key in ("type", "id", "workspace", "name")
            }
            previous, present = version_before(store, address)
            # Another process could write between the two calls: revert the change that was the last one at this point.
            request.arguments = {"expected_version": present, **request.arguments, name: previous}


def perform(
    store: Store, command: Command, request: CommandRequest, interrupt_handler: InterruptHandler | None = None
) -> dict[str, Any]:
    """Make the call of a request with a progress line; reword its errors."""
    operation = command.operation
    assert isinstance(operation, Operation)
    if "yes" in request.cli_options:
        request.arguments.setdefault("dry_run", False)
    only_tried = operation.defaults.get("dry_run") is True and "dry_run" not in request.arguments
    if request.ambiguous_addresses and not operation.writes(request.arguments):
        _resolve_names(store, operation, request)
    progress = progress_for(operation.name.partition("_")[2]) if operation.slow else None
    cancelled = interrupt_handler.ask if interrupt_handler is not None and interrupt_handler.deferred else None
    try:
        result = store.call(operation.name, request.arguments, cancelled=cancelled, progress=progress)
        if only_tried:
            say("moss: a dry run, nothing was changed; repeat the command with --yes to apply it")
        return _without_copies(store, result) if "copies" in request.cli_options else result
    except MossError as error:
        from moss_memory.cli.render.error_text import reword

        reword(error, command, request, store.config)
        raise
    finally:
        if progress is not None:
            progress.clear()


def _without_copies(store: Store, result: dict[str, Any]) -> dict[str, Any]:
    """Remove the copies that Moss made, unless nothing was erased; the response names the others."""
    from moss_memory.tools.everything.backup_scan import remove_own_copies

    if result["dry_run"]:
        return result
    return {**result, "copies": remove_own_copies(store.config.home, result["copies"])}


def _resolve_names(store: Store, operation: Operation, request: CommandRequest) -> None:
    """Read `a/b` as one name in the default workspace if that exists and workspace `a` has no `b`."""
    fetch = f"{request.arguments.get('type', operation.name.partition('_')[0])}_fetch"
    include_options = {name: True for name in ("include_deleted", "include_expired") if request.arguments.get(name)}
    for address in request.ambiguous_addresses:
        workspace, name = address["workspace"], address["name"]
        one_name = {"name": f"{workspace}/{name}", **include_options}
        if not _exists(store, fetch, {"workspace": workspace, "name": name, **include_options}) and _exists(
            store, fetch, one_name
        ):
            del address["workspace"]
            address["name"] = one_name["name"]


def _exists(store: Store, fetch: str, address: dict[str, Any]) -> bool:
    try:
        store.call(fetch, address)
    except MossError:
        return False
    return True


def _ask_for_text(command: Command, request: CommandRequest) -> None:
    """Change the request so that its response has a text; refuse contradicting options."""
    arguments = request.arguments
    if "table" in request.cli_options or "json" in request.cli_options:
        output_option = "--table" if "table" in request.cli_options else "--json"
        raise UsageError(f"--text and {output_option} contradict each other", command=command.words)
    if arguments.get("include_text") is False or arguments.get("format") == "json":
        raise UsageError("--text prints the text, which another option leaves out", command=command.words)
    if "include_text" in command.operation.parameters:
        arguments["include_text"] = True


def text_of(result: dict[str, Any], schema: ResponseSchema) -> str:
    """Return the single text of a response; refuse a response without one."""
    from moss_memory.cli.render.table import text_in

    text = text_in(result, schema)
    if text is None:
        elsewhere = result.get("elsewhere")
        if elsewhere:
            newest = elsewhere[0]
            address = f"{newest['workspace']}/{newest['name']}" if "name" in newest else newest["id"]
            raise MossError("NOT_FOUND", f"there is nothing yet; the newest elsewhere is {address}")
        has_value = any(value for value in result.values())
        raise MossError("NOT_FOUND", "the result has no text" if has_value else "there is nothing yet")
    return text


def _read_text(command: Command, request: CommandRequest) -> None:
    """Read the text that no option gave from `--file` or stdin."""
    name = command.text
    path = request.cli_options.get("file")
    if name is None:
        return
    if name in request.arguments:
        if path is not None:
            raise UsageError(f"--file and --{name.replace('_', '-')} both give the text", command=command.words)
        return
    from moss_memory.cli.args import stdin

    if path is not None:
        request.arguments[name] = _parse_text(command, name, stdin.read_text(path))
    elif name in command.operation.required:
        if is_terminal(STDIN):
            say(f"moss: reading the {name.replace('_', ' ')} from the terminal; end with Ctrl-D")
        request.arguments[name] = _parse_text(command, name, stdin.read_stdin())
    elif not is_terminal(STDIN):
        if any(argument not in ADDRESS for argument in request.arguments) and stdin.is_silent():
            say("moss: stdin is open but silent; only the options are applied")
        elif text := stdin.read_stdin():
            request.arguments[name] = text


def _parse_text(command: Command, name: str, text: str) -> Any:
    """Return the text of a file or stdin, parsed as JSON if the tool takes an object."""
    if not takes_json(command.operation.parameters[name]):
        return text
    import json

    if not text.strip():
        ways = f"--{name}, --file or stdin"
        raise MossError("INVALID_REQUEST", f"the {name} is empty; give JSON with {ways}", details={"path": name})
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        refusal = MossError("INVALID_REQUEST", f"the {name} is not valid JSON ({error})", details={"path": name})
        translate = getattr(command.operation, "translate_error", None)
        raise (refusal if translate is None else translate(refusal)) from None


def _help_or_refuse(words: list[str]) -> int:
    """Print the help of a group if the words name one, else refuse."""
    from moss_memory.cli.args.command_names import command_names
    from moss_memory.cli.args.did_you_mean import suggest_word

    from .help import family_help, group_names

    family = words[0]
    names = command_names()
    members = [name for name in names if name.startswith(family + " ")]
    if members and (len(words) == 1 or words[1] in ("--help", "-h")):
        show(family_help(family))
        return 0
    if members:
        hint = suggest_word(f"{family} {words[1]}", members)
        if family == "history" and hint.endswith(" reset?"):  # the only similarity is the group
            hint = f"; the versions of a capsule: moss versions {words[1]}"
        raise UsageError(f"unknown command {words[1]!r}{hint}", command=family)
    if family.startswith("-"):
        raise UsageError(f"unknown option {family}; options follow the command")
    raise UsageError(f"unknown command {family!r}{suggest_word(family, [*names, *group_names()])}")
