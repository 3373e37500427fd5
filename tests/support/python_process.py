"""Python processes of the tests: started with a script, connected by pipes, killed at a timeout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from support.timeouts import TIMEOUT_S

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DROP_ROOT = (
    "setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner",
    "--inh-caps", "-dac_override,-dac_read_search,-fowner",
)  # fmt: skip


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which a child finds the modules of the tests."""
    paths = [HERE, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def start(script: str, *arguments: object, umask: int = -1, wrapped_in: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start the script; its stdin and stdout are pipes, its stderr is the test's."""
    return subprocess.Popen(
        [*wrapped_in, sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        umask=umask,
        env=environment(),
    )


def finish(process: subprocess.Popen[str], said: str = "") -> str:
    """Wait for a process, assert that it succeeds, and return its output."""
    try:
        output, _ = process.communicate(said, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert process.returncode == 0, f"exit code {process.returncode}: {output}"
    return output


def run(script: str, *arguments: object, umask: int = -1, wrapped_in: Sequence[str] = ()) -> str:
    """Return the script's output, asserting that it succeeds."""
    return finish(start(script, *arguments, umask=umask, wrapped_in=wrapped_in))


def race(scripts: Sequence[Sequence[Any]], meanwhile: Callable[[], object] = int) -> list[Any]:
    """Run scripts that all begin once all are ready; return the JSON that each prints at its end."""
    processes = [start(*script) for script in scripts]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(processes)) as pool:
        running = [pool.submit(finish, process, "go\n") for process in processes]
        while not all(future.done() for future in running):
            meanwhile()
        return [json.loads(future.result()) for future in running]


def without_root_powers() -> Sequence[str]:
    """Return a command prefix that removes root's powers, so that permission bits apply."""
    return DROP_ROOT if os.geteuid() == 0 else ()
