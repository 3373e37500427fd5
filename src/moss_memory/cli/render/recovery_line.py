"""The proposed next call of an error as a command line."""

from __future__ import annotations

import json
import shlex

from moss_memory.cli.args.argument_names import TEXT
from moss_memory.cli.args.command_names import words_of
from moss_memory.registry import catalog

from .cli_words import to_cli_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TYPED_CHARS = 100
"""Maximal length of a text on the command line; a longer one is read from a file."""


def recovery_line(recovery: dict[str, Any]) -> str:
    """Return a line such as `try: moss list --workspace shop  # lists the capsules of this workspace`."""
    tool, all_arguments = recovery["tool"], recovery.get("arguments") or {}
    arguments = {name: value for name, value in all_arguments.items() if not (name in TEXT and _is_long(value))}
    operation = catalog.find(tool)
    line = f"try: {command_line(tool, arguments)}"
    required = () if operation is None else operation.required
    if len(arguments) < len(all_arguments) or any(name in TEXT and name not in all_arguments for name in required):
        line += " < FILE"
    reason = reason_of(recovery)
    return f"{line}  # {reason}" if reason else line


def reason_of(call: dict[str, Any]) -> str:
    """Return the reason of a proposed call in the words of the command line."""
    reason, operation = call.get("reason") or "", catalog.find(call["tool"])
    return to_cli_words(reason, operation) if reason and operation is not None else reason


def _is_long(value: object) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "\n" in text or len(text) > _TYPED_CHARS


def _is_plain(value: object) -> bool:
    """Return True if words with commas express the value: strings without commas, or flags that are all true."""
    if isinstance(value, dict):
        return bool(value) and all(part is True for part in value.values())
    return isinstance(value, list) and all(isinstance(part, str) and "," not in part for part in value)


def command_line(tool: str, arguments: dict[str, Any]) -> str:
    parts = ["moss", words_of(tool)]
    for name, value in arguments.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            parts.append(flag if value else "--no-" + flag[2:])
        elif _is_plain(value):
            parts += [flag, shlex.quote(",".join(value))]
        elif isinstance(value, (list, dict)):
            parts += [flag, shlex.quote(json.dumps(value, ensure_ascii=False))]
        else:
            parts += [flag, shlex.quote(str(value))]
    return " ".join(parts)
