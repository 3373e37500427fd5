"""Random command lines: each ends with an answer, a coded error or a usage error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from moss_memory.cli.args.command import Command
from moss_memory.cli.args.command_names import command_names
from moss_memory.cli.commands.help import find_any
from moss_memory.errors import STATUS
from moss_memory.registry import catalog

if TYPE_CHECKING:
    from support.cli_typist import Cli

SERVERS_AND_SHOWS = ("mcp", "serve", "tour", "edit", "connect")
COMMANDS = [name for name in command_names() if name not in SERVERS_AND_SHOWS]
ODD = [
    "", " ", "-", "--", "---", "-h", "--help", "--table", "--home", "--home=", "=", "--=", "--no-", "@", "@-", "@/",
    "null", "[]", "{}", "[{}]", '[{"name": 1}]', '[{"id": "x", "name": "y"}]', "0", "-1", "1e9", str(2**63), "true",
    "a,b", ",", '["a", 1]', "\udcff", "\u202e", "../x.jsonl", "/dev/null", "x.jsonl", "\x1b[2J", "NOT", '"', "(", "*",
    "x" * 300, "7d", "auth", "default/auth", "id:", "capsule", "markdown", "json", "rename",
]  # fmt: skip


def flags(name: str) -> list[str]:
    command = find_any(name)
    assert isinstance(command, Command)
    return [option.flag for option in command.options.values()]


def stays_here(text: str) -> bool:
    """Return whether the word is a possible argument and names no path outside the test's folder."""
    return "\0" not in text and not text.startswith(("/", "~", "."))


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    name = draw(st.sampled_from(COMMANDS))
    word = st.one_of(
        st.sampled_from(flags(name) or ["--x"]), st.sampled_from(ODD), st.text(max_size=8).filter(stays_here)
    )
    words = draw(st.lists(word, max_size=6))
    return [*name.split(), *words]


@given(words=command_lines(), stdin=st.sampled_from([b"", b"x", b"\xff", b"## Objective\n", b"[]"]))
def test_no_command_line_causes_an_internal_error(cli: Cli, words: list[str], stdin: bytes) -> None:
    outcome = cli(*words, stdin=stdin)
    assert outcome.code in (0, 1, 2)
    if outcome.code == 0:
        assert outcome.out or words[0] == "prime"  # prints nothing for an empty store
        assert "Traceback" not in outcome.err
    elif words[0] == "doctor" and outcome.code == 1:
        assert "fail" in outcome.out
    else:
        assert outcome.out == ""
        first = outcome.err.splitlines()[0]
        code = re.match(r"\[([A-Z_]+)\] ", first)
        assert (code is not None and code[1] in STATUS) == (outcome.code == 1), outcome.err
        assert code is None or code[1] != "INTERNAL"


def test_the_commands_tried_are_those_of_the_registry() -> None:
    assert len(COMMANDS) > len(catalog.operations())
