"""A whole command, and an MCP server until its first answer, compared with a bare interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter_ns

from moss_memory import open_store

from .client import MOSS, Server, moss_environment, moss_server
from .measure import BenchmarkRow, compare_times, medians_us, scratch_folder
from .texts import Author

COMMANDS = {
    "`moss fetch`": (["fetch", "--name", "auth"], 4),
    "`moss prime`": (["prime"], 4),
}
"""Command -> its arguments and its limit."""
BARE = [sys.executable, "-I", "-c", "pass"]


def process(command: list[str], *, env: dict[str, str], cwd: str) -> Callable[[], None]:
    """Return a function that runs a command to its end; the output goes into a pipe, as for an agent."""

    def run() -> None:
        subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)

    return run


class ServerStarts:
    """Measures the time from the start of a server to its first answer."""

    def __init__(self, start: Callable[[], Server]) -> None:
        self._start = start
        self.first_answer_us: list[float] = []

    def once(self) -> None:
        start = perf_counter_ns()
        with self._start() as server:
            server.initialize()
            self.first_answer_us.append((perf_counter_ns() - start) / 1000)


def run(rounds: int = 60) -> list[BenchmarkRow]:
    with scratch_folder() as folder:
        home = os.path.join(folder, "moss")
        with open_store(home) as store:
            text = Author(seed=2).capsule(2_000)
            store.call("capsule_store", {"name": "auth", "capsule_text": text})
            task = {"workspace": "default", "kind": "task", "title": "Sign in", "steps": [{"title": "Ask for a token"}]}
            store.call("tasks_create", task)
        env = moss_environment(home)
        starts = ServerStarts(lambda: moss_server(folder))
        *commands, bare, _ = medians_us(
            *(process([MOSS, *words], env=env, cwd=folder) for words, _ in COMMANDS.values()),
            process(BARE, env=env, cwd=folder),
            starts.once,
            rounds=rounds,
        )
    answer = median(starts.first_answer_us)
    lines = [
        BenchmarkRow(
            f"{command}, a whole process : `python -I -c pass`", time / bare, limit, note=compare_times(time, bare)
        )
        for (command, (_, limit)), time in zip(COMMANDS.items(), commands, strict=True)
    ]
    title = "MCP spawn to first answer : `python -I -c pass`"
    return [*lines, BenchmarkRow(title, answer / bare, 4, note=compare_times(answer, bare))]
