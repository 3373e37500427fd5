"""A process that is killed while it writes."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.python_process import start

Wait = Callable[[int], tuple[bytes, float]]
"""Read acknowledgements before the kill; return them, and the seconds within which to kill then."""


def writer_with(*modules: str) -> str:
    """Return a script that runs the plan from stdin and acknowledges each step with one byte, until it is killed.

    The modules are loaded before it says that it is ready, so that the first step is a write and nothing else.
    """
    return f"""
import json, os, sys
from support.store_truth import open_at
import {", ".join(f"moss_memory.{module}" for module in modules)}
plan = json.loads(sys.stdin.readline())
store = open_at(sys.argv[1])
os.write(1, b"r")
for tool, arguments in plan:
    store.call(tool, arguments)
    os.write(1, b"a")
os.write(1, b"e")
sys.stdin.readline()
"""


def kill_in_the_middle(script: str, home: Path, steps: list[Any], wait: Wait) -> bytes:
    """Start a writer, kill it at the moment that `wait` chooses, and return its acknowledgements."""
    worker = start(script, home)
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(steps) + "\n")
    worker.stdin.flush()
    answers = worker.stdout.fileno()
    said, within_s = wait(answers)
    assert said, "the writer ended before it was killed"
    moment = time.perf_counter() + within_s
    while time.perf_counter() < moment:
        pass  # a sleep would end on the scheduler's beat; this ends anywhere in a write
    worker.kill()
    assert worker.wait() == -signal.SIGKILL, "the writer ended by itself"
    while part := os.read(answers, 1024):
        said += part
    worker.stdin.close()
    worker.stdout.close()
    return said


def some_of(most: int, chance: random.Random) -> Wait:
    """Return a wait for some acknowledgements, at most `most`."""

    def wait(answers: int) -> tuple[bytes, float]:
        said = b"".join(os.read(answers, 1) for _ in range(1 + chance.randrange(most)))
        return said, chance.random() * 0.004

    return wait


def all_before(step: int, chance: random.Random) -> Wait:
    """Return a wait for all steps before one, and then for at most the time of the longest of them."""

    def wait(answers: int) -> tuple[bytes, float]:
        said, longest_s = os.read(answers, 1), 0.005
        while len(said) <= step:
            before = time.perf_counter()
            said += os.read(answers, 1)
            longest_s = max(longest_s, time.perf_counter() - before)
        return said, chance.random() * longest_s

    return wait
