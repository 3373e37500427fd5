"""Helpers to run commands on a terminal."""

from __future__ import annotations

import os
import pty
import termios
from typing import TYPE_CHECKING, Any

from moss_memory.cli.args.command import find_command
from moss_memory.cli.render.table import table_of
from support.terminal_bash import read_terminal
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from support.cli_typist import Cli


def on_terminal(cli: Cli, *words: str, typed: bytes = b"", columns: int = 0) -> tuple[int, str]:
    """Run a command on a terminal and return its exit code and its complete output."""
    leader, follower = pty.openpty()
    if columns:
        termios.tcsetwinsize(follower, (24, columns))
    process = cli.start(*words, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    if typed:
        os.write(leader, typed)
    shown = read_terminal(leader)
    return process.wait(timeout=TIMEOUT_S), shown


def as_table(words: list[str], answer: dict[str, Any], *, width: int = 0) -> str:
    """Return the --table output of a command for an answer, on a terminal of the given width."""
    found = find_command(words)
    assert found is not None, words
    return table_of(answer, found[0].operation.answers, width=width)
