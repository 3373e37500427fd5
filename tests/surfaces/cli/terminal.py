"""Commands as a person at a terminal sees them."""

from __future__ import annotations

import os
import pty
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.cli_typist import Cli


def on_terminal(cli: Cli, *words: str, typed: bytes = b"", columns: int = 0) -> tuple[int, str]:
    """Runs a command on a terminal; answers its exit code and everything that the terminal showed."""
    leader, follower = pty.openpty()
    if columns:
        termios.tcsetwinsize(follower, (24, columns))
    process = cli.start(*words, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    if typed:
        os.write(leader, typed)
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
    return process.wait(timeout=30), shown.decode().replace("\r\n", "\n")
