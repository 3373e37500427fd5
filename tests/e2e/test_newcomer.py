"""Adding the tool of CONTRIBUTING.md to one file adds its command, table, schema and reference."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.timeouts import TIMEOUT_S

ROOT = Path(__file__).resolve().parents[2]
MODULE = "src/moss_memory/tools/capsule/capsule_lists.py"
RUFF = os.path.join(os.path.dirname(sys.executable), "ruff")
CAPTURED: dict[str, Any] = {"capture_output": True, "text": True, "timeout": TIMEOUT_S}
CAPSULE = ["store", "--allow-thin", "--capsule-text", "x", "-w", "shop"]


class Checkout:
    """A copy of the sources with one changed file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._home = folder / "home"
        caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src", folder / "src", ignore=caches)
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=caches)

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a module of the copy, as `python -m` does."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "MOSS_HOME": str(self._home)}
        return subprocess.run(
            [sys.executable, "-m", *words],
            input=stdin,
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    def moss(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command of the copy."""
        return self.run("moss_memory", *words, stdin=stdin)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a copy with the tool, its generated files, and three capsules in its store."""
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    imports, tool = (block.split("```")[0] for block in page.split("```python\n")[1:3])
    path = made.folder / MODULE
    docstring, first, rest = path.read_text(encoding="utf-8").partition("from __future__ import annotations\n")
    path.write_text(f"{docstring}{first}\n{imports}{rest}\n\n{tool}", encoding="utf-8")
    for module in ("moss_memory.mcp.tool_list", "moss_memory.registry.write_tool_index", "docs.generate"):
        done = made.run(module)
        assert done.returncode == 0, done.stderr
    for tags in ("auth,jwt", "auth", "db"):
        done = made.moss(*CAPSULE, "--tags", tags)
        assert done.returncode == 0, done.stderr
    return made


def test_the_command_runs(checkout: Checkout) -> None:
    answer = json.loads(checkout.moss("tags", "-w", "shop", "--limit", "2").stdout)
    assert answer == {"tags": [{"tag": "auth", "capsules": 2}, {"tag": "db", "capsules": 1}]}
    assert "most used first" in checkout.moss("tags", "--help").stdout


def test_it_declares_words_and_passes_lint(checkout: Checkout) -> None:
    show = "from moss_memory.registry import catalog; print(catalog.find('capsule_tags').words)"
    words = subprocess.run(
        [sys.executable, "-c", show], env={**os.environ, "PYTHONPATH": "src"}, cwd=checkout.folder, **CAPTURED
    )
    assert len(words.stdout.split()) > 3, words.stderr
    config = ("--config", str(ROOT / "pyproject.toml"), "--no-cache")
    for command in (("check", "--fix", "--select", "I"), ("check",), ("format", "--check")):
        done = subprocess.run([RUFF, *command, *config, MODULE], cwd=checkout.folder, **CAPTURED)
        assert done.returncode == 0, done.stdout


def test_its_table_has_the_declared_columns(checkout: Checkout) -> None:
    header, first, *_ = checkout.moss("tags", "-w", "shop", "--table").stdout.splitlines()
    assert header.split() == ["tag", "capsules"]
    assert first.split() == ["auth", "2"]
    assert first.index("2") == len(header) - 1, "a number stands to the right"
    assert checkout.moss("tags", "-w", "nowhere", "--table").stdout == "(nothing)\n"


@pytest.mark.parametrize(
    ("arguments", "path"),
    [({"limit": "two"}, "limit"), ({"workspaces": "shop"}, "workspaces"), ({"limit": 0}, "limit")],
)
def test_a_wrong_argument_is_refused_by_its_path(checkout: Checkout, arguments: dict[str, Any], path: str) -> None:
    result = _answers(checkout, _request("tools/call", {"name": "capsule_tags", "arguments": arguments}))["result"]
    error = result["structuredContent"]["error"]
    assert result["isError"]
    assert (error["code"], error["details"]["path"]) == ("INVALID_REQUEST", path)


def test_its_schema_is_in_the_list(checkout: Checkout) -> None:
    listed = {tool["name"]: tool for tool in _answers(checkout, _request("tools/list", {}))["result"]["tools"]}
    tool = listed["capsule_tags"]
    assert list(tool["inputSchema"]["properties"]) == ["workspace", "limit"]
    assert tool["annotations"]["readOnlyHint"]


def test_its_reference_describes_arguments_and_answer(checkout: Checkout) -> None:
    page = (checkout.folder / "docs/reference/capsules.md").read_text(encoding="utf-8")
    section = page.split("## capsule_tags\n")[1].split("\n## ")[0]
    assert "Count the tags of a workspace's capsules" in section
    assert "| `limit` | integer | 20 | most rows |" in section
    assert "| `tags` | list of [UsedTag](#usedtag) | the tags, most used first |" in section
    assert "moss tags --workspace shop" in section
    assert "### UsedTag\n" in page


def _request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}


def _answers(checkout: Checkout, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of the copy's server to one request."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    done = checkout.moss("mcp", stdin="".join(json.dumps(message) + "\n" for message in (hello, ready, request)))
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    found: dict[str, Any] = answers[2]
    return found
