"""Start of the command: imports, serving, version, tour and completion."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import on_terminal
from moss_memory import __version__
from moss_memory.cli.args.command_names import command_names
from moss_memory.cli.commands import tour
from moss_memory.cli.commands.serve import _warn_empty
from moss_memory.connect.moss_command import moss_for_clients, stdio_connect_commands
from moss_memory.mcp import tool_list
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from support.cli_typist import Cli

ROOT = Path(__file__).parents[3]
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
HEAVY = {
    "argparse", "asyncio", "contextlib", "dataclasses", "difflib", "gettext", "inspect", "locale", "logging", "mcp",
    "msgspec", "numpy", "pathlib", "psycopg", "shutil", "subprocess", "tempfile", "traceback", "typing",
}  # fmt: skip


@pytest.mark.parametrize("words", [["fetch", "--name", "auth"], ["store", "--allow-thin", "--capsule-text", "x"]])
@pytest.mark.usefixtures("auth")
def test_a_plain_command_imports_nothing_heavy(cli: Cli, words: list[str]) -> None:
    start = f"import sys; sys.argv[1:] = {words!r}; from moss_memory.cli.main import main; main()"
    imported = imports_of(cli, start) - imports_of(cli, "pass")
    assert "apsw" in imported
    assert not {name for name in imported if name.partition(".")[0] in HEAVY}


def imports_of(cli: Cli, code: str) -> set[str]:
    """Return the modules that a new interpreter imports for this code."""
    line = [sys.executable, "-I", "-X", "importtime", "-c", code]
    done = subprocess.run(line, env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=True)
    return {row.rpartition(b"|")[2].strip().decode() for row in done.stderr.splitlines()}


@pytest.mark.parametrize("words", [[], ["mcp"], ["mcp", "--toolsets", "capsule"], ["--home", "elsewhere"]])
def test_a_piped_stdin_is_served(cli: Cli, words: list[str]) -> None:
    outcome = cli.process(*words, stdin=PING)
    assert outcome.code == 0
    assert json.loads(outcome.out) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("words", [["mcp"], ["list"]])
def test_every_process_exits_without_interpreter_teardown(cli: Cli, words: list[str]) -> None:
    start = "import atexit, os; from moss_memory.cli.main import main; atexit.register(os._exit, 9); main()"
    line = [sys.executable, "-c", start, *words]
    done = subprocess.run(line, env=cli.environment, input=PING, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)


def test_an_unknown_toolset_is_fatal(cli: Cli) -> None:
    outcome = cli.process("mcp", "--toolsets", "capsule,nope", stdin=PING)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "'nope'" in outcome.err


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").out == f"moss {__version__}\n"


def test_the_overview_and_the_groups_name_every_command(cli: Cli) -> None:
    overview = cli("--help").out
    assert cli("help").out == overview
    words = overview.replace(",", "").replace(".", "").split()
    groups = {name.partition(" ")[0] for name in command_names() if " " in name} - {"capsule"}
    assert groups <= set(words)
    listed = "".join(cli(group, "--help").out for group in groups)
    for name in command_names():
        assert name.startswith("capsule ") or name in words or f"{name} " in listed, name


def test_a_family_lists_its_commands(cli: Cli) -> None:
    shown = cli("capsule").out
    assert cli("capsule", "--help").out == shown == cli("help", "capsule").out
    assert "capsule fetch-many " in shown


def test_windows_users_are_referred_to_wsl(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    outcome = cli("list")
    assert outcome.code == 1
    assert "WSL" in outcome.err


def test_the_tour_succeeds_and_leaves_no_files(cli: Cli, tmp_path: Path) -> None:
    cli.environment["TMPDIR"] = str(tmp_path)
    before = set(os.listdir(tmp_path))
    outcome = cli.process("tour", stdin=b"")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    assert outcome.out.startswith("Moss is a memory for AI coding agents")
    assert '"id":' not in outcome.out, "a terminal shows JSON"
    for shown in ("[CAPSULE_TOO_THIN]", "$ moss load", "$ moss search", "$ moss append", "$ moss compose"):
        assert shown in outcome.out
    for client, line in stdio_connect_commands():
        assert f"{client}:" in outcome.out
        assert line in outcome.out
    assert set(os.listdir(tmp_path)) == before


def test_the_tour_fits_a_terminal_of_80_columns_and_shows_its_sentences(cli: Cli) -> None:
    code, shown = on_terminal(cli, "tour", columns=80)
    assert code == 0
    commands = [line for line in shown.splitlines() if " connect " in line]
    assert [line for line in shown.splitlines() if len(line) > 80 and line not in commands] == []
    assert "Saved default/auth, version 1." in shown
    assert 'Replaced "Next actions" of default/auth, version 2.' in shown


def test_the_tour_ignores_the_settings_around_it(cli: Cli) -> None:
    os.mkdir(".moss")
    with open(".moss/config.json", "w", encoding="utf-8") as file:
        file.write('{"capsule_max_chars": 10}')
    assert cli("tour").code == 0


def test_a_tour_with_an_unexpected_result_fails(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "_THIN", tour._AUTH)
    outcome = cli("tour")
    assert outcome.code == 1
    assert "was not refused" in outcome.err


def test_the_tour_writes_the_full_path_of_a_moss_that_is_not_on_the_path(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "its place"
    folder.mkdir()
    moss = folder / "moss"
    moss.write_text("#!/bin/sh\n")
    moss.chmod(0o700)
    monkeypatch.setattr(sys, "argv", [str(moss), "tour"])
    monkeypatch.setenv("PATH", "/nowhere")
    shown = cli("tour").out
    assert f"'{moss}' connect claude-code\n" in shown
    monkeypatch.setenv("PATH", str(folder))
    shown = cli("tour").out
    assert "moss connect claude-code\n" in shown
    assert str(moss) not in shown


def test_the_documents_and_the_page_connect_clients_as_the_tour_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: moss_for_clients()[0])
    [first, *others] = [line for _, line in stdio_connect_commands()]
    for page in ("README.md", "docs/how-to/connect.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert "mcp add moss" not in text.partition("# By hand")[0], f"{page} connects in another way first"
        assert all(line.removeprefix("moss connect ") in text for line in others)
    assert first == "moss connect claude-code"
    assert first in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_server_started_by_hand_explains_that_it_waits_for_a_client(cli: Cli) -> None:
    terminal, follower = os.openpty()
    process = cli.start("mcp", stdin=follower)
    os.write(terminal, b"\x04")
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert err.startswith(b"moss: serving MCP on stdin and stdout, and waiting for a client")
    os.close(follower)
    os.close(terminal)
    assert cli.process("mcp", stdin=PING).err == ""


@pytest.mark.parametrize(
    ("toolsets", "says"),
    [
        ("reasoning", "moss: reasoning has no tools yet"),
        ("reasoning,record", "moss: reasoning and record have no tools yet"),
        ("reasoning,capsule", ""),
        ("core", ""),
    ],
)
def test_toolsets_without_tools_cause_a_warning(
    cli: Cli, toolsets: str, says: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool_list, "tool_lines", lambda: [("capsule_store", "{}"), ("moss_search", "{}")])
    _warn_empty(toolsets.split(","))
    told = capfd.readouterr().err
    assert told.startswith(says)
    assert bool(told) is bool(says)


@pytest.mark.usefixtures("auth")
def test_python_dash_m_is_the_command(cli: Cli) -> None:
    for words in (["fetch", "auth"], ["lst"], ["list", "--help"]):
        line = [sys.executable, "-m", "moss_memory", *words]
        done = subprocess.run(line, env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False)
        outcome = cli.process(*words)
        assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (outcome.code, outcome.out, outcome.err)


def test_the_module_starts_as_the_script_does(cli: Cli, auth: dict[str, Any]) -> None:
    assert cli.process("fetch", auth["id"]).json["id"] == auth["id"]
