"""The agents' own programs: after connecting them with the printed command, they list Moss as connected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from clients.node import environment, installed
from clients.scripted_model import ScriptedModel
from moss_memory.http.http_clients import connect_commands
from moss_memory.registry.catalog import CORE
from support.http_server import HttpServer

CLAUDE = ("@anthropic-ai/claude-code", "latest")
CODEX = ("@openai/codex", "latest")
GEMINI = ("@google/gemini-cli", "latest")
_CODEX_ASKED: tuple[dict[str, object], ...] = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "moss", "version": "1"}}},
    {"method": "initialized"},
    {"id": 2, "method": "mcpServerStatus/list", "params": {}},
)


def claude_code(folder: Path) -> tuple[int, list[str]]:
    """Run the printed `claude mcp add`, and assert that `claude mcp list` shows it as connected."""
    return _connected("Claude Code", CLAUDE, ["claude", "mcp", "list"], "Connected", folder)


def tool_search(folder: Path) -> tuple[int, list[str]]:
    """Assert that Claude Code offers the `core` tools and finds `moss_revert` by an everyday word of the hints."""
    with ScriptedModel("undo") as model:
        run = _shell(CLAUDE, folder, ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none", DISABLE_AUTOUPDATER="1")
        done = run("moss connect claude-code && claude -p 'Search for a tool' --model claude-sonnet-4-5")
        if not model.requests:
            return 0, [(done.stdout + done.stderr)[-400:]]
        offered = {name for name in model.offered() if name.startswith("mcp__moss__")}
        found = model.found()
        failed = [] if offered == {f"mcp__moss__{name}" for name in CORE} else [f"offered at once: {sorted(offered)}"]
        failed += [] if found[:1] == ["mcp__moss__moss_revert"] else [f"found for 'undo': {found}"]
        return 2 - len(failed), failed


def gemini(folder: Path) -> tuple[int, list[str]]:
    """Run the printed `gemini mcp add`, and assert that `gemini mcp list` shows it as connected."""
    return _connected("Gemini CLI", GEMINI, ["gemini", "mcp", "list"], "Connected", folder)


def codex(folder: Path) -> tuple[int, list[str]]:
    """Run the printed `codex mcp add`, and assert that its app server lists Moss's tools."""
    with HttpServer(folder / "home") as server:
        run = _shell(CODEX, folder)
        added = run(dict(connect_commands(server.address, str(folder / "home" / "token")))["Codex"])
        if added.returncode:
            return 0, [(added.stderr or added.stdout)[-300:]]
        said = "".join(f"{json.dumps(message)}\n" for message in _CODEX_ASKED)
        # Its stdin stays open until it has answered: a closed one ends it.
        token = f"export MOSS_TOKEN={server.token}; "
        listed = run(f"{token} (cat; sleep 20) | timeout 25 codex app-server", said)
        return (1, []) if "capsule_store" in listed.stdout else (0, [(listed.stdout + listed.stderr)[-600:]])


def by_moss_connect(folder: Path) -> tuple[int, list[str]]:
    """Run `moss connect CLIENT` in a fresh home, and assert that the client shows Moss as connected over stdio."""
    asked = "printf '%s\\n' " + " ".join(f"'{json.dumps(message)}'" for message in _CODEX_ASKED)
    lines = {
        "claude-code": (CLAUDE, "claude mcp list", "Connected"),
        "codex": (CODEX, f"({asked}; sleep 20) | timeout 25 codex app-server", "capsule_store"),
        "gemini": (GEMINI, "gemini mcp list", "Connected"),
    }
    failed = []
    for client, (package, listing, word) in lines.items():
        home = folder / client
        home.mkdir()
        run = _shell(package, home)
        done = run(f"moss connect {client} && {listing}")
        gone = run(f"moss connect {client} --remove && moss connect {client} --check")
        if word not in done.stdout + done.stderr or '"connected": "no"' not in gone.stdout:
            failed.append(f"{client}: {(done.stdout + done.stderr + gone.stdout)[-400:]}")
    return len(lines) - len(failed), failed


