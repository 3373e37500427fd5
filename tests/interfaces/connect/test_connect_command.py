"""`moss connect` writes an absolute path, which works in any shell."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.connect import jsonc, toml_edit
from moss_memory.connect.clients import CLIENTS, PROJECT, USER

if TYPE_CHECKING:
    from support.cli_typist import Cli

VENV_BIN = os.path.dirname(sys.executable)
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"t","version":"1"}}}\n'
)


@pytest.fixture
def active(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Activate the environment of this Moss: its folder is the first of the PATH."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "MOSS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{VENV_BIN}:/usr/bin:/bin")
    cli.environment["PATH"] = os.environ["PATH"]
    return cli


def entry_of(client: str, scope: str = USER) -> Any:
    form = toml_edit if CLIENTS[client].toml else jsonc
    return form.find_value(Path(CLIENTS[client].file(scope)).read_text(), (CLIENTS[client].under, "moss"))


def words_of(client: str, scope: str = USER) -> list[str]:
    entry = entry_of(client, scope)
    command = entry["command"]
    return command if isinstance(command, list) else [command, *entry["args"]]


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_an_absolute_path_also_if_moss_is_on_the_path(active: Cli, client: str) -> None:
    active("connect", client)
    assert words_of(client)[0] == os.path.join(VENV_BIN, "moss")


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode"])
def test_the_entry_starts_in_a_shell_without_that_path(active: Cli, client: str) -> None:
    assert active.process("connect", client).code == 0
    done = subprocess.run(
        words_of(client), input=HELLO, capture_output=True, env={"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"]}
    )
    assert b'"serverInfo"' in done.stdout, done.stderr


def test_the_hooks_name_an_absolute_path_too(active: Cli) -> None:
    active("connect", "claude-code", "--hooks")
    hooks = jsonc.parse(Path(CLIENTS["claude-code"].hooks_file(USER)).read_text())["hooks"]
    lines = [group["hooks"][0]["command"] for groups in hooks.values() for group in groups]
    assert [shlex.split(line)[:2] for line in lines] == [[os.path.join(VENV_BIN, "moss"), "prime"]] * 2


def test_connecting_again_replaces_a_bare_name_and_never_writes_one(active: Cli) -> None:
    path = Path(CLIENTS["codex"].file(USER))
    path.parent.mkdir()
    path.write_text('[mcp_servers.moss]\ncommand = "moss"\nargs = ["mcp", "--toolsets", "core"]\n')
    active("connect", "codex")
    assert words_of("codex")[0] == os.path.join(VENV_BIN, "moss")
    before = path.read_bytes()
    assert active("connect", "codex").json["changed"] is False
    assert path.read_bytes() == before


def test_a_projects_entry_keeps_an_absolute_path_that_its_owner_wrote(active: Cli, tmp_path: Path) -> None:
    own = executable(tmp_path / "opt" / "moss", "#!/bin/sh\n")
    path = Path(CLIENTS["cursor"].file(PROJECT))
    path.parent.mkdir()
    path.write_text(f'{{"mcpServers": {{"moss": {{"command": "{own}", "args": ["mcp"]}}}}}}')
    active("connect", "cursor", "--scope", "project")
    assert words_of("cursor", PROJECT) == [str(own), "mcp", "--toolsets", "core"]
    own.unlink()
    active("connect", "cursor", "--scope", "project")
    assert words_of("cursor", PROJECT)[0] == "moss"


def test_without_a_script_of_its_own_moss_is_started_by_its_python(
    active: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare" / "python"
    bare.parent.mkdir()
    bare.symlink_to(sys.executable)
    monkeypatch.setattr("sys.executable", str(bare))
    monkeypatch.setenv("PATH", "/nowhere")
    active("connect", "cursor")
    assert words_of("cursor") == [str(bare), "-m", "moss_memory", "mcp", "--toolsets", "core"]
    active("connect", "claude-code", "--hooks")
    before = Path(CLIENTS["claude-code"].hooks_file(USER)).read_bytes()
    assert active("connect", "claude-code", "--hooks").json["hooks"]["changed"] is False
    assert Path(CLIENTS["claude-code"].hooks_file(USER)).read_bytes() == before
    assert active("connect", "claude-code", "--remove").json["hooks"]["events"] == []


def test_claude_gets_the_absolute_path(active: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude = (
        '#!/bin/sh\ncase "$2" in remove) rm "$HOME/.claude.json" ;; '
        '*) printf \'{"mcpServers": {"moss": %s}}\' "$6" > "$HOME/.claude.json" ;; esac\n'
    )
    executable(tmp_path / "bin" / "claude", claude)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{VENV_BIN}:/usr/bin:/bin")
    active("connect", "claude-code")
    assert words_of("claude-code")[0] == os.path.join(VENV_BIN, "moss")


def test_the_path_is_executable(active: Cli) -> None:
    active("connect", "gemini")
    assert os.stat(words_of("gemini")[0]).st_mode & stat.S_IXUSR
