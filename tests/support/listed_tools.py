"""List the tools of a server that is started as a client starts it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any


def listed_tools(command: list[str], home: Path, **environment: str) -> set[str]:
    """Return the tools that a server lists over stdio."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        command,
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "MOSS_HOME": str(home / "moss"), **environment},
        timeout=300,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    return {tool["name"] for tool in answers[2]["result"]["tools"]}
