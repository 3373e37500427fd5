"""`moss prime`: what is open here, in a few lines, and nothing where nothing is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.cli_typist import Cli


def test_nothing_open_says_nothing_and_makes_no_store(cli: Cli) -> None:
    outcome = cli("prime")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert not os.path.exists(cli.home)


def test_it_tells_the_open_task_and_the_latest_hand_over_without_its_text(cli: Cli, capsule: str) -> None:
    cli("store", "shop/auth", "--title", "Sign-in", stdin=capsule)
    cli("task", "create", "task", "Rotate the keys", "-w", "shop")
    lines = cli("prime", "-w", "shop").out.splitlines()
    assert lines[0] == "Moss, workspace shop:"
    assert lines[1] == "- open: TASK-001 Rotate the keys (TODO)"
    assert lines[-1] == "- latest hand-over: Sign-in; load it with capsule_fetch (workspace 'shop', name 'auth')"
    assert "refresh tokens" not in "\n".join(lines)


def test_it_stays_within_two_thousand_characters_on_one_line_each(cli: Cli) -> None:
    for number in range(3):
        cli("task", "create", "task", f"{number} " + "long " * 190, "-w", "shop")
    cli("store", "shop/a", "--title", "t " * 100, "--allow-thin", stdin="x")
    out = cli("prime", "-w", "shop").out
    assert 0 < len(out) <= 2_001
    assert len(out.splitlines()) <= 6


def fill(cli: Cli, capsule: str) -> None:
    cli("store", "shop/auth", "--title", "Sign-in", stdin=capsule)
    cli("task", "create", "task", "Rotate the keys", "-w", "shop")
    cli("task", "create", "task", "Count the keys", "-w", "shop")
    cli("store", "admin/menu", "--title", "The menu", stdin=capsule)
    cli("task", "create", "task", "Ship it", "-w", "infra")


def test_without_a_default_workspace_each_with_something_open_has_a_line(cli: Cli, capsule: str) -> None:
    fill(cli, capsule)
    lines = cli("prime").out.splitlines()
    assert lines[1:] == [
        "- infra: 1 open task",
        "- admin: latest hand-over: The menu (capsule_fetch workspace 'admin', name 'menu')",
        "- shop: 2 open tasks; latest hand-over: Sign-in (capsule_fetch workspace 'shop', name 'auth')",
    ]
    assert "refresh tokens" not in "\n".join(lines)


def test_the_only_workspace_with_something_open_is_told_in_full(cli: Cli, capsule: str) -> None:
    cli("store", "shop/auth", "--title", "Sign-in", stdin=capsule)
    cli("task", "create", "task", "Rotate the keys", "-w", "shop")
    assert cli("prime").out == cli("prime", "-w", "shop").out
    assert cli("prime").out.startswith("Moss, workspace shop:\n- open: TASK-001 Rotate the keys (TODO)\n")


def test_a_workspace_in_which_nothing_is_open_has_no_line(cli: Cli) -> None:
    cli("notes", "commit", "seen", "-w", "quiet")
    assert cli("prime").out == ""


def test_many_workspaces_stay_within_the_limit_and_the_rest_is_counted(cli: Cli) -> None:
    for number in range(14):
        cli("store", f"w{number}/a", "--title", "long " * 30, "--allow-thin", stdin="x")
    out = cli("prime").out
    assert 0 < len(out) <= 2_001
    assert out.splitlines()[1].startswith("- w13: ")
    assert out.splitlines()[-1].startswith("- and ")


def repository(name: str) -> None:
    os.makedirs(f"{name}/.git/refs")
    with open(f"{name}/.git/HEAD", "w", encoding="ascii") as file:
        file.write("ref: refs/heads/main\n")


def test_the_repository_is_the_workspace_if_there_is_one_of_its_name(
    cli: Cli, capsule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cli, capsule)
    repository("Shop")
    os.makedirs("Shop/src/deep")
    monkeypatch.chdir("Shop/src/deep")
    assert cli("prime").out == cli("prime", "-w", "shop").out
    assert "(workspace 'shop';" in cli("prime", "--before-compaction").out
    monkeypatch.setenv("MOSS_WORKSPACE", "admin")
    assert cli("prime").out == cli("prime", "-w", "admin").out


def test_a_worktree_and_a_bare_repository_have_the_name_of_the_main_work_tree(
    cli: Cli, capsule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cli, capsule)
    repository("shop")
    os.makedirs("shop/.git/worktrees/fix")
    os.makedirs("elsewhere")
    os.makedirs("admin.git/worktrees/try")
    os.makedirs("tried")
    for path, text in {
        "shop/.git/worktrees/fix/commondir": "../..\n",
        "elsewhere/.git": f"gitdir: {os.getcwd()}/shop/.git/worktrees/fix\n",
        "admin.git/worktrees/try/commondir": "../..\n",
        "tried/.git": "gitdir: ../admin.git/worktrees/try\n",
    }.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    whole = {name: cli("prime", "-w", name).out for name in ("shop", "admin")}
    start = os.getcwd()
    monkeypatch.chdir("elsewhere")
    assert cli("prime").out == whole["shop"]
    monkeypatch.chdir(f"{start}/tried")
    assert cli("prime").out == whole["admin"]


def test_a_submodule_has_its_own_name(cli: Cli, capsule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cli, capsule)
    repository("infra")
    os.makedirs("infra/.git/modules/shop")
    os.makedirs("infra/shop")
    with open("infra/shop/.git", "w", encoding="ascii") as file:
        file.write("gitdir: ../.git/modules/shop\n")
    monkeypatch.chdir("infra/shop")
    assert cli("prime").out == cli("prime", "-w", "shop").out


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: /nowhere/at/all\n", b"\xff" * 100, b"x" * 100_000])
def test_a_repository_that_cannot_be_read_is_none(
    cli: Cli, capsule: str, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    fill(cli, capsule)
    os.mkdir("odd")
    with open("odd/.git", "wb") as file:
        file.write(content)
    everything = cli("prime").out
    monkeypatch.chdir("odd")
    outcome = cli("prime")
    assert (outcome.code, outcome.out, outcome.err) == (0, everything, "")


def test_a_repository_without_a_workspace_shows_all(cli: Cli, capsule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cli, capsule)
    everything = cli("prime").out
    repository("another")
    monkeypatch.chdir("another")
    assert cli("prime").out == everything
    assert "workspace 'default'" in cli("prime", "--before-compaction").out
