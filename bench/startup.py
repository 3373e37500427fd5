"""What a start costs: a whole command, and a server until it first answers, beside a bare interpreter."""

from __future__ import annotations

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
}
"""Whole commands, and how many times as long as a bare Python each may take."""
BARE = [sys.executable, "-I", "-c", "pass"]


def running(command: list[str], *, env: dict[str, str], cwd: str) -> Callable[[], None]:
    """Runs a command to its end; its output goes through a pipe, as it does to a caller that reads it."""

    def run() -> None:
        subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)

    return run


class Starts:
    """Starts a server again and again and keeps how long its first answer took."""

    def __init__(self, start: Callable[[], Server]) -> None:
        self._start = start
        self.first_answer_us: list[float] = []

    def once(self) -> None:
        begun = perf_counter_ns()
        with self._start() as server:
            server.hello()
            self.first_answer_us.append((perf_counter_ns() - begun) / 1000)


def lines(rounds: int = 60) -> list[Line]:
    """Whole commands and the first answer of `moss mcp`, against `python -I -c pass`."""
    with scratch_folder() as folder:
        home = os.path.join(folder, "moss")
        with open_store(home) as store:
            text = Author(seed=2).capsule(2_000)
            store.call("capsule_store", {"name": "auth", "capsule_text": text})
            task = {"workspace": "default", "kind": "task", "title": "Sign in", "steps": [{"title": "Ask for a token"}]}
            store.call("tasks_create", task)
        env = moss_environment(home)
        starts = Starts(lambda: moss_server(folder))
        *commands, bare, _ = medians_us(
            *(running([MOSS, *words], env=env, cwd=folder) for words, _ in COMMANDS.values()),
            running(BARE, env=env, cwd=folder),
            starts.once,
            rounds=rounds,
        )
    answer = median(starts.first_answer_us)
    return [
        *(
            Line(f"{what}, a whole process : `python -I -c pass`", took / bare, limit, note=compared_us(took, bare))
            for (what, (_, limit)), took in zip(COMMANDS.items(), commands, strict=True)
        ),
        Line(
            "MCP spawn to first answer : `python -I -c pass`", answer / bare, 4, note=compared_us(answer, bare)
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
