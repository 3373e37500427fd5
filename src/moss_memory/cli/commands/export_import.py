"""`moss export` and `moss import`: folders and streams, besides the one file of the tools."""

from __future__ import annotations

import os
from contextlib import contextmanager

from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import STDOUT as TERMINAL
from moss_memory.cli.render.output import answer, is_terminal, progress_for, show_lines
from moss_memory.errors import MossError, invalid_request
from moss_memory.store import Store

from .command_request import load_settings, request_of
from .signals import InterruptHandler
from .tool import execute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.cli.args.command import Command, CommandRequest
    from moss_memory.config import Config
    from moss_memory.registry.operation import Operation

STDOUT = "-"


def export(command: Command, words: list[str], home: str | None) -> int:
    """Export into a folder, to stdout, or by the tool into one file."""
    request = request_of(command, words, home)
    if request is None:
        return 0
    config = load_settings(request.cli_options.get("home", home))
    path = request.arguments.get("path", "")
    with _reworded_errors(command, request, config):
        if "all" in request.cli_options or "salvage" in request.cli_options:
            return _export_folder(command, request, config)
        if "with_history" in request.cli_options:
            raise UsageError("--with-history goes with --all FOLDER", command=command.words)
        if path == STDOUT:
            return _stream(command, request, config)
    if os.path.isdir(os.path.expanduser(path)):
        raise UsageError(f"{path} is a folder; --all {path} writes everything into it", command=command.words)
    return execute(command, request, config)


def import_(command: Command, words: list[str], home: str | None) -> int:
    """Import a folder, or by the tool one file."""
    request = request_of(command, words, home)
    if request is None:
        return 0
    config = load_settings(request.cli_options.get("home", home))
    if "max_bytes" in request.cli_options:
        config = config.replace(import_max_bytes=int(request.cli_options["max_bytes"]))
    path = os.path.expanduser(request.arguments["path"])
    with _reworded_errors(command, request, config):
        if not path.endswith(".jsonl") and path and not os.path.lexists(path):
            raise invalid_request(
                f"{request.arguments['path']} is not there; give a folder that `moss export --all` wrote, or a .jsonl "
                "file"
            )
        if os.path.isdir(path):
            return _import_folder(request, config)
    return execute(command, request, config)


@contextmanager
def _reworded_errors(command: Command, request: CommandRequest, config: Config) -> Iterator[None]:
    try:
        yield
    except MossError as error:
        from moss_memory.cli.render.error_text import reword

        reword(error, command, request, config)
        raise


def _import_folder(request: CommandRequest, config: Config) -> int:
    from moss_memory.transfer.transfer_calls import import_folder

    with InterruptHandler(import_folder) as interrupt_handler, Store(config, actor="cli") as store:
        arguments = {**request.arguments, "cancelled": interrupt_handler.ask}
        _run_with_progress(
            "import", store.import_folder, import_folder, request, folder=arguments.pop("path"), **arguments
        )
    return 0


def _export_folder(command: Command, request: CommandRequest, config: Config) -> int:
    from moss_memory.transfer.transfer_calls import SALVAGED, export_folder

    option = "--all" if "all" in request.cli_options else "--salvage"
    others = [name for name in request.arguments if name != "path"]
    if others:
        flag = command.options[others[0]].flag
        raise UsageError(f"{option} writes everything there is; leave out {flag}", command=command.words)
    folder = request.arguments.get("path")
    if folder is None or folder == STDOUT:
        raise UsageError(f"{option} needs the folder to write to", command=command.words)
    with Store(config, actor="cli") as store:
        if "salvage" in request.cli_options:
            answer(
                store.salvage(folder), table=SALVAGED if request.for_people(terminal=is_terminal(TERMINAL)) else None
            )
            return 0
        history = "with_history" in request.cli_options
        try:
            _run_with_progress(
                "export", store.export_folder, export_folder, request, folder=folder, with_history=history
            )
        except KeyboardInterrupt:
            message = f"interrupted; {folder} is unfinished, and the next `moss export --all` into it finishes it"
            raise MossError("CANCELLED", message) from None
    return 0


def _run_with_progress(
    label: str, move: Callable[..., dict[str, Any]], operation: Operation, request: CommandRequest, **arguments: Any
) -> None:
    """Run a long call with a progress line and print its response."""
    progress = progress_for(label)
    try:
        result = move(progress=progress, **arguments)
    finally:
        if progress is not None:
            progress.clear()
    answer(result, table=operation.answers if request.for_people(terminal=is_terminal(TERMINAL)) else None)


def _stream(command: Command, request: CommandRequest, config: Config) -> int:
    if "table" in request.cli_options:
        raise UsageError("--table and - contradict each other", command=command.words)
    arguments = {name: value for name, value in request.arguments.items() if name != "path"}
    with Store(config, actor="cli") as store:
        store.export_lines(show_lines, **arguments)
    return 0
