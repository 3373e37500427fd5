"""A client connected to Moss, or let go: the change of its file, tried, made, and taken back."""

from __future__ import annotations

import os

from moss_memory.errors import MossError, invalid

from . import jsonc, toml
from .clients import CLIENTS, PROJECT, SERVER, USER
from .entry import Meaning, http_entry, merged, stdio_entry
from .settings_file import SettingsFile
from .unreadable import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from .clients import Client

PORT = 8314


class Place:
    """Where one client keeps its servers, in one scope, and what stands there of Moss."""

    def __init__(self, client: Client, scope: str) -> None:
        if scope not in client.scopes():
            raise invalid(f"{client.name} has no file for a project; leave `scope` out", path="scope")
        self.client = client
        self.scope = scope
        self.path = client.file(scope)
        self.form: ModuleType = toml if client.toml else jsonc
        self.keys = (client.under, SERVER)
        try:
            self.file = SettingsFile(self.path)
            self.entry = self.form.found(self.file.text, self.keys)
        except Unreadable as problem:
            raise self.unreadable(problem) from None

    def unreadable(self, problem: Unreadable) -> MossError:
        """The refusal of a file that is not what it should be."""
        return invalid(f"{self.path}, {problem}; the file is left alone, repair that line", line=problem.line)

    def meaning(self) -> Meaning | None:
        """What the entry for Moss says, if there is one."""
        return Meaning(self.client, self.entry) if isinstance(self.entry, dict) else None

    def with_entry(self, wanted: dict[str, Any]) -> str:
        """The text of the file with Moss in it; what its owner added to an entry that was there stays."""
        return self._put(self.file.text, merged(self.client, self.entry, wanted))

    def without_entry(self) -> str | None:
        """The text of the file without Moss: as it was before where nothing else changed since; none for no file."""
        if self.entry is None:
            return self.file.text
        before = self.file.before()
        if before is not None and self._is_before(before):
            return before
        if self.file.text == self._put("", self.entry):
            return None
        try:
            text: str = self.form.remove(self.file.text, self.keys)
        except Unreadable as problem:
            raise self.unreadable(problem) from None
        return text

    def _is_before(self, before: str) -> bool:
        """Whether the present file is that text with Moss put into it and nothing more."""
        try:
            if self.form.found(before, self.keys) is not None:
                return False
            return bool(self.form.put(before, self.keys, self.entry) == self.file.text)
        except Unreadable:
            return False

    def keeps_before(self) -> bool:
        """Whether what is kept beside the file is still the file without Moss, and so better than a newer copy."""
        before = self.file.before()
        return self.entry is not None and before is not None and self._is_before(before)

    def _put(self, text: str, entry: dict[str, Any]) -> str:
        try:
            changed: str = self.form.put(text, self.keys, entry)
        except Unreadable as problem:
            raise self.unreadable(problem) from None
        return changed


def client_of(key: str) -> Client:
    """The client of that name."""
    found = CLIENTS.get(key.lower().replace("_", "-").replace(" ", "-"))
    if found is None:
        raise invalid(f"there is no client {key[:60]!r}; known: {', '.join(CLIENTS)}", path="client")
    return found


def wanted_entry(
    place: Place,
    *,
    home: str | None,
    store_home: str,
    toolsets: Sequence[str] | None,
    url: str | None,
    http: bool,
    dry_run: bool,
) -> tuple[dict[str, Any], str]:
    """The entry that connects a client, and the token in it, if there is one; trying makes no token."""
    if not http:
        if url:
            raise invalid("`url` is where a server over HTTP is; give `http` too", path="url")
        return stdio_entry(place.client, place.scope, home=home, toolsets=toolsets), ""
    if toolsets:
        raise invalid("over HTTP the server's configuration says which tools are listed", path="toolsets")
    address = _checked_url(url)
    token = ""
    if place.scope != PROJECT:
        from ..http.token_file import token_of, token_path

        is_made = os.path.lexists(token_path(store_home))
        token = token_of(store_home) if is_made or not dry_run else "TOKEN"
    return http_entry(place.client, place.scope, url=address, token=token), token


def _checked_url(url: str | None) -> str:
    """The address of the endpoint; the token goes nowhere in the clear but to this machine."""
    from urllib.parse import urlsplit

    address = url or f"http://127.0.0.1:{PORT}"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        raise invalid(f"`url` must be such as http://127.0.0.1:{PORT}", path="url")
    if parts.scheme == "http" and not is_local(host):
        raise invalid("`url` leads to another machine, where the token must not go in the clear; use https", path="url")
    return address if parts.path not in ("", "/") else address.rstrip("/") + "/mcp"


def is_local(host: str | None) -> bool:
    """Whether an address never leaves this machine."""
    return host in ("localhost", "::1") or bool(host and host.startswith("127."))


def default_scope(client: Client, scope: str | None) -> str:
    """The scope that is meant where none is named: oneself, everywhere."""
    if scope is not None and scope not in (USER, PROJECT):
        raise invalid("`scope` must be user or project", path="scope")
    return scope or client.scopes()[0]
