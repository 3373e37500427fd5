"""Optional hooks that a client runs at the start of a session and before compaction."""

from __future__ import annotations

import os
import shlex

from moss_memory.errors import invalid_request

from . import jsonc
from .clients import CLIENTS, PROJECT
from .config_edit import ConfigEdit
from .moss_command import after_moss, moss_for_clients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .clients import Client
    from .jsonc import Path

_KEY, _WITHIN = "hooks", "hooks"
_RUN = {"SessionStart": ["prime"], "PreCompact": ["prime", "--before-compaction"]}
"""The command of each event: open work for the model, a reminder for the model that writes the summary."""
_TIMEOUT_S = 10
"""A short timeout, so that a session does not begin late."""


class Hooks(ConfigEdit):
    """The hooks of a client in one scope, and those of Moss among them."""

    def __init__(self, client: Client, scope: str) -> None:
        if scope not in client.hooks:
            known = ", ".join(key for key, one in CLIENTS.items() if one.hooks)
            raise invalid_request(
                f"{client.name} has no hooks that Moss could use; clients with hooks: {known}", path="hooks"
            )
        super().__init__(client.hooks_file(scope))
        self.client = client
        self.scope = scope
        self.commands: dict[str, str] = self.convert_parse_errors(lambda: self.find_in(self.file.text)) or {}
        """The commands of Moss by event."""

    def with_hooks(self, home: str | None) -> str:
        """Return the text of the file with both hooks."""
        wanted = {event: self._line(words, home) for event, words in _RUN.items()}
        return self.convert_parse_errors(lambda: _put(self.file.text, wanted))

    def _line(self, words: list[str], home: str | None) -> str:
        """Return the shell command of a hook; a project's file has no absolute paths of this machine."""
        if self.scope == PROJECT:
            return shlex.join(["moss", *words])
        named = home or os.environ.get("MOSS_HOME")
        place = ["--home", os.path.abspath(os.path.expanduser(named))] if named else []
        return shlex.join([*moss_for_clients(), *words, *place])

    def find_in(self, text: str) -> Any:
        """Return the commands of Moss in a text, by event."""
        return {event: command for event, _, command in _ours(text)} or None

    def write_into(self, text: str, value: Any) -> str:
        """Return a text with these hooks of Moss and no others."""
        base = text if set(self.find_in(text) or ()) <= set(value) else self.remove_from(text)
        return _put(base, value)

    def content(self, text: str) -> Any:
        """Return the parsed content of a text."""
        return jsonc.read(text)

    def remove_from(self, text: str) -> str:
        """Return a text without hooks of Moss; remove groups that become empty."""
        for _, place, _ in _ours(text):
            group = jsonc.find(text, place[:-2])
            return self.remove_from(jsonc.remove(text, place[:-2] if len(group[_WITHIN]) == 1 else place))
        return text


def _put(text: str, wanted: dict[str, str]) -> str:
    """Return a text in which each event runs this command; replace another command of Moss."""
    for event, command in wanted.items():
        place = next((path for name, path, _ in _ours(text) if name == event), None)
        if place is not None:
            text = jsonc.put(text, (*place, "command"), command)
            continue
        groups = jsonc.find(text, (_KEY, event))
        group = {_WITHIN: [{"type": "command", "command": command, "timeout": _TIMEOUT_S}]}
        text = jsonc.put(text, (_KEY, event, len(groups) if isinstance(groups, list) else 0), group)
    return text


def _ours(text: str) -> Iterator[tuple[str, Path, str]]:
    """Yield every hook of Moss in a text: its event, its path and its command."""
    for event in _RUN:
        for place, group in enumerate(_list(jsonc.find(text, (_KEY, event)))):
            for inner, hook in enumerate(_list(group.get(_WITHIN) if isinstance(group, dict) else None)):
                command = hook.get("command") if isinstance(hook, dict) else None
                if isinstance(command, str) and _is_moss(command):
                    yield event, (_KEY, event, place, _WITHIN, inner), command


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_moss(command: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return (after_moss(words) or [""])[0] == "prime"
