"""The command line of the MCP Inspector with both transports and both protocol generations."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from clients.node import environment, installed, node
from contract.doors import FULL
from support.http_server import HttpServer

PACKAGE, VERSION = "@modelcontextprotocol/inspector", "2.12.0"
ERAS = ("legacy", "modern")


def run(transport: str, folder: Path) -> tuple[int, list[str]]:
    """Return the number of requests with the expected answer, and the failures."""
    home = folder / "home"
    if transport == "stdio":
        moss = str(Path(sys.executable).parent / "moss")
        return _both_eras([moss, "mcp", "--home", str(home)], folder)
    with HttpServer(home) as server:
        target = [f"{server.address}/mcp", "--header", f"Authorization: Bearer {server.token}"]
        return _both_eras(target, folder)


def _both_eras(target: list[str], folder: Path) -> tuple[int, list[str]]:
    passed, failed = 0, []
    for era in ERAS:
        for what, asked, holds in _requests(era):
            said = _asked(target, era, asked, folder)
            if holds(said):
                passed += 1
            else:
                failed.append(f"{era}: {what}: {json.dumps(said)[:300]}")
    return passed, failed


def _requests(era: str) -> list[tuple[str, list[str], Any]]:
    """Return the requests, each with the condition that its answer must meet."""
    stored = json.dumps({"name": era, "capsule_text": FULL, "mode": "replace"})
    fetched = json.dumps({"name": era})
    return [
        ("tools", ["--method", "tools/list"], lambda said: len(said["tools"]) > 50),
        (
            "store",
            ["--method", "tools/call", "--tool-name", "capsule_store", "--tool-args-json", stored],
            lambda said: said["structuredContent"]["fetch_key"]["moss_capsule"] == era,
        ),
        (
            "fetch",
            ["--method", "tools/call", "--tool-name", "capsule_fetch", "--tool-args-json", fetched],
            lambda said: said["structuredContent"]["capsule_text"] == FULL,
        ),
        ("prompts", ["--method", "prompts/list"], lambda said: len(said["prompts"]) == 4),
        (
            "prompt",
            ["--method", "prompts/get", "--prompt-name", "load", "--prompt-args", f"name={era}"],
            lambda said: len(said["messages"]) == 2,
        ),
        ("resources", ["--method", "resources/list"], lambda said: bool(said["resources"])),
        (
            "resource",
            ["--method", "resources/read", "--uri", f"moss://capsule/default/{era}"],
            lambda said: said["contents"][0]["text"] == FULL,
        ),
        ("templates", ["--method", "resources/templates/list"], lambda said: len(said["resourceTemplates"]) == 5),
    ]


def _asked(target: list[str], era: str, asked: list[str], folder: Path) -> Any:
    launcher = installed(PACKAGE, VERSION) / "clients" / "launcher" / "build" / "index.js"
    output = folder / "answer.json"
    output.unlink(missing_ok=True)
    command = [node(), str(launcher), "--cli", *target, "--protocol-era", era, "-q", "--output", str(output), *asked]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment(HOME=str(folder)),
        cwd=folder,
        timeout=120,
    )
    if not output.exists():
        return {"tools": [], "prompts": [], "resources": [], "contents": [{"text": ""}], "messages": [],
                "resourceTemplates": [], "structuredContent": {"fetch_key": {"moss_capsule": ""}, "capsule_text": ""},
                "failed": (done.stderr or done.stdout)[-500:]}  # fmt: skip
    return json.loads(output.read_text(encoding="utf-8"))
