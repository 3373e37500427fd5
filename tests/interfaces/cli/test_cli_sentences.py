"""A write on a terminal is confirmed by a sentence; what is removed for good is asked for first."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from interfaces.cli.terminal import on_terminal
from moss_memory.cli.render.message_lines import wrap_message

if TYPE_CHECKING:
    from support.cli_typist import Cli


def confirmed(cli: Cli, *words: str) -> str:
    code, shown = on_terminal(cli, *words, columns=80)
    assert code == 0, shown
    return " ".join(shown.split())


def test_each_write_says_what_it_did(cli: Cli, tmp_path: object, capsule: str) -> None:
    path = os.path.join(str(tmp_path), "capsule.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(capsule)
    assert confirmed(cli, "save", "shop/auth", "--file", path) == "Saved shop/auth, version 1."
    said = confirmed(cli, "append", "shop/auth", "--section", "Decisions", "--content", "- more")
    assert said == 'Added to "Decisions" of shop/auth, version 2.'
    assert confirmed(cli, "revert", "shop/auth") == "Went back to version 1; it is now version 3."
    assert confirmed(cli, "rename", "shop/auth", "login") == "Renamed to shop/login, version 4."
    assert confirmed(cli, "delete", "shop/login") == "Deleted shop/login; `moss restore` brings it back."
    assert confirmed(cli, "restore", "shop/login") == "Restored shop/login."
    assert confirmed(cli, "task", "create", "task", "Fix it", "-w", "shop").startswith("Created TASK-001")
    assert confirmed(cli, "task", "note", "TASK-001", "half done", "-w", "shop").startswith("Noted on TASK-001")
    assert confirmed(cli, "notes", "add", "a note", "-w", "{}") == "Noted as 5 in {}, branch main."


def test_load_is_fetch(cli: Cli, capsule: str) -> None:
    assert cli("save", "auth", stdin=capsule).json["version"] == 1
    assert cli("load", "auth").json == cli("fetch", "auth").json
    assert cli("capsule", "load", "auth", "--text").out == capsule


def test_notes_are_shown_whole_on_a_terminal(cli: Cli) -> None:
    note = "word " * 60 + "end"
    cli("notes", "add", note, "-w", "shop").json  # noqa: B018
    cli.environment["NO_COLOR"] = "1"
    _, shown = on_terminal(cli, "notes", "show", "-w", "shop", columns=80)
    assert note in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_an_empty_list_names_the_workspaces_that_have_something(cli: Cli, capsule: str) -> None:
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    assert "did you mean the workspace shop?" in on_terminal(cli, "list", "-w", "shpo")[1]
    assert "Others have: shop (1)" in " ".join(on_terminal(cli, "list")[1].split())
    assert cli("list").err == ""


@pytest.mark.parametrize(("reply", "code", "left"), [(b"n\n", 1, 1), (b"\n", 1, 1), (b"y\n", 0, 0)])
def test_erase_asks_on_a_terminal(cli: Cli, capsule: str, reply: bytes, code: int, left: int) -> None:
    cli("save", "auth", stdin=capsule).json  # noqa: B018
    assert on_terminal(cli, "erase", "auth", typed=reply)[0] == code
    assert cli("list").json["pagination"]["total"] == left


def test_yes_and_a_pipe_are_not_asked(cli: Cli, capsule: str) -> None:
    for words in (["erase", "auth", "--yes"], ["erase", "auth"]):
        cli("save", "auth", stdin=capsule).json  # noqa: B018
        assert cli(*words).json["complete"] is True


def test_purge_asks_only_if_there_is_something_to_remove(cli: Cli, capsule: str) -> None:
    assert "[y/N]" not in on_terminal(cli, "purge")[1]
    cli("save", "auth", stdin=capsule).json  # noqa: B018
    cli("delete", "auth").json  # noqa: B018
    assert "1 row would be removed" in on_terminal(cli, "purge", typed=b"n\n")[1]
    assert cli("restore", "auth").json["restored"] is True


def test_a_message_breaks_between_words_and_a_command_can_be_copied() -> None:
    proposal = (
        "try: moss update --title 'a title with  two spaces' --workspace shop --name auth  # gives it a new title"
    )
    lines = wrap_message(proposal, 60).split("\n")
    assert max(map(len, lines)) <= 60
    command = "\n".join(lines[:-1]).removeprefix("try: ")
    printed = subprocess.run(
        ["sh", "-c", command.replace("moss update", "printf '%s|'")], capture_output=True, text=True
    )
    assert printed.stdout == "--title|a title with  two spaces|--workspace|shop|--name|auth|"
    assert wrap_message("one two three four five six", 22) == "one two three four\n  five six"
