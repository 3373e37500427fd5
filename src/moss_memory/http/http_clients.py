"""Commands that connect each client to a server over HTTP."""

from __future__ import annotations

import json
import shlex

_CLIENTS = (
    ("Claude Code", 'claude mcp add --transport http moss {url} --header "Authorization: Bearer $(cat {file})"'),
    ("Codex", "export MOSS_TOKEN=$(cat {file}); codex mcp add moss --url {url} --bearer-token-env-var MOSS_TOKEN"),
    ("Gemini CLI", 'gemini mcp add -s user -t http -H "Authorization: Bearer $(cat {file})" moss {url}'),
    ("VS Code", "code --add-mcp {vs_code}"),
    ("Cursor, in ~/.cursor/mcp.json", "{cursor}"),
)
_FILL_IN = "Bearer TOKEN"


def connect_commands(address: str, token_path: str) -> list[tuple[str, str]]:
    """Return each client with the command or settings that connect it; none contains the token itself."""
    url = f"{address}/mcp?toolsets=core"
    server = {"url": url, "headers": {"Authorization": _FILL_IN}}
    filled = {
        "url": shlex.quote(url),  # a shell would expand the question mark
        "file": shlex.quote(token_path),
        "vs_code": shlex.quote(json.dumps({"name": "moss", "type": "http", **server})),
        "cursor": json.dumps({"mcpServers": {"moss": server}}),
    }
    return [(client, line.format(**filled)) for client, line in _CLIENTS]