def plugin(folder: Path) -> tuple[int, list[str]]:
    """Assert that each client accepts the plugin in its own format."""
    plugins = Path(__file__).resolve().parents[2] / "plugins"
    lines = {
        "claude-code": (CLAUDE, f"claude plugin validate {plugins / 'moss'}", "passed"),
        "codex": (CODEX, f"codex plugin marketplace add {plugins} && codex plugin list", "moss"),
        "gemini": (GEMINI, f"gemini extensions validate {plugins / 'moss'}", "successfully validated"),
    }
    failed = []
    for client, (package, line, word) in lines.items():
        home = folder / client
        home.mkdir()
        done = _shell(package, home)(line)
        if done.returncode or word not in done.stdout + done.stderr:
            failed.append(f"{client}: {(done.stdout + done.stderr)[-400:]}")
    return len(lines) - len(failed), failed


def session_start_hooks(folder: Path) -> tuple[int, list[str]]:
    """Assert that `moss connect CLIENT --hooks` writes a hook that the client accepts and that prints the open work."""
    failed = []
    clients = {"claude-code": CLAUDE, "codex": CODEX, "gemini": GEMINI}
    for client, package in clients.items():
        home = folder / client
        home.mkdir()
        run = _shell(package, home)
        done = run(f"moss task create task 'Fix it' && moss connect {client} --hooks")
        file = Path(json.loads(done.stdout.splitlines()[-1])["hooks"]["file"])
        (hook,) = json.loads(file.read_text())["hooks"]["SessionStart"][0]["hooks"]
        said = run(f"cd / && env -i HOME={home} {hook['command']}", "{}").stdout
        if "TASK-001" not in said:
            failed.append(f"{client}: {(done.stderr + said)[-400:]}")
    return len(clients) - len(failed), failed


def session_in_a_repository(folder: Path) -> tuple[int, list[str]]:
    """Assert that a new session's first request contains a task of its repository, without Moss on the shell's path."""
    project = folder / "shop"
    run = _shell(CLAUDE, folder)
    made = run(f"git init -q {project} && cd {project} && moss init && moss task create 'Rotate the keys' "
               "&& moss connect claude-code --hooks")  # fmt: skip
    requests: list[bytes] = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_error(400)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as model:
        threading.Thread(target=model.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{model.server_port}"
        own = f"{Path(sys.executable).parent}:"
        outside = f"own={own}; PATH=${{PATH//$own/}}; command -v moss && exit 1; cd {project}"
        listed = run(f"{outside}; claude mcp list")
        run(f"{outside}; ANTHROPIC_API_KEY=x ANTHROPIC_BASE_URL={address} timeout 60 claude -p 'what is open?'")
        model.shutdown()
    failed = [] if "Connected" in listed.stdout else [(made.stderr + listed.stdout + listed.stderr)[-400:]]
    if not any(b"Rotate the keys" in request for request in requests):
        failed.append(f"the task is in none of the {len(requests)} requests")
    return 2 - len(failed), failed


def _connected(
    client: str, package: tuple[str, str], listing: list[str], word: str, folder: Path
) -> tuple[int, list[str]]:
    with HttpServer(folder / "home") as server:
        run = _shell(package, folder)
        added = run(dict(connect_commands(server.address, str(folder / "home" / "token")))[client])
        listed = run(" ".join(listing))
        said = listed.stdout + listed.stderr
        if added.returncode == 0 and "moss" in said and word in said:
            return 1, []
        return 0, [(added.stderr + said)[-400:]]


def _shell(package: tuple[str, str], folder: Path, **more: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs shell lines in a separate home folder, with a program on the path."""
    programs = installed(*package)
    while programs.name != "node_modules":
        programs = programs.parent
    base = environment(HOME=str(folder), GEMINI_CLI_TRUST_WORKSPACE="true", **more)
    path = os.pathsep.join([str(programs / ".bin"), str(Path(sys.executable).parent), base["PATH"]])
    variables = {**base, "PATH": path}

    def run(line: str, said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], input=said, capture_output=True, text=True, env=variables, cwd=folder, timeout=180
        )

    return run
