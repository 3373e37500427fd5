"""Runs a tool from the command line: reads its text, calls it, prints its response."""

from __future__ import annotations

from moss_memory.cli.args.command import ADDRESS, Command, find_command
from moss_memory.cli.args.command_names import INFERRED
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
from moss_memory.cli.render.wording import to_cli_words
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation
from moss_memory.registry.tool_groups import TOOL_GROUPS
from moss_memory.store import Store

from .command_request import load_settings, request_of
from .signals import InterruptHandler

STALE = ("orphaned", "drifted")
"""The states of memory that has to be looked at."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command import CommandRequest
    from moss_memory.registry.responses import ResponseSchema

REMOVES_FOR_GOOD = ("_purge", "_erase")
"""Suffixes of tools that a terminal asks about."""


def run_tool(words: list[str], home: str | None) -> int:
    """Run the tool that the words name and print its response."""
    found = find_command(words)
    if found is None:
        return _help_or_refuse(words)
    command, rest = found
    if command.operation.name == "moss_freshness" and (confirmed := _confirmation(command, rest, home)):
        return _run(*confirmed, home)
    if command.operation.name.endswith("_purge"):
        chosen = _purge_command(command, rest)
        return 0 if chosen is None else _run(chosen, rest, home)
    return _run(command, rest, home)


def _run(command: Command, rest: list[str], home: str | None) -> int:
    request = request_of(command, rest, home)
    if request is None:
        return 0
    if "text" in request.extras:
        _ask_for_text(command, request)
    config = load_settings(request.extras.get("home", home))
    if "max_bytes" in request.extras:
        config = config.replace(import_max_bytes=int(request.extras["max_bytes"]))
    if command.operation.name in ("capsule_export", "capsule_import"):
        from .folders import run_moving

        code = run_moving(command, request, config)
        if code is not None:
            return code
    _read_text(command, request)
    with InterruptHandler(command.operation) as interruptions:
        store = Store(config, actor="cli")
        _infer(store, command, request)
        if command.operation.name.endswith(REMOVES_FOR_GOOD) and not _is_confirmed(store, command, request):
            say("moss: nothing was changed")
            return 1
        result = perform(store, command, request, interruptions)
        if "text" in request.extras:
            show_text(text_of(result, command.operation.answers))
        else:
            _show(store, command, request, result)
        if "check" in request.extras and _is_stale(store, request):
            return 1
        if interruptions.deferred:
            # Checkpoint after a write, so that one database file remains.
            store.close()
    return 0


def _is_stale(store: Store, request: CommandRequest) -> bool:
    """Return whether something has drifted, on whichever page; the worst comes first."""
    worst = store.call("moss_freshness", {**request.arguments, "offset": 0, "limit": 1})["items"]
    return bool(worst) and worst[0]["freshness"]["state"] in STALE


def _is_confirmed(store: Store, command: Command, request: CommandRequest) -> bool:
    from .confirm import is_confirmed  # only a few commands ask

    return is_confirmed(store, command, request)


def _show(store: Store, command: Command, request: CommandRequest, result: dict[str, Any]) -> None:
    """Print the response: JSON, a table, or on a terminal the sentence that confirms a write."""
    terminal = is_terminal(STDOUT)
    if not request.for_people(terminal=terminal):
        answer(result)
        return
    plain = "table" in request.extras
    if terminal and not plain and _confirm(command, request, result):
        return
    answer(_complete(store, command, request, result), table=_shape(command, request), plain=plain)
    if not plain:
        from .empty_list import tell_of_graphs, tell_where_things_are

        tell_where_things_are(store, command.operation.name, request.arguments, result)
        tell_of_graphs(command.operation.name, result)


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
    if not command.operation.mutates:
        return ""
    from moss_memory.cli.render.sentences import sentence_of

    sentence = sentence_of(command.operation.name, result, request.arguments)
    return to_cli_words(sentence, command.operation) if sentence else ""


def _confirmation(command: Command, words: list[str], home: str | None) -> tuple[Command, list[str]] | None:
    """Return `moss confirm NAME` for `moss freshness --confirm NAME`; None without that option."""
    request = command.parse(words)
    if "help" in request.extras or "confirm" not in request.extras:
        return None
    found = find_command(["confirm"])
    assert found is not None
    workspace = ["--workspace", request.arguments["workspace"]] if "workspace" in request.arguments else []
    kept = [f"--{name}" for name in ("json", "table") if name in request.extras]
    return found[0], [request.extras["confirm"], *workspace, *kept]


def _infer(store: Store, command: Command, request: CommandRequest) -> None:
    """Set the inferred arguments: the previous version, the task that radar chooses, or the checkout."""
    name = INFERRED.get(command.operation.name)
    if name is None or name in request.arguments:
        return
    workspace = {key: value for key, value in request.arguments.items() if key == "workspace"}
    if name == "target":
        request.arguments[name] = store.call("tasks_radar", workspace)["target"]["id"]
        return
    if name == "into":
        request.arguments[name] = store.call("branchmind_status", workspace)["checkout"] or "main"
        return
    from .diff import version_before

    own = {key: value for key, value in request.arguments.items() if key in ("type", "id", "workspace", "name")}
    before, present = version_before(store, own)
    # Another process could write between the two calls: revert the change that was the last one at this point.
    request.arguments = {"expected_version": present, **request.arguments, name: before}


def _shape(command: Command, request: CommandRequest) -> ResponseSchema | None:
    """Return the shape of the response; for `moss call`, that of the called tool."""
    called = catalog.find(request.arguments["tool"]) if command.operation.answers.is_open else command.operation
    return None if called is None else called.answers


def _complete(store: Store, command: Command, request: CommandRequest, result: dict[str, Any]) -> dict[str, Any]:
    """Return the response with the titles of records in a timeline, and with the added nodes and edges in a diff."""
    if command.operation.name == "list_timeline_events":
        from moss_memory.cli.render.record_view import with_titles

        return with_titles(store, result)
    if command.operation.name == "branchmind_graph_diff":
        from moss_memory.cli.render.graph_diff_view import with_added

        return with_added(store, request.arguments, result)
    return result


def perform(
    store: Store, command: Command, request: CommandRequest, interruptions: InterruptHandler | None = None
) -> dict[str, Any]:
    """Make the call of a request with a progress line; reword its errors."""
    operation = command.operation
    assert isinstance(operation, Operation)
    if "yes" in request.extras:
        request.arguments.setdefault("dry_run", False)
    only_tried = operation.defaults.get("dry_run") is True and "dry_run" not in request.arguments
    if request.ambiguous_addresses and not operation.writes(request.arguments):
        _resolve_names(store, operation, request)
    progress = progress_for(operation.name.partition("_")[2]) if operation.slow else None
    cancelled = interruptions.ask if interruptions is not None and interruptions.deferred else None
    try:
        result = store.call(operation.name, request.arguments, cancelled=cancelled, progress=progress)
        if only_tried:
            say("moss: a dry run, nothing is changed; the same with --yes does it")
        return _without_copies(store, result) if "copies" in request.extras else result
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
    seen = {name: True for name in ("include_deleted", "include_expired") if request.arguments.get(name)}
    for address in request.ambiguous_addresses:
        workspace, name = address["workspace"], address["name"]
        one_name = {"name": f"{workspace}/{name}", **seen}
        if not _exists(store, fetch, {"workspace": workspace, "name": name, **seen}) and _exists(
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
    if "table" in request.extras or "json" in request.extras:
        other = "--table" if "table" in request.extras else "--json"
        raise UsageError(f"--text and {other} both say how to show the answer", command=command.words)
    if arguments.get("include_text") is False or arguments.get("format") == "json":
        raise UsageError("--text prints the text, which the other options leave out", command=command.words)
    if "include_text" in command.operation.parameters:
        arguments["include_text"] = True


def text_of(result: dict[str, Any], shape: ResponseSchema) -> str:
    """Return the single text of a response; refuse a response without one."""
    from moss_memory.cli.render.table import text_in

    text = text_in(result, shape)
    if text is None:
        elsewhere = result.get("elsewhere")
        if elsewhere:
            newest = elsewhere[0]
            where = f"{newest['workspace']}/{newest['name']}" if "name" in newest else newest["id"]
            raise MossError("NOT_FOUND", f"there is nothing yet; the newest elsewhere is {where}")
        there = any(value for value in result.values())
        raise MossError("NOT_FOUND", "what was found has no text" if there else "there is nothing yet")
    return text


def _read_text(command: Command, request: CommandRequest) -> None:
    """Read the text that no option gave from `--file` or stdin."""
    name = command.text
    path = request.extras.get("file")
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
        translate = getattr(command.operation, "translate", None)
        raise (refusal if translate is None else translate(refusal)) from None


_PURGED_WITH = dict.fromkeys(("note", "trace", "node"), "reasoning")
_NEVER_PURGED = {
    "task": "deleted plans, tasks and steps are gone at once; what graphs keep of them goes with --type reasoning",
    "record": "records are not deleted softly; `moss erase` takes one out for good",
}


def _purge_command(command: Command, words: list[str]) -> Command | None:
    """Return the purge command of the family that `--type` names, with its own options.

    Return None if the response was printed already: families without soft deletes have nothing to purge.
    """
    purges = {name: catalog.find(f"{family.prefix}_purge") for name, family in TOOL_GROUPS.items() if name}
    every = Command(command.operation, command.words)
    for operation in purges.values():
        if operation is not None:
            every.options = Command(operation, command.words).options | every.options
    request = every.parse(words)
    kind = request.extras.get("type")
    family = catalog.toolset_of(command.operation.name)
    if kind is None:
        return command
    if " " in command.words and kind != family:
        raise UsageError(f"`moss {command.words}` and --type {kind} say two things", command=command.words)
    if kind in _NEVER_PURGED:
        is_dry_run = bool(request.arguments.get("dry_run"))
        response = {
            "purged": 0,
            "message": f"There is nothing to purge: {_NEVER_PURGED[kind]}",
            "erased": not is_dry_run,
        }
        shape = command.operation.answers if request.for_people(terminal=is_terminal(STDOUT)) else None
        answer(
            {**response, **({"dry_run": True, "ids": []} if is_dry_run else {})},
            table=shape,
            plain="table" in request.extras,
        )
        return None
    chosen = purges.get(_PURGED_WITH.get(kind, kind))
    if chosen is None:
        raise UsageError(f"there is no type {kind!r}; known: {', '.join(purges)}", command="purge")
    return Command(chosen, command.words)


def _help_or_refuse(words: list[str]) -> int:
    """Print the help of a group if the words name one, else refuse."""
    from moss_memory.cli.args.did_you_mean import suggest_word

    from .help import command_names, family_help, group_names

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
        raise UsageError(f"unknown option {family}; options stand after the command")
    raise UsageError(f"unknown command {family!r}{suggest_word(family, [*names, *group_names()])}")
