"""An error's best next call as a line that can be typed."""

from __future__ import annotations

import json
import shlex

from moss_memory import catalog

from .command import TEXT, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def recovery_line(recovery: dict[str, Any]) -> str:
    """`try: moss list --workspace shop  # lists the capsules of this workspace`."""
    tool, arguments = recovery["tool"], recovery.get("arguments") or {}
    operation = catalog.find(tool)
    line = f"try: {typed(tool, arguments)}"
    if operation is not None and any(name in TEXT and name not in arguments for name in operation.required):
        line += " < FILE"
    reason = recovery.get("reason")
    return f"{line}  # {reason}" if reason else line


def typed(tool: str, arguments: dict[str, Any]) -> str:
    """A call as a person would type it."""
    parts = ["moss", words_of(tool)]
    for name, value in arguments.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            parts.append(flag if value else "--no-" + flag[2:])
        elif isinstance(value, list) and all(isinstance(part, str) and "," not in part for part in value):
            parts += [flag, shlex.quote(",".join(value))]
        elif isinstance(value, (list, dict)):
            parts += [flag, shlex.quote(json.dumps(value, ensure_ascii=False))]
        else:
            parts += [flag, shlex.quote(str(value))]
    return " ".join(parts)
