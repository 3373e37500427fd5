"""Optional hooks that a client runs at the start of a session and before compaction."""

from __future__ import annotations

import os
import shlex

from moss_memory.errors import invalid_request

from . import jsonc
from .clients import CLIENTS, PROJECT
from .config_edit import ConfigEdit
from .moss_command import moss_arguments, moss_for_clients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .clients import Client
    from .jsonc import Path

_KEY, _WITHIN = "hooks", "hooks"
_START, _COMPACTION = "start", "compaction"
_RUN = {_START: ["prime"], _COMPACTION: ["prime", "--before-compaction"]}
"""The command of each moment: open work for the model, a reminder for the model that writes the summary."""
_TIMEOUT_S = 10
"""A short timeout, so that a session does not begin late."""


class HookFormat:
    """The format of a client's hooks: the names of its events, and the shape of a hook in its file."""

    def __init__(
        self, start: str, compaction: str, *, timeout: int = _TIMEOUT_S, flat: bool = False, version: int = 0
    ) -> None:
        self.events = {_START: start, _COMPACTION: compaction}
        self.timeout = timeout
        """The timeout in the unit of the client."""
        self.flat = flat
        """True if an event is a list of hooks; False if it is a list of groups, each with a list of hooks."""
        self.version = version
        """The version of the format that the file must name; 0 if it names none."""


_FORMATS = {
    "claude-code": HookFormat("SessionStart", "PreCompact"),
    "codex": HookFormat("SessionStart", "PreCompact"),
    "gemini": HookFormat("SessionStart", "PreCompress", timeout=_TIMEOUT_S * 1000),
    "cursor": HookFormat("sessionStart", "preCompact", flat=True, version=1),
}


class Hooks(ConfigEdit):
    """The file with the hooks of a client in one scope, and the hooks of Moss in it."""

    def __init__(self, client: Client, scope: str) -> None:
        if scope not in client.hooks:
            names = ", ".join(key for key, candidate in CLIENTS.items() if candidate.hooks)
            raise invalid_request(
                f"{client.name} has no hooks that Moss could use; clients with hooks: {names}", path="hooks"
            )
        super().__init__(client, scope)
        self.format = _FORMATS[client.key]
        self.commands: dict[str, str] = self.convert_parse_errors(lambda: self.find_in(self.file.text)) or {}
        """The commands of Moss by event."""

    def find_path(self) -> str:
        return self.client.hooks_file(self.scope)

    @property
    def undo_key(self) -> str:
        """Return the key of the stored entry; a file that has servers and hooks has two."""
        return f"{self.file.real}#hooks" if self.shares_file else self.file.real

    @property
    def shares_file(self) -> bool:
        return self.client.file(self.scope) == self.path

    def with_hooks(self, home: str | None) -> str:
        commands = {self.format.events[moment]: self._line(words, home) for moment, words in _RUN.items()}
        return self.convert_parse_errors(lambda: self._put(self.file.text, commands))

    def _line(self, words: list[str], home: str | None) -> str:
        """Return the shell command of a hook; a project's file has no absolute paths of this machine."""
        if self.client.key != "claude-code":
            words = [*words, "--client", self.client.key]
        if self.scope == PROJECT:
            return shlex.join(["moss", *words])
        store_home = home or os.environ.get("MOSS_HOME")
        home_option = ["--home", os.path.abspath(os.path.expanduser(store_home))] if store_home else []
        return shlex.join([*moss_for_clients(), *words, *home_option])

    def find_in(self, text: str) -> Any:
        return {event: command for event, _, command in self._ours(text)} or None

    def write_into(self, text: str, value: Any) -> str:
        """Return a text with these hooks of Moss and no others."""
        value = value or {}  # None if the file has no hook of Moss
        base = text if set(self.find_in(text) or ()) <= set(value) else self.remove_from(text)
        return self._put(base, value)

    def content(self, text: str) -> Any:
        return jsonc.parse(text)

    def remove_from(self, text: str) -> str:
        """Return a text without hooks of Moss; remove groups that become empty."""
        for _, path, _ in self._ours(text):
            is_alone = not self.format.flat and len(jsonc.find_value(text, path[:-2])[_WITHIN]) == 1
            return self.remove_from(jsonc.remove_value(text, path[:-2] if is_alone else path))
        return text

    def _put(self, text: str, commands: dict[str, str]) -> str:
        """Return a text in which each event runs this command; replace another command of Moss."""
        if self.format.version and commands and jsonc.find_value(text, ("version",)) is None:
            text = jsonc.set_value(text, ("version",), self.format.version)
        for event, command in commands.items():
            entry = next((path for name, path, _ in self._ours(text) if name == event), None)
            if entry is not None:
                text = jsonc.set_value(text, (*entry, "command"), command)
                continue
            present = jsonc.find_value(text, (_KEY, event))
            hook: dict[str, Any] = {"type": "command", "command": command, "timeout": self.format.timeout}
            index = len(present) if isinstance(present, list) else 0
            text = jsonc.set_value(text, (_KEY, event, index), hook if self.format.flat else {_WITHIN: [hook]})
        return text

    def _ours(self, text: str) -> Iterator[tuple[str, Path, str]]:
        """Yield every hook of Moss in a text: its event, its path and its command."""
        for event in self.format.events.values():
            for index, entry in enumerate(_list(jsonc.find_value(text, (_KEY, event)))):
                entry_path: Path = (_KEY, event, index)
                inner = entry.get(_WITHIN) if isinstance(entry, dict) else None
                hooks = (
                    [(entry_path, entry)]
                    if self.format.flat
                    else [((*entry_path, _WITHIN, n), h) for n, h in enumerate(_list(inner))]
                )
                for path, hook in hooks:
                    command = hook.get("command") if isinstance(hook, dict) else None
                    if isinstance(command, str) and _is_moss(command):
                        yield event, path, command


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_moss(command: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return (moss_arguments(words) or [""])[0] == "prime"
