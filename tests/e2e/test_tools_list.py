"""What a client pays for the list of tools, as the server sends it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.agent import MOSS
from moss_memory.registry import catalog
from support.patience import TIMEOUT_S

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
MESSAGES: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def _listed(home: Path, *options: str) -> list[dict[str, Any]]:
    """The tools with which the server answers `tools/list`."""
    done = subprocess.run(
        [MOSS, "mcp", *options],
        input="".join(json.dumps(message) + "\n" for message in MESSAGES),
        env={**os.environ, "MOSS_HOME": str(home)},
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    tools: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    return tools


@pytest.mark.parametrize(("options", "most_chars"), [((), 65_000), (("--toolsets", "core"), 10_500)])
def test_what_a_model_sees_is_within_its_limit(tmp_path: Path, options: tuple[str, ...], most_chars: int) -> None:
    tools = _listed(tmp_path / "home", *options)
    assert tools
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert len(json.dumps(seen, ensure_ascii=False, separators=(",", ":"))) <= most_chars


def test_everything_is_listed_unless_told_otherwise(tmp_path: Path) -> None:
    names = [tool["name"] for tool in _listed(tmp_path / "home")]
    assert names == [operation.name for operation in catalog.operations()]


def test_the_core_is_few_tools_that_lead_to_all_others(tmp_path: Path) -> None:
    names = [tool["name"] for tool in _listed(tmp_path / "home", "--toolsets", "core")]
    assert len(names) <= 18
    assert {"moss_tools", "moss_call"} <= set(names)
    assert {catalog.toolset_of(name) for name in names} == {"", "capsule", "reasoning", "task"}
