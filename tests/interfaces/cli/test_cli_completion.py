"""Shell completion: commands, options, and valid values after an option."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL
from moss_memory import open_store
from moss_memory.cli.args.built_in_commands import BUILT_IN
from moss_memory.cli.args.command_names import command_names
from moss_memory.cli.commands import shell_completion
from moss_memory.registry import catalog, write_tool_index
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from support.cli_typist import Cli


def offered(cli: Cli, *typed: str) -> set[str]:
    """Return the completions of bash for the last word."""
    return set(filter(None, _bash(cli, *typed)))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_and_short(cli: Cli, shell: str) -> None:
    printed = cli("completion", shell).out
    assert printed == shell_completion.SCRIPTS[shell]
    assert len(printed.splitlines()) < 30


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["moss", "sto"], {"store"}),
        (["moss", "fetch", "--na"], {"--name"}),
        (["moss", "fetch", "--no"], {"--no-include-text"}),
        (["moss", "capsule", "bulk"], {"bulk-delete", "bulk-update"}),
        (["moss", "capsule", "store", "--mo"], {"--mode"}),
        (["moss", "import", "--mode", "re"], {"replace", "rename"}),
        (["moss", "store", "--mode", "=", "re"], {"replace"}),
        (["moss", "store", "--mode", "="], {"error", "replace"}),
        (["moss", "completion", "z"], {"zsh"}),
        (["moss", "help", "comp"], {"compose", "completion"}),
        (["moss", "search", "--types", "caps"], {"capsule"}),
        (["moss", "mcp", "--toolsets", "re"], {"reasoning", "record"}),
        (["moss", "tour", "--"], {"--help"}),
        (["moss", "fetch", "--workspace", ""], set()),
        (["moss", "list", "--limit", ""], set()),
        (["moss", "capsule", "fetch", "--name", "--"], set()),
        (["moss", "store", "--allow-thin", "--fi"], {"--file"}),
        (["moss", "his"], {"history"}),
        (["moss", "graph", "con"], {"conflicts", "conflict-show", "conflict-resolve"}),
        (["moss", "graph", "dr"], {"draw"}),
        (["moss", "graph", "conflict-resolve", "CONFLICT-1", "use"], {"use_content", "use_from", "use_into"}),
        (["moss", "graph", "conflict-resolve", "--resolution", "use_f"], {"use_from"}),
        (["moss", "notes", "show", "--re"], {"--ref"}),
        (["moss", "notes", "show", "-w", ""], set()),
        (["moss", "branch", "checkout", "--bra"], {"--branch"}),
        (["moss", "task", "done", "--path", "not"], set()),
    ],
)
def test_bash_completes(cli: Cli, typed: list[str], expected: set[str]) -> None:
    assert offered(cli, *typed) == expected


@pytest.mark.parametrize("typed", [
    ["store", "--file"], ["import", "--path"], ["import"], ["backup"], ["notes", "add", "--file"],
    ["graph", "draw", "--output"], ["graph", "draw", "-o"],
])  # fmt: skip
def test_bash_offers_files_for_a_file_argument(cli: Cli, tmp_path: Path, typed: list[str]) -> None:
    (tmp_path / "work" / "notes.md").write_text("")
    assert offered(cli, "moss", *typed, "not") == {"notes.md"}


def test_every_command_in_the_help_is_offered(cli: Cli) -> None:
    declared = [name for one in catalog.every_operation() for name in write_tool_index.command_names(one)]
    assert set(command_names()) == {*BUILT_IN, *declared}
    firsts = {name.partition(" ")[0] for name in command_names()}
    assert {one for one in offered(cli, "moss", "") if not one.startswith("-")} == firsts


def test_the_commands_of_two_families_are_distinguished(cli: Cli) -> None:
    for command, has_text in (("store", True), ("capsule store", True), ("artifact store", False)):
        words = ["moss", *command.split(), "--capsule"]
        assert offered(cli, *words) == ({"--capsule-text"} if has_text else set()), command


def test_an_option_comes_with_its_description(cli: Cli) -> None:
    lines = cli("__complete", "fetch", "--work").out.splitlines()
    assert [line.partition("\t")[0] for line in lines] == ["--workspace"]
    assert "namespace" in lines[0].partition("\t")[2]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["store", "--mode=re"], "--mode=replace\t\n"),
        (["store", "--mode", "=", "re"], "replace\t\n"),
        (["--home", "/nowhere", "sto"], "store\t\n"),
        (["--home", "=", "/nowhere", "capsule", "sto"], "store\t\n"),
        (["--home", ""], "folders\n"),
        (["fetch", "--home", ""], "folders\n"),
        (["config", "se"], "set\t\n"),
    ],
)
def test_the_program_prints_one_candidate_per_line(cli: Cli, typed: list[str], expected: str) -> None:
    assert cli("__complete", *typed).out == expected


# Names from the store


def fill(cli: Cli) -> None:
    with open_store(cli.home) as store:
        for workspace, name in (
            ("default", "auth"), ("default", "auth flow"), ("default", "billing"), ("shop", "cart"),
            ("My Shop", "café"),
        ):  # fmt: skip
            store.capsule_store(capsule_text=FULL, workspace=workspace, name=name)
        store.artifact_store(kind="k", data={}, name="plan")
        store.tasks_create(workspace="shop", kind="task", title="Build")
        store.branchmind_branch_create(workspace="shop", name="what-if")


NAMES = [
    (["fetch", ""], ["billing", "auth flow", "auth", "My Shop/", "shop/"]),
    (["fetch", "au"], ["auth flow", "auth"]),
    (["fetch", "sh"], ["shop/"]),
    (["fetch", "shop/"], ["shop/cart"]),
    (["update", "shop/c"], ["shop/cart"]),
    (["fetch", "-w", "shop", ""], ["cart"]),
    (["fetch", "--name", "b"], ["billing"]),
    (["fetch-many", "auth", "b"], ["billing"]),
    (["capsule", "delete", "b"], ["billing"]),
    (["edit", "b"], ["billing"]),
    (["versions", "b"], ["billing"]),
    (["artifact", "fetch", ""], ["plan"]),
    (["list", "-w", "s"], ["shop"]),
    (["rename", "auth", "--new-workspace", "m"], ["My Shop"]),
    (["workspace", "delete", "s"], ["shop"]),
    (["workspace", "rename", "s"], ["shop"]),
    (["task", "show", "-w", "shop", ""], ["TASK-001"]),
    (["task", "note", "-w", "shop", "--target", ""], ["TASK-001"]),
    (["branch", "merge", "-w", "shop", "wh"], ["what-if"]),
    (["notes", "show", "-w", "shop", "wh"], ["what-if"]),
    (["task", "show", ""], []),
    (["fetch", "nothing"], []),
    (["fetch", "nowhere/"], []),
    (["store", ""], []),
]


@pytest.mark.parametrize("shell", [one for one in ("bash", "zsh", "fish") if shutil.which(one)])
def test_names_and_workspaces_of_the_store_are_offered(cli: Cli, shell: str) -> None:
    fill(cli)
    for typed, expected in NAMES:
        offered = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](cli, "moss", *typed)
        assert _of_the_store(offered) == sorted(expected), typed


def _of_the_store(offered: list[str]) -> list[str]:
    return sorted(one.replace("\\", "") for one in offered if one and not one.startswith("-"))


def _bash(cli: Cli, *typed: str) -> list[str]:
    words = " ".join(f"'{word}'" for word in typed)
    line = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _moss; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return _shell(cli, ["bash"], f"{shell_completion.SCRIPTS['bash']}\n{line}\n")


def _zsh(cli: Cli, *typed: str) -> list[str]:
    adds = 'compadd() { while [[ "$1" != "--" ]]; do shift; done; shift; (( $# )) && print -rl -- "$@" }'
    faked = f"compdef() {{ }}\n{adds}\n_files() {{ }}\n{shell_completion.SCRIPTS['zsh']}\n"
    words = " ".join(f"'{word}'" for word in typed)
    return _shell(cli, ["zsh", "-f"], f"{faked}words=({words}); CURRENT=$#words; _moss; true\n")


def _fish(cli: Cli, *typed: str) -> list[str]:
    asked = f"{shell_completion.SCRIPTS['fish']}\ncomplete -C '{' '.join(typed)}'\n"
    return [one.partition("\t")[0] for one in _shell(cli, ["fish", "--no-config"], asked)]


def _shell(cli: Cli, command: list[str], script: str) -> list[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**cli.environment, "PATH": path, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, env=environment, input=script.encode(), capture_output=True, timeout=TIMEOUT_S, check=True
    )
    assert done.stderr == b""
    return done.stdout.decode().split("\n")[:-1]


def test_bash_escapes_a_name_of_two_words_unless_a_quote_is_open(cli: Cli) -> None:
    fill(cli)
    assert _bash(cli, "moss", "fetch", "auth\\ ") == ["auth\\ flow"]
    assert _bash(cli, "moss", "fetch", '"auth ') == ["auth flow"]
    assert _bash(cli, "moss", "fetch", "My\\ Shop/") == ["My\\ Shop/café"]


@pytest.mark.unmeasured
def test_completing_creates_no_store_loads_no_model_and_refuses_nothing(cli: Cli) -> None:
    for words in (
        ["fetch", "--name", ""],
        ["fetch", "-w", ""],
        ["nonsense", ""],
        ["task", "note", "-w", "x" * 300, "--target", ""],
        ["fetch", "--home", "/dev/null", "--name", ""],
        ["fetch", "--name", os.fsdecode(b"\xff")],
    ):
        done = cli("__complete", *words)
        assert (done.code, done.out, done.err) == (0, "", "")
    assert not os.path.exists(os.path.join(cli.home, "moss.db"))
    fill(cli)
    for typed in (["fetch", "a"], ["fetch", "--"], [""]):
        asked = f"import sys; from moss_memory.cli.main import run; run(['__complete', *{typed!r}])"
        slow = "print([one for one in ('numpy', 'onnxruntime', 'asyncio', 'typing') if one in sys.modules])"
        assert _shell(cli, [sys.executable], f"{asked}; {slow}")[-1] == "[]"
