"""How the command starts: what it imports, when it serves, its version, its tour, its completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory import __version__
from moss_memory.surfaces.cli import completion, tour
from moss_memory.surfaces.cli.help import command_names

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
HEAVY = {
    "argparse", "asyncio", "contextlib", "dataclasses", "difflib", "gettext", "inspect", "locale", "logging", "mcp",
    "msgspec", "numpy", "pathlib", "psycopg", "shutil", "subprocess", "tempfile", "traceback", "typing",
}  # fmt: skip


@pytest.mark.parametrize("words", [["fetch", "--name", "auth"], ["store", "--allow-thin", "--capsule-text", "x"]])
@pytest.mark.usefixtures("auth")
def test_a_plain_command_imports_nothing_heavy(cli: Cli, words: list[str]) -> None:
    start = f"import sys; sys.argv[1:] = {words!r}; from moss_memory.surfaces.cli.main import main; main()"
    imported = imports_of(cli, start) - imports_of(cli, "pass")
    assert "apsw" in imported
    assert not {name for name in imported if name.partition(".")[0] in HEAVY}


def imports_of(cli: Cli, code: str) -> set[str]:
    """The modules that a fresh interpreter imports for this code."""
    line = [sys.executable, "-I", "-X", "importtime", "-c", code]
    done = subprocess.run(line, env=cli.environment, capture_output=True, timeout=30, check=True)
    return {row.rpartition(b"|")[2].strip().decode() for row in done.stderr.splitlines()}


@pytest.mark.parametrize("words", [[], ["mcp"], ["mcp", "--toolsets", "capsule"], ["--home", "elsewhere"]])
def test_a_piped_stdin_is_served(cli: Cli, words: list[str]) -> None:
    outcome = cli.process(*words, stdin=PING)
    assert outcome.code == 0
    assert json.loads(outcome.out) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_an_unknown_toolset_is_fatal(cli: Cli) -> None:
    outcome = cli.process("mcp", "--toolsets", "capsule,nope", stdin=PING)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "'nope'" in outcome.err


def test_the_version_is_told(cli: Cli) -> None:
    assert cli("--version").out == f"moss {__version__}\n"


def test_the_overview_names_every_command(cli: Cli) -> None:
    overview = cli("--help").out
    assert cli("help").out == overview
    for name in command_names():
        assert f"  {name} " in overview or name.startswith("capsule ")


def test_a_family_lists_its_commands(cli: Cli) -> None:
    shown = cli("capsule").out
    assert cli("capsule", "--help").out == shown == cli("help", "capsule").out
    assert "capsule fetch-many " in shown


def test_windows_is_told_to_use_wsl(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    outcome = cli("list")
    assert outcome.code == 1
    assert "WSL" in outcome.err


def test_the_tour_ends_well_and_leaves_nothing_behind(cli: Cli, tmp_path: Path) -> None:
    cli.environment["TMPDIR"] = str(tmp_path)
    before = set(os.listdir(tmp_path))
    outcome = cli.process("tour", stdin=b"")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    for shown in ("[CAPSULE_TOO_THIN]", "$ moss fetch", "$ moss search", "$ moss append", "$ moss compose"):
        assert shown in outcome.out
    for client in ("claude mcp add moss -- moss mcp", "codex mcp add moss -- moss mcp", "Cursor", "VS Code", "Gemini"):
        assert client in outcome.out
    assert set(os.listdir(tmp_path)) == before


def test_the_tour_ignores_the_settings_around_it(cli: Cli) -> None:
    os.mkdir(".moss")
    with open(".moss/config.json", "w", encoding="utf-8") as file:
        file.write('{"capsule_max_chars": 10}')
    assert cli("tour").code == 0


def test_a_tour_that_is_not_true_fails_loudly(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "_THIN", tour._AUTH)
    outcome = cli("tour")
    assert outcome.code == 1
    assert "was not refused" in outcome.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shipped_completion_is_not_stale(cli: Cli, shell: str) -> None:
    fresh = completion.script(shell)
    assert cli("completion", shell).out == fresh, "run python -m moss_memory.surfaces.cli.completion"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["moss", "sto"], {"store"}),
        (["moss", "fetch", "--na"], {"--name"}),
        (["moss", "fetch", "--no"], {"--no-include-text"}),
        (["moss", "capsule", "bulk"], {"bulk-delete", "bulk-update"}),
        (["moss", "capsule", "store", "--mo"], {"--mode"}),
        (["moss", "import", "--mode", "re"], {"replace", "rename"}),
        (["moss", "completion", "z"], {"zsh"}),
    ],
)
def test_bash_completes(cli: Cli, typed: list[str], offered: set[str]) -> None:
    words = " ".join(f"'{word}'" for word in typed)
    line = (
        f"{completion.script('bash')}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _moss; echo ${{COMPREPLY[*]}}"
    )
    done = subprocess.run(["bash", "-c", line], env=cli.environment, capture_output=True, timeout=30, check=True)
    assert done.stderr == b""
    assert set(done.stdout.decode().split()) == offered


def test_the_module_starts_as_the_script_does(cli: Cli, auth: dict[str, Any]) -> None:
    assert cli.process("fetch", auth["id"]).json["id"] == auth["id"]
