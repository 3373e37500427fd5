"""LangGraph's SQLite store in a process and an environment of its own; it times its own calls."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from typing import Any

from .client import clean_environment
from .measure import CACHE

PACKAGE = "langgraph-checkpoint-sqlite"
FOLDER = os.path.join(CACHE, "peers", PACKAGE)
PYTHON = os.path.join(FOLDER, "bin", "python")
INSTALL_TIMEOUT_S = 420

# Each line in is a piece of work, each line out what it came to. The calls are timed one by one, in process, as
# those of Moss are: the pipe between the two processes is no part of what is compared.
_PROGRAM = """
import json, sqlite3, sys
from time import perf_counter_ns
from langgraph.store.sqlite import SqliteStore

path, journal = sys.argv[1:]
connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
connection.execute(f"pragma journal_mode = {journal}")
store = SqliteStore(connection)
store.setup()
for line in sys.stdin:
    work, keys, values = json.loads(line)
    times, shown = [], None
    for key, value in zip(keys, values or keys):
        start = perf_counter_ns()
        shown = store.put(("bench",), key, value) if work == "put" else store.get(("bench",), key)
        times.append(perf_counter_ns() - start)
    print(json.dumps([times, None if shown is None else shown.value]), flush=True)
"""


def install() -> bool:
    """Installs the package once, into the cache; false where it does not install."""
    if not os.path.exists(PYTHON):
        commands = [[sys.executable, "-m", "venv", FOLDER], [PYTHON, "-m", "pip", "install", "--quiet", PACKAGE]]
        try:
            for command in commands:
                subprocess.run(command, capture_output=True, timeout=INSTALL_TIMEOUT_S, check=True)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(FOLDER, ignore_errors=True)
    return os.path.exists(PYTHON) and _starts()


def version() -> str:
    """The package with the version that was installed, or nothing."""
    folders = glob.glob(os.path.join(FOLDER, "lib", "python3*", "site-packages"))
    return "".join(f"{PACKAGE} {found.version}" for found in distributions(name=PACKAGE, path=folders))


def _starts() -> bool:
    command = [PYTHON, "-c", "import langgraph.store.sqlite"]
    return subprocess.run(command, capture_output=True, env=clean_environment()).returncode == 0


class LangGraph:
    """A running store; `put` and `get` answer how many microseconds each call took."""

    def __init__(self, path: str, *, journal: str) -> None:
        self._process = subprocess.Popen(
            [PYTHON, "-c", _PROGRAM, path, journal],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )

    def put(self, keys: list[str], values: list[dict[str, Any]], some: slice) -> list[float]:
        return self._timed("put", keys[some], values[some])[0]

    def get(self, keys: list[str], some: slice) -> list[float]:
        return self._timed("get", keys[some])[0]

    def value(self, key: str) -> Any:
        """What is stored under a key."""
        return self._timed("get", [key])[1]

    def _timed(self, work: str, keys: list[str], values: list[dict[str, Any]] | None = None) -> tuple[list[float], Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([work, keys, values]) + "\n")
        self._process.stdin.flush()
        times_ns, shown = self._answer()
        return [time / 1000 for time in times_ns], shown

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{PACKAGE} went away")
        return json.loads(line)

    def __enter__(self) -> LangGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
