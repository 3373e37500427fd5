"""Run commands, in this process or as separate ones, and return their outcomes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from moss_memory.cli.main import run
from support.timeouts import TIMEOUT_S

CAPSULE = """## Objective
Sign people in with refresh tokens.
## Current status
Login works.
## Decisions
Tokens live in a cookie.
## Next actions
TBD
## Key locations
src/auth.py
## Open questions
None so far.
"""


class Outcome:
    """The exit code and the output of a command."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.out = out.decode()
        self.err = err.decode()

    @property
    def json(self) -> Any:
        """Return the answer, asserting that the command succeeded without messages."""
        assert self.code == 0, self.err
        return json.loads(self.out)


class Cli:
    """Run commands on one store."""

    def __init__(self, home: str, environment: dict[str, str]) -> None:
        self.home = home
        self.environment = environment

    def __call__(self, *words: str, stdin: str | bytes = b"") -> Outcome:
        """Run a command in this process, with its own descriptors."""
        content = stdin.encode() if isinstance(stdin, str) else stdin
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(content)
            given.seek(0)
            kept = [os.dup(fd) for fd in (0, 1, 2)]
            try:
                for fd, file in enumerate((given, out, err)):
                    os.dup2(file.fileno(), fd)
                code = run(list(words))
            finally:
                for fd, copy in enumerate(kept):
                    os.dup2(copy, fd)
                    os.close(copy)
            out.seek(0)
            err.seek(0)
            return Outcome(code, out.read(), err.read())

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command as a process; its three descriptors are pipes by default."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        line = [sys.executable, "-m", "moss_memory.cli.main", *words]
        return subprocess.Popen(line, env=self.environment, **{**pipes, **options})

    def process(self, *words: str, stdin: bytes | int = b"") -> Outcome:
        """Run a command as a process to its end; `stdin` is its input, or a descriptor."""
        sent = stdin if isinstance(stdin, bytes) else None
        process = self.start(*words, **({} if sent is not None else {"stdin": stdin}))
        out, err = process.communicate(sent, timeout=TIMEOUT_S)
        return Outcome(process.returncode, out, err)
