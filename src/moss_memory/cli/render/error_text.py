"""Error messages of tools in the words of the command line."""

from __future__ import annotations

import os
import shlex

from .cli_words import to_cli_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.command import Command, CommandRequest
    from moss_memory.config import Config
    from moss_memory.errors import MossError


def reword(error: MossError, command: Command, request: CommandRequest, config: Config) -> None:
    """Rewrite the message in the words of the command line; add a hint if a file was refused."""
    error.message = to_cli_words(error.message, command.operation, written=request.arguments)
    if error.code == "CAPSULE_TOO_THIN" and error.recovery and command.text in error.recovery["arguments"]:
        reason = "with the missing headers added; `allow_thin: true` stores it as it is"
        error.recovery = {**error.recovery, "reason": reason}
    about_the_file = error.code == "NOT_FOUND" or (error.details or {}).get("path") == "path"
    if about_the_file and command.operation.name.endswith("_import"):
        _add_import_hint(error, command, request.arguments["path"], config)


def _add_import_hint(error: MossError, command: Command, path: str, config: Config) -> None:
    folder, name = config.exports, os.path.basename(path)
    source = os.path.expanduser(path)
    if os.path.isfile(source) and name.endswith(".jsonl") and not os.path.lexists(os.path.join(folder, name)):
        copy = f"cp {shlex.quote(source)} {shlex.quote(folder)}/"
        if not os.path.isdir(folder):
            copy = f"mkdir -p -m 700 {shlex.quote(folder)} && {copy}"
        error.add_note(f"try: {copy} && moss {command.words} {shlex.quote(name)}  # imports are read from that folder")
    elif os.path.isdir(folder):
        error.add_note(f"try: ls {shlex.quote(folder)}  # a bare file name means one of these")
    else:
        error.add_note(f"moss: imports are read from {folder}, which `moss export` creates; copy the file there")
