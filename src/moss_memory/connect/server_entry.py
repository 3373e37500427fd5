"""Server entries in clients' files: written and parsed."""

from __future__ import annotations

import os

from moss_memory.config import resolve_home
from moss_memory.errors import invalid_request

from .clients import PROJECT, VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .clients import Client

_OWN = {
    "type", "command", "args", "url", "httpUrl", "serverUrl", "headers", "http_headers", "bearer_token_env_var"
}  # fmt: skip
"""Members that Moss writes; all others belong to the owner and are preserved."""
_HOME = "MOSS_HOME"


def stdio_entry(
    client: Client, scope: str, *, home: str | None, toolsets: Sequence[str] | None, old: Any = None
) -> dict[str, Any]:
    """Return the entry of a client that starts Moss itself; `old` is the present one."""
    from .moss_command import moss_for_clients

    chosen = choose_toolsets(client, toolsets, http=False)
    moss = moss_for_clients() if scope != PROJECT else _shared_command(client, old)
    words = [*moss, "mcp", *(["--toolsets", ",".join(chosen)] if chosen else [])]
    if client.stdio.get("type") == "local":
        started: dict[str, Any] = {"command": words}
    else:
        started = {"command": words[0], "args": words[1:]}
    entry = {**client.stdio, **started}
    store_home = home or (os.environ.get(_HOME) if scope != PROJECT else None)
    if store_home:  # a client started from a desktop has another environment than this shell
        entry[environment_of(client)] = {_HOME: os.path.abspath(os.path.expanduser(store_home))}
    return entry


def _shared_command(client: Client, old_entry: Any) -> list[str]:
    """Return the command in a project's file: the name of Moss, or its owner's path if that is executable here."""
    from .moss_command import is_program

    words = ServerEntry(client, old_entry).words if isinstance(old_entry, dict) else []
    return words[:1] if words and os.path.basename(words[0]) == "moss" and is_program(words[0]) else ["moss"]


def choose_toolsets(client: Client, toolsets: Sequence[str] | None, *, http: bool) -> tuple[str, ...]:
    """Return the toolsets that a client lists, its own if none are named; refuse an unknown name."""
    from moss_memory.mcp.tool_list import unknown_toolsets
    from moss_memory.registry.catalog import TOOLSETS

    if unknown := unknown_toolsets(toolsets or ()):
        raise invalid_request(f"there is no toolset {unknown[0][:60]!r}; known: {', '.join(TOOLSETS)}", path="toolsets")
    return client.default_toolsets(http=http) if toolsets is None else tuple(toolsets)


def http_entry(client: Client, scope: str, *, url: str, token: str) -> dict[str, Any]:
    """Return the entry of a client that connects to `moss serve`; a project's file names a variable instead of the
    token."""
    if client.http is None:
        raise invalid_request(
            f"{client.name} reads no server over HTTP from its file; connect it without `http`", path="http"
        )
    if scope != PROJECT:
        return {key: _fill(value, url=url, token=token) for key, value in client.http.items()}
    if not client.variable:
        raise invalid_request(
            f"{client.name} takes no token from the environment, and a project's file must not contain one; connect it "
            "for yourself with `scope` user, or without `http`",
            path="scope",
        )
    if client.toml:
        return {"url": url, "bearer_token_env_var": client.variable}
    return {key: _fill(value, url=url, token=client.variable) for key, value in client.http.items()}


def _fill(value: Any, **filled: str) -> Any:
    if isinstance(value, dict):
        return {key: _fill(part, **filled) for key, part in value.items()}
    for name, text in filled.items():
        value = value.replace("{" + name + "}", text)
    return value


def own_members(client: Client, entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    variables = entry.get(environment_of(client))
    home = variables.get(_HOME) if isinstance(variables, dict) else None
    return {key: value for key, value in entry.items() if key in _OWN}, home


def merge_entries(client: Client, old: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the wanted entry with the members and variables that its owner added to the old one."""
    if not isinstance(old, dict):
        return wanted
    key_of_variables = environment_of(client)
    added = {key: value for key, value in old.items() if key not in _OWN and key != key_of_variables}
    variables: Any = old.get(key_of_variables)
    variables = variables if isinstance(variables, dict) else {}
    environment = {key: value for key, value in variables.items() if key != _HOME} | wanted.get(key_of_variables, {})
    entry = {key: value for key, value in wanted.items() if key != key_of_variables} | added
    return entry | ({key_of_variables: environment} if environment else {})


def environment_of(client: Client) -> str:
    return "environment" if client.stdio.get("type") == "local" else "env"


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(part) for key, part in value.items()} if isinstance(value, dict) else {}


class ServerEntry:
    """A parsed entry: a command to start, or a URL."""

    def __init__(self, client: Client, entry: dict[str, Any]) -> None:
        command = entry.get("command")
        arguments = entry.get("args")
        words = command if isinstance(command, list) else [command, *(arguments if isinstance(arguments, list) else [])]
        self.words: list[str] = [str(word) for word in words] if command else []
        self.environment = _texts(entry.get(environment_of(client)))
        self.url = str(entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl") or "")
        self.headers = _texts(entry.get("headers") or entry.get("http_headers"))
        if "bearer_token_env_var" in entry:
            self.headers = {"Authorization": f"Bearer {client.variable}"}
        if client.variable:
            token = os.environ.get(VARIABLE, "")
            self.headers = {key: value.replace(client.variable, token) for key, value in self.headers.items()}

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"

    @property
    def home(self) -> str:
        """Return the folder of the store that a started server opens, links resolved; Moss's own if none is named."""
        folder = self.environment.get(_HOME, "")
        for option, word in zip(self.words, [*self.words[1:], ""], strict=True):
            if option == "--home":
                folder = word
            elif option.startswith("--home="):
                folder = option.removeprefix("--home=")
        return resolve_home(folder or os.path.join("~", ".moss"))
