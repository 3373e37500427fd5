"""Everyday commands: edit, merge, take the next task, change a setting."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from support.cli_typist import Cli

SHOP = ["-w", "shop"]


def editor(cli: Cli, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Set the editor to a Python program, which gets the file name in `path`."""
    program = f"import sys; path = sys.argv[1]; {code}"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", command)
    cli.environment.update({"EDITOR": command})
    cli.environment.pop("VISUAL", None)


@pytest.fixture
def filled(cli: Cli) -> Cli:
    cli("store", "--name", "auth", "--title", "Auth", "--tags", "a,b", stdin=FULL).json  # noqa: B018
    return cli


def test_an_edited_text_is_the_next_version_with_other_fields_unchanged(
    filled: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(filled, monkeypatch, "open(path, 'a').write('more\\n')")
    assert filled("edit", "auth").json["version"] == 2
    kept = filled("fetch", "auth").json
    assert kept["capsule_text"] == FULL + "more\n"
    assert (kept["title"], kept["tags"]) == ("Auth", ["a", "b"])


def test_an_editor_that_changes_nothing_writes_nothing(filled: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(filled, monkeypatch, "pass")
    outcome = filled("edit", "auth")
    assert (outcome.code, outcome.out) == (0, "")
    assert "nothing was changed" in outcome.err
    assert filled("fetch", "auth").json["version"] == 1


@pytest.mark.parametrize("code", ["open(path, 'w').write('thin')", "sys.exit(3)"])
def test_a_text_that_cannot_be_stored_is_kept(filled: Cli, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    editor(filled, monkeypatch, code)
    outcome = filled("edit", "auth")
    assert outcome.code == 1
    path = Path(outcome.err.partition("your text is saved in ")[2].strip())
    assert path.is_file()
    assert path.stat().st_mode & 0o077 == 0
    path.unlink()
    path.parent.rmdir()
    assert filled("fetch", "auth").json["version"] == 1


def test_a_thin_text_or_apparent_secret_is_stored_only_with_its_option(
    filled: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    editor(filled, monkeypatch, f"open(path, 'w').write('thin {key}')")
    for options, code in ([[], "SECRET_FOUND"], [["--allow-secrets"], "CAPSULE_TOO_THIN"]):
        outcome = filled("edit", "auth", *options)
        assert outcome.err.startswith(f"[{code}]")
        shutil.rmtree(Path(outcome.err.partition("your text is saved in ")[2].strip()).parent)
    assert filled("edit", "auth", "--allow-secrets", "--allow-thin").json["version"] == 2
    assert filled("fetch", "auth").json["capsule_text"] == f"thin {key}"


def test_a_concurrent_change_is_not_overwritten(filled: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    home = filled.environment["MOSS_HOME"]
    meanwhile = f"from moss_memory import open_store; open_store({home!r}).capsule_update(name='auth', title='New')"
    editor(filled, monkeypatch, f"{meanwhile}; open(path, 'a').write('mine')")
    outcome = filled("edit", "auth")
    assert outcome.err.startswith("[VERSION_MISMATCH]")
    assert filled("fetch", "auth").json["capsule_text"] == FULL


def test_a_branch_is_merged_with_its_notes_its_trace_and_its_graph(cli: Cli) -> None:
    cli("branch", "init", *SHOP)
    cli("branch", "create", "try", *SHOP)
    cli("notes", "add", "tried", "--branch", "try", *SHOP)
    cli("think", "add-question", "why?", "--branch", "try", *SHOP)
    dry = cli("branch", "merge", "try", "--dry-run", *SHOP).json
    assert dry["notes"] == {"merged": 1, "skipped": 0}
    merged = cli("branch", "merge", "try", *SHOP).json
    assert (merged["from"], merged["into"], merged["conflicts"]) == ("try", "main", [])
    assert [merged[part]["merged"] for part in ("notes", "trace", "graph")] == [1, 1, 1]
    again = cli("branch", "merge", "try", *SHOP).json
    assert [again[part]["merged"] for part in ("notes", "trace", "graph")] == [0, 0, 0]
    assert cli("notes", "show", "main", *SHOP).json["entries"][0]["content"] == "tried"


def test_a_missing_branch_or_one_without_a_base_is_not_merged(cli: Cli) -> None:
    cli("branch", "init", *SHOP)
    assert cli("branch", "merge", "main", *SHOP).err.startswith("[INVALID_REQUEST]")
    assert cli("branch", "merge", "nowhere", *SHOP).err.startswith("[NOT_FOUND]")


def test_the_next_piece_of_work_is_shown_and_taken(cli: Cli) -> None:
    assert cli("task", "next", *SHOP).json == {"next": None}
    for title in ("first", "second"):
        cli("task", "create", "task", title, *SHOP).json  # noqa: B018
    assert cli("task", "next", *SHOP).json["next"]["id"] == "TASK-001"
    taken = cli("task", "next", "--claim", "--agent", "ada", *SHOP).json["next"]
    assert (taken["id"], taken["title"], taken["agent"]) == ("TASK-001", "first", "ada")
    assert cli("task", "next", "--claim", "--agent", "bob", *SHOP).json["next"]["id"] == "TASK-002"
    assert cli("task", "next", *SHOP).json == {"next": None}
    assert cli("task", "next", "--claim", *SHOP).code == 1


@pytest.mark.parametrize(
    ("key", "word", "value"),
    [("workspace", "shop", "shop"), ("capsule_max_chars", "9000", 9000), ("toolsets", "core,task", ["core", "task"]),
     ("artifact_validate", "true", True), ("disabled_tools", "[]", [])],
)  # fmt: skip
def test_a_setting_is_written_beside_the_others(cli: Cli, key: str, word: str, value: Any) -> None:
    home = Path(cli.environment["MOSS_HOME"])
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.json").write_text('{"history_days": 30}')
    assert cli("config", "set", key, word).json["value"] == value
    assert json.loads((home / "config.json").read_text()) == {"history_days": 30, key: value}
    assert cli("config").json["settings"][key]["value"] == value


@pytest.mark.parametrize(
    ("key", "word"), [("workspce", "shop"), ("capsule_max_chars", "many"), ("artifact_validate", "maybe")]
)
def test_an_invalid_setting_is_not_written(cli: Cli, key: str, word: str) -> None:
    outcome = cli("config", "set", key, word)
    assert outcome.err.startswith("[INVALID_REQUEST]")
    assert not os.path.exists(os.path.join(cli.environment["MOSS_HOME"], "config.json"))


def test_the_only_or_focused_task_is_shown_if_none_is_named(cli: Cli) -> None:
    cli("task", "create", "task", "--title", "Build", "-w", "shop")
    assert cli("task", "show", "-w", "shop").json["target"] == "TASK-001"
    cli("task", "create", "task", "--title", "Ship", "-w", "shop")
    cli("task", "focus", "TASK-001", "-w", "shop")
    assert cli("task", "show", "-w", "shop").json["title"] == "Build"
    refused = cli("task", "show", "-w", "nowhere")
    assert (refused.code, "create a task first" in refused.err) == (1, True)


def test_a_title_alone_makes_a_task_with_the_named_steps(cli: Cli) -> None:
    made = cli("task", "create", "Add login", *SHOP, "--steps", "design", "--steps", "build, then test").json
    assert (made["id"], made["title"]) == ("TASK-001", "Add login")
    assert [step["title"] for step in made["steps"]] == ["design", "build, then test"]
    assert cli("task", "create", "plan", "Second half", *SHOP).json["id"] == "PLAN-001"
    assert "--title is needed" in cli("task", "create", "plan", *SHOP).err


def test_further_steps_are_titles_too(cli: Cli) -> None:
    cli("task", "create", "Add login", *SHOP).json  # noqa: B018
    added = cli("task", "decompose", "TASK-001", "design", "build", *SHOP).json
    assert [step["title"] for step in added["steps"]] == ["design", "build"]
    as_json = cli("task", "decompose", "TASK-001", *SHOP, "--steps", '[{"title": "ship", "tests": ["pytest"]}]').json
    assert [step["title"] for step in as_json["steps"]] == ["ship"]


def test_the_log_names_the_command_line_as_the_author_of_a_sync(filled: Cli, tmp_path: Path) -> None:
    filled("sync", str(tmp_path / "memory")).json  # noqa: B018
    assert {event["by"] for event in filled("log").json["events"]} == {"cli"}
