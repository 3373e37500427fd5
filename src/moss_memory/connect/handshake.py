"""Checks a server by an MCP handshake and counts its tools."""

from __future__ import annotations

import json
import os

from .clients import PROJECT
from .config_location import is_loopback
from .moss_command import moss_arguments, starts_this_moss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .server_entry import ServerEntry

TIMEOUT_S = 20.0
_MAX_BYTES = 1 << 20
_KNOWN_VARIABLES = ("MOSS_HOME", "MOSS_WORKSPACE")
"""Variables that a project's file may set for the server."""
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "moss-connect", "version": "1"}}


class HandshakeError(Exception):
    """The server did not answer the handshake; the message has the reason."""


def check_server(entry: ServerEntry, scope: str) -> tuple[str, int]:
    """Start or call the server as the client would; return its name with version and its number of tools."""
    if entry.url:
        _require_safe_address(entry, scope)
        return _over_http(entry)
    if not entry.words:
        raise HandshakeError("the entry names neither a command nor an address")
    if scope == PROJECT:
        _require_safe_start(entry)
    return _over_stdio(entry)


def _require_safe_start(entry: ServerEntry) -> None:
    """Refuse an entry of a project's file that starts another program: another person may have written the file."""
    if not starts_this_moss(entry.words):
        raise HandshakeError(f"not tried: the project's file starts {entry.words[0]!r}, which is not this Moss")
    if (moss_arguments(entry.words) or [])[:1] != ["mcp"]:
        raise HandshakeError(
            f"not tried: the project's file runs {' '.join(entry.words)[:200]!r}, which is not `moss mcp`"
        )
    other_name = next((name for name in entry.environment if name not in _KNOWN_VARIABLES), None)
    if other_name is not None:
        raise HandshakeError(f"not tried: the project's file sets {other_name[:60]!r}, which may start another program")


def _require_safe_address(entry: ServerEntry, scope: str) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(entry.url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise HandshakeError(f"the entry's address is not valid: {entry.url[:200]}") from None
    if scope == PROJECT and not is_loopback(host):
        raise HandshakeError("not tried: the project's file names another machine, and the token would go there")


def _server_of(hello: Any, listed: Any) -> tuple[str, int]:
    try:
        server = hello["result"]["serverInfo"]
        return f"{server['name']} {server['version']}", len(listed["result"]["tools"])
    except (KeyError, TypeError):
        raise HandshakeError("its answer to the handshake is not valid") from None


def _request(number: int, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def _over_stdio(entry: ServerEntry) -> tuple[str, int]:
    import subprocess

    lines = [
        _request(1, "initialize", _HELLO),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _request(2, "tools/list", {}),
    ]
    messages = "".join([json.dumps(line) + "\n" for line in lines])
    try:
        result = subprocess.run(
            entry.words,
            input=messages,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, **entry.environment},
        )
    except OSError as error:
        raise HandshakeError(f"{entry.words[0]} cannot be started ({error.strerror})") from None
    except subprocess.TimeoutExpired:
        raise HandshakeError(f"no answer within {TIMEOUT_S:.0f} seconds") from None
    except ValueError:
        raise HandshakeError("its answer is not text") from None
    answers = {}
    for line in result.stdout.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            raise HandshakeError(f"its answer is not MCP: {line[:60]!r}") from None
        if isinstance(message, dict):
            answers[message.get("id")] = message
    if 1 not in answers:
        errors = result.stderr.strip().splitlines()
        raise HandshakeError(f"it ended without an answer{': ' + errors[-1][:200] if errors else ''}")
    return _server_of(answers.get(1), answers.get(2))


def _over_http(entry: ServerEntry) -> tuple[str, int]:
    session: dict[str, str] = {}
    hello = _post(entry, _request(1, "initialize", _HELLO), session)
    _post(entry, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    return _server_of(hello, _post(entry, _request(2, "tools/list", {}), session))


def _post(entry: ServerEntry, message: dict[str, Any], session: dict[str, str]) -> Any:
    """Return the response to one message; store the session id of the server."""
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(entry.url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, json.dumps(message), {**headers, **entry.headers, **session})
        response = connection.getresponse()
        body = response.read(_MAX_BYTES).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise HandshakeError(f"nothing answers at {entry.url} ({error}); start `moss serve`") from None
    finally:
        connection.close()
    if response.status in (401, 403):
        raise HandshakeError(f"the server refuses the token ({response.status}); connect again")
    if response.status not in (200, 202):
        raise HandshakeError(f"the server answers {response.status}")
    if response.getheader("Mcp-Session-Id"):
        session["Mcp-Session-Id"] = str(response.getheader("Mcp-Session-Id"))
        session["MCP-Protocol-Version"] = str(_HELLO["protocolVersion"])
    return _message_in(body) if response.status == 200 else None


def _message_in(body: str) -> Any:
    data = [line.removeprefix("data:").strip() for line in body.splitlines() if line.startswith("data:")]
    try:
        return json.loads(next((part for part in data if '"id"' in part), "null") if data else body)
    except ValueError:
        raise HandshakeError("its answer is not MCP") from None
