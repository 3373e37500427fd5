"""Adds, previews or removes the entry of Moss in a client's configuration file."""

from __future__ import annotations

import os

from moss_memory.errors import invalid_request

from . import jsonc, toml_edit
from .clients import CLIENTS, PROJECT, SERVER, USER
from .config_edit import ConfigEdit
from .server_entry import ServerEntry, choose_toolsets, http_entry, merge_entries, own_members, stdio_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from .clients import Client

PORT = 8314


class ConfigLocation(ConfigEdit):
    """The configuration file of a client in one scope, and its entry for Moss."""

    def __init__(self, client: Client, scope: str) -> None:
        if scope not in client.scopes():
            raise invalid_request(f"{client.name} has no file for a project; leave `scope` out", path="scope")
        super().__init__(client, scope)
        self.form: ModuleType = toml_edit if client.toml else jsonc
        self.keys = (client.under, SERVER)
        self.entry = self.convert_parse_errors(lambda: self.form.find_value(self.file.text, self.keys))

    def find_path(self) -> str:
        return self.client.file(self.scope)

    def server_entry(self) -> ServerEntry | None:
        return ServerEntry(self.client, self.entry) if isinstance(self.entry, dict) else None

    def with_entry(self, wanted: dict[str, Any]) -> str:
        """Return the text of the file with the entry for Moss and the members that the owner added to an old entry."""
        entry = merge_entries(self.client, self.entry, wanted)
        return self.convert_parse_errors(lambda: str(self.form.set_value(self.file.text, self.keys, entry)))

    def find_in(self, text: str) -> Any:
        return self.form.find_value(text, self.keys)

    def write_into(self, text: str, value: Any) -> str:
        return str(self.form.set_value(text, self.keys, value))

    def own_part(self, value: Any) -> Any:
        return own_members(self.client, value)

    def find_span(self, text: str) -> tuple[int, int] | None:
        span: tuple[int, int] | None = self.form.find_span(text, self.keys)
        return span

    def content(self, text: str) -> Any:
        return self.form.parse(text)

    def remove_from(self, text: str) -> str:
        return str(self.form.remove_value(text, self.keys))


def find_client(key: str) -> Client:
    client = CLIENTS.get(key.lower().replace("_", "-").replace(" ", "-"))
    if client is None:
        raise invalid_request(f"there is no client {key[:60]!r}; known: {', '.join(CLIENTS)}", path="client")
    return client


def make_entry(
    location: ConfigLocation,
    *,
    home: str | None,
    store_home: str,
    toolsets: Sequence[str] | None,
    url: str | None,
    http: bool,
    dry_run: bool,
) -> tuple[dict[str, Any], str]:
    """Return the entry that connects a client, and its token, empty if it has none; a dry run creates no token."""
    if not http:
        if url:
            raise invalid_request("`url` is the address of a server over HTTP; give `http` too", path="url")
        return stdio_entry(location.client, location.scope, home=home, toolsets=toolsets, old=location.entry), ""
    address = _check_url(url)
    if chosen := choose_toolsets(location.client, toolsets, http=True):
        address += f"?toolsets={','.join(chosen)}"
    token = ""
    if location.scope != PROJECT:
        from moss_memory.http.token_file import load_token, token_path

        exists = os.path.lexists(token_path(store_home))
        token = load_token(store_home) if exists or not dry_run else "TOKEN"
    return http_entry(location.client, location.scope, url=address, token=token), token


def _check_url(url: str | None) -> str:
    """Return the URL of the endpoint; refuse plain HTTP to another machine, which would expose the token."""
    from urllib.parse import urlsplit

    address = url or f"http://127.0.0.1:{PORT}"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        raise invalid_request(f"`url` must be such as http://127.0.0.1:{PORT}", path="url")
    if parts.scheme == "http" and not is_loopback(host):
        raise invalid_request(
            "`url` leads to another machine, which would receive the token unencrypted; use https", path="url"
        )
    return address if parts.path not in ("", "/") else address.rstrip("/") + "/mcp"


def is_loopback(host: str | None) -> bool:
    """Return True if a host is a loopback address; `127.0.0.1.example.com` is not."""
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


def choose_scope(client: Client, scope: str | None) -> str:
    if scope is not None and scope not in (USER, PROJECT):
        raise invalid_request("`scope` must be user or project", path="scope")
    return scope or client.scopes()[0]
