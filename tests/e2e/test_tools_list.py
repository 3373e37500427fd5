"""The size of the list of tools that a client receives."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.agent import MOSS
from moss_memory.registry import catalog
from support.timeouts import TIMEOUT_S

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
MESSAGES: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def _listed(home: Path, *options: str) -> list[dict[str, Any]]:
    """Return the tools in the server's answer to `tools/list`."""
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
def test_the_list_of_tools_is_within_its_size_limit(tmp_path: Path, options: tuple[str, ...], most_chars: int) -> None:
    tools = _listed(tmp_path / "home", *options)
    assert tools
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert len(json.dumps(seen, ensure_ascii=False, separators=(",", ":"))) <= most_chars


def test_every_tool_is_listed_by_default(tmp_path: Path) -> None:
    names = [tool["name"] for tool in _listed(tmp_path / "home")]
    assert names == [operation.name for operation in catalog.operations()]


def test_the_core_is_a_few_tools_that_lead_to_all_others(tmp_path: Path) -> None:
    names = [tool["name"] for tool in _listed(tmp_path / "home", "--toolsets", "core")]
    assert len(names) <= 18
    assert {"moss_tools", "moss_call"} <= set(names)
    assert {catalog.toolset_of(name) for name in names} == {"", "capsule", "reasoning", "task"}


def test_the_core_is_the_documented_one(tmp_path: Path) -> None:
    names = [tool["name"] for tool in _listed(tmp_path / "home", "--toolsets", "core")]
    assert sorted(names) == sorted(
        """
        capsule_store capsule_fetch capsule_latest capsule_append capsule_inventory branchmind_notes_commit
        branchmind_think_card branchmind_think_set_status branchmind_context_pack tasks_create tasks_radar tasks_claim
        tasks_done tasks_handoff moss_search moss_workspaces moss_tools moss_call
        """.split()  # noqa: SIM905
    )


def test_clients_that_load_tools_on_demand_get_their_hints(tmp_path: Path) -> None:
    for tool in _listed(tmp_path / "home"):
        meta = tool["_meta"]
        if tool["name"] in catalog.CORE:
            assert meta == {"anthropic/alwaysLoad": True}
        else:
            assert set(meta) == {"anthropic/searchHint"}
            assert 10 <= len(meta["anthropic/searchHint"]) <= 200
