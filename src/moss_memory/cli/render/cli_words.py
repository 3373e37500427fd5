"""Messages in the words of the command line: arguments as options, tools as commands.

The registry and errors mark arguments and tools with backticks, for programs and agents; this is the translation for
people in a terminal.
"""

from __future__ import annotations

import re

from moss_memory.cli.args.command_names import words_of
from moss_memory.cli.args.option import flag_of
from moss_memory.registry import catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.cli.args.command_declaration import BuiltIn
    from moss_memory.registry.operation import Operation

_MARK = re.compile(r"`(\w+)([.[][^`]*)?(?:: (?:\"?(\w+)\"?|\{([^`{}]*)\}))?`")
"""A name, its path inside, and its value: one word, or the members of an object."""
_TRUE = re.compile(r'"(\w+)": true')


def to_cli_words(text: str, operation: Operation | BuiltIn, *, written: dict[str, Any] | None = None) -> str:
    """Return the text with its marks in the words of the command line.

    `limit` becomes --limit, `mode: "replace"` becomes --mode replace, and `capsule_restore` becomes moss restore. A
    mark in the caller's own text (`written`) is unchanged, and so is one that names neither an argument nor a tool.
    """
    marked_parts = [part for part in _texts(written) if "`" in part]

    def replace(mark: re.Match[str]) -> str:
        name, suffix, value, members = mark.groups("")
        if any(mark[0] in part for part in marked_parts):
            return mark[0]
        if name in operation.parameters or name in operation.aliases:
            value = ",".join(_TRUE.findall(members)) or value
            return flag_of(name) + suffix + (f" {value}" if value not in ("", "true") else "")
        return f"moss {words_of(name)}" if "_" in name and catalog.find(name) else mark[0]

    return _MARK.sub(replace, text)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value at any depth, names of members included."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            pending += [*item, *item.values()] if isinstance(item, dict) else item
