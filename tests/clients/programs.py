"""The agents' own programs: connected as Moss prints it, they list it as connected."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from clients.node import environment, installed
from moss_memory.surfaces.http.clients import connections
from support.http_server import HttpServer

CLAUDE = ("@anthropic-ai/claude-code", "latest")
CODEX = ("@openai/codex", "latest")
GEMINI = ("@google/gemini-cli", "latest")


def claude_code(folder: Path) -> tuple[int, list[str]]:
    """`claude mcp add` as printed, then `claude mcp list` says that it is connected."""
    return _connected("Claude Code", CLAUDE, ["claude", "mcp", "list"], "Connected", folder)


def gemini(folder: Path) -> tuple[int, list[str]]:
    """`gemini mcp add` as printed, then `gemini mcp list` says that it is connected."""
    return _connected("Gemini CLI", GEMINI, ["gemini", "mcp", "list"], "Connected", folder)


def codex(folder: Path) -> tuple[int, list[str]]:
    """`codex mcp add` as printed, then its app server lists Moss's tools."""
    with HttpServer(folder / "home") as server:
        run = _shell(CODEX, folder)
        added = run(dict(connections(server.address, str(folder / "home" / "token")))["Codex"])
        if added.returncode:
            return 0, [(added.stderr or added.stdout)[-300:]]
        hello = {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "moss", "version": "1"}}}
        asked = {"id": 2, "method": "mcpServerStatus/list", "params": {}}
        said = "".join(f"{json.dumps(message)}\n" for message in (hello, {"method": "initialized"}, asked))
        # Its stdin stays open until it has answered: a closed one ends it.
        token = f"export MOSS_TOKEN={server.token}; "
        listed = run(f"{token} (cat; sleep 20) | timeout 25 codex app-server", said)
        return (1, []) if "capsule_store" in listed.stdout else (0, [(listed.stdout + listed.stderr)[-600:]])


def _connected(
    client: str, package: tuple[str, str], listing: list[str], word: str, folder: Path
) -> tuple[int, list[str]]:
    with HttpServer(folder / "home") as server:
        run = _shell(package, folder)
        added = run(dict(connections(server.address, str(folder / "home" / "token")))[client])
        listed = run(" ".join(listing))
        said = listed.stdout + listed.stderr
        if added.returncode == 0 and "moss" in said and word in said:
            return 1, []
        return 0, [(added.stderr + said)[-400:]]


def _shell(package: tuple[str, str], folder: Path, **more: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs lines as a person types them, in a home folder of their own, with a program on the path."""
    programs = installed(*package)
    while programs.name != "node_modules":
        programs = programs.parent
    base = environment(HOME=str(folder), GEMINI_CLI_TRUST_WORKSPACE="true", **more)
    variables = {**base, "PATH": f"{programs / '.bin'}{os.pathsep}{base['PATH']}"}

    def run(line: str, said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], input=said, capture_output=True, text=True, env=variables, cwd=folder, timeout=180
        )

    return run
