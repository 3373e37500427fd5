"""Bash on a terminal of 80 columns and 24 lines."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PROGRESS = re.compile(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K")


def bash_on_terminal(script: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a script; return its exit code and what the terminal shows at the end, without colours."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    process = subprocess.Popen(
        ["bash", "-e", "-c", script], stdin=follower, stdout=follower, stderr=follower, env=environment, cwd=folder,
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    text = read_terminal(leader)
    return process.wait(), _COLOUR.sub("", _PROGRESS.sub("", text))


def read_terminal(leader: int) -> str:
    """Return the output of a terminal until the last process has left it, and close it."""
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 4096)
        except OSError:  # Linux: the last holder of the other end has gone
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")
