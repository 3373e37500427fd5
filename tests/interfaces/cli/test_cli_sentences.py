"""Confirmation sentences of writes on a terminal, and questions before permanent removal."""

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


def test_each_write_is_confirmed_by_a_sentence(cli: Cli, tmp_path: object, capsule: str) -> None:
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


def test_a_heading_cannot_control_the_terminal(cli: Cli) -> None:
    cli("save", "auth", "--allow-thin", stdin="## Next \x1b[31m{now}\n\n- a\n").json  # noqa: B018
    said = confirmed(cli, "append", "auth", "--section", "Next \x1b[31m{now}", "--content", "- b")
    assert said == 'Added to "Next \ufffd[31m{now}" of default/auth, version 2.'


def test_load_is_an_alias_of_fetch(cli: Cli, capsule: str) -> None:
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


def test_the_headings_of_notes_and_commits_fit_a_terminal(cli: Cli) -> None:
    cli.environment["NO_COLOR"] = "1"
    message = "Rotation moved to the gateway because the clocks of the machines differ too much"
    cli("history", "commit", "--message", message, "The cron job is gone.", "-w", "shop").json  # noqa: B018
    for words in (("notes", "show"), ("history", "log")):
        _, shown = on_terminal(cli, *words, "-w", "shop", columns=80)
        assert message in " ".join(shown.split())
        assert max(map(len, shown.splitlines())) <= 80


def test_an_empty_list_names_the_workspaces_with_entries(cli: Cli, capsule: str) -> None:
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    shown = " ".join(on_terminal(cli, "list", "-w", "shpo")[1].split())
    assert "there is no workspace 'shpo'; the nearest is 'shop'" in shown
    assert "Others have: shop (1)" in " ".join(on_terminal(cli, "list")[1].split())
    assert cli("list").err == ""


@pytest.mark.parametrize(("reply", "code", "left"), [(b"n\n", 1, 1), (b"\n", 1, 1), (b"y\n", 0, 0)])
def test_erase_asks_on_a_terminal(cli: Cli, capsule: str, reply: bytes, code: int, left: int) -> None:
    cli("save", "auth", stdin=capsule).json  # noqa: B018
    assert on_terminal(cli, "erase", "auth", typed=reply)[0] == code
    assert cli("list").json["pagination"]["total"] == left


def test_yes_or_a_pipe_skips_the_question(cli: Cli, capsule: str) -> None:
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


def test_the_confirmation_of_a_step_separates_its_words(cli: Cli) -> None:
    steps = '[{"title": "Write the test", "success_criteria": ["it fails"]}]'
    cli("task", "create", "task", "Rotate", "-w", "shop", "--steps", steps).json  # noqa: B018
    words = ("task", "done", "TASK-001", "-w", "shop", "--path", "s:0", "--checkpoints", "criteria")
    assert on_terminal(cli, *words)[1] == "Closed step s:0 of TASK-001 (Rotate).\n"


def test_radar_proposes_checkpoints_as_command_options(cli: Cli) -> None:
    steps = '[{"title": "Write the test", "success_criteria": ["it fails"], "tests": ["pytest"]}]'
    cli("task", "create", "task", "Rotate", "-w", "shop", "--steps", steps).json  # noqa: B018
    shown = " ".join(on_terminal(cli, "task", "radar", "-w", "shop")[1].split())
    assert "then add --checkpoints criteria,tests" in shown
    refused = cli("task", "done", "TASK-001", "-w", "shop", "--path", "s:0").err
    assert "then add --checkpoints criteria,tests" in refused


def test_a_difference_distinguishes_added_changed_and_deleted(cli: Cli) -> None:
    def apply(*operations: str) -> str:
        return on_terminal(cli, "graph", "apply", "-w", "shop", f"[{','.join(operations)}]")[1]

    node = '{{"op": "node_upsert", "id": "{}", "type": "question", "title": "{}"}}'
    delete = '{"op": "node_delete", "id": "gone"}'
    edge = '{"op": "edge_upsert", "from": "new", "rel": "answers", "to": "kept"}'
    assert apply(node.format("kept", "Where?"), node.format("gone", "Who?")) == "graph on main: 2 nodes written.\n"
    cli("branch", "create", "try", "-w", "shop").json  # noqa: B018
    cli("branch", "checkout", "try", "-w", "shop").json  # noqa: B018
    said = apply(node.format("new", "There"), node.format("kept", "Where now?"), delete, edge)
    assert said == "graph on try: 2 nodes written, 1 node deleted, 1 edge written.\n"
    shown = on_terminal(cli, "graph", "diff", "main", "try", "-w", "shop", columns=100)[1]
    rows = {line.split()[2]: line.split()[0] for line in shown.splitlines() if " node " in line or " edge " in line}
    assert rows == {"kept": "changed", "gone": "deleted", "new": "added"}
    assert "added    edge  new -answers-> kept" in shown
    merged = on_terminal(cli, "branch", "merge", "try", "-w", "shop")[1]
    assert merged == "Merged 0 notes and 4 graph changes of try into main; no conflicts.\n"


def test_a_workspace_with_only_a_graph_is_named(cli: Cli, capsule: str) -> None:
    node = '[{"op": "node_upsert", "id": "q", "type": "question", "title": "Where?"}]'
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    assert "only a graph" not in on_terminal(cli, "workspaces")[1]
    cli("graph", "apply", "-w", "ideas", node).json  # noqa: B018
    assert "only a graph is in: ideas" in on_terminal(cli, "workspaces")[1]


def test_proposed_commands_are_shown_whole_between_words(cli: Cli) -> None:
    steps = '[{"title": "Make tokens that work once", "success_criteria": ["it is refused"], "tests": ["pytest"]}]'
    cli("task", "create", "task", "Mail a link", "-w", "shop", "--steps", steps).json  # noqa: B018
    for words in (("radar",), ("handoff",)):
        shown = on_terminal(cli, "task", *words, "-w", "shop", columns=80)[1]
        assert max(map(len, shown.splitlines())) <= 80
        assert "--checkpoints criteria,tests" in " ".join(shown.replace("# ", "").split())


def test_a_record_is_confirmed_in_a_sentence(cli: Cli) -> None:
    body = '{"decision": "Queue mail", "rationale": "It is simple.", "timestamp": "2026-02-04T10:00:00Z"}'
    words = ("record", "submit", "neotoma:store_agent_decision:v1", "-w", "shop", "--body", body)
    assert on_terminal(cli, *words)[1].startswith("Recorded as ")
    assert "was recorded before" in on_terminal(cli, *words)[1]
