"""What a start costs: a whole command, and a server until it first answers, beside a bare interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter_ns

from moss_memory import open_store

from .client import MOSS, Server, moss_environment, moss_server
from .measure import Line, compared_us, medians_us, scratch_folder
from .texts import Author

COMMANDS = {
    "`moss fetch`": (["fetch", "--name", "auth"], 4),
    "`moss prime`": (["prime"], 4),
    "`moss connect`, nine clients": (["connect"], 10),
}
"""Whole commands, and how many times as long as a bare Python each may take."""
BARE = [sys.executable, "-I", "-c", "pass"]


def running(command: list[str], *, env: dict[str, str], cwd: str) -> Callable[[], None]:
    """Runs a command to its end; its output goes through a pipe, as it does to a caller that reads it."""

    def run() -> None:
        subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)

    return run


def _with_clients(home: str) -> str:
    """A home folder in which some clients keep their files, one of them with Moss in it."""
    server = {"command": "npx", "args": ["-y", "some-server"]}
    written = {
        ".cursor/mcp.json": json.dumps({"mcpServers": {"other": server, "moss": {"command": "moss", "args": ["mcp"]}}}),
        ".claude.json": json.dumps({"projects": {f"/p/{number}": {"history": []} for number in range(50)}}),
        ".codex/config.toml": "[mcp_servers.other]\ncommand = 'npx'\n",
        ".config/zed/settings.json": '// settings\n{"theme": "One", "context_servers": {}}\n',
    }
    for name, text in written.items():
        os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
        with open(os.path.join(home, name), "w", encoding="utf-8") as file:
            file.write(text)
    return home


class Starts:
    """Starts a server again and again and keeps how long its first answers took."""

    def __init__(self, start: Callable[[], Server]) -> None:
        self._start = start
        self.first_answer_us: list[float] = []
        self.first_list_us: list[float] = []

    def once(self) -> None:
        begun = perf_counter_ns()
        with self._start() as server:
            server.hello()
            answered = perf_counter_ns()
            listing = server.request("tools/list")
            asked = perf_counter_ns()
            server.exchange(listing)
            self.first_list_us.append((perf_counter_ns() - asked) / 1000)
            self.first_answer_us.append((answered - begun) / 1000)


def lines(rounds: int = 60) -> list[Line]:
    """Whole commands, the first answer of `moss mcp` and its first list, against `python -I -c pass`."""
    with scratch_folder() as folder:
        home = os.path.join(folder, "moss")
        with open_store(home) as store:
            text = Author(seed=2).capsule(2_000)
            store.call("capsule_store", {"name": "auth", "capsule_text": text})
            task = {"workspace": "default", "kind": "task", "title": "Sign in", "steps": [{"title": "Ask for a token"}]}
            store.call("tasks_create", task)
        env = {**moss_environment(home), "HOME": _with_clients(os.path.join(folder, "user"))}
        starts = Starts(lambda: moss_server(folder))
        *commands, bare, _ = medians_us(
            *(running([MOSS, *words], env=env, cwd=folder) for words, _ in COMMANDS.values()),
            running(BARE, env=env, cwd=folder),
            starts.once,
            rounds=rounds,
        )
    answer, listing = median(starts.first_answer_us), median(starts.first_list_us)
    return [
        *(
            Line(f"{what}, a whole process : `python -I -c pass`", took / bare, limit, note=compared_us(took, bare))
            for (what, (_, limit)), took in zip(COMMANDS.items(), commands, strict=True)
        ),
        Line(
            "MCP spawn to first answer : `python -I -c pass`", answer / bare, 4, note=compared_us(answer, bare)
        ),
        Line("first `tools/list` : `python -I -c pass`", listing / bare, 0.5, note=compared_us(listing, bare)),
    ]  # fmt: skip


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
