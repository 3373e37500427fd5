"""`moss connect --remove` restores an earlier entry `moss` byte for byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from moss_memory.connect import jsonc
from moss_memory.connect.clients import CLIENTS, USER

if TYPE_CHECKING:
    from support.cli_typist import Cli

FOUND = {
    "json": ("cursor", '{"mcpServers": {"moss": {"command": "/opt/moss" , // mine\n "n": 1.50}}, /* c */ "a": 1}'),
    "of moss": ("cursor", '{\n  "mcpServers": {\n    "moss": {"command": "moss", "args": ["mcp"]}\n  }\n}\n'),
    "a token": ("zed", '{"context_servers": {"moss": {"url": "https://x/mcp", "headers": {"A": "B"}}}}\n'),
    "no object": ("cursor", '{"mcpServers": {"moss": null, "b": {}}}'),
    "toml": ("codex", 'a = 1\n\n[mcp_servers.moss]\ncommand = "/opt/moss" # mine\n\n[b]\n'),
    "two tables": (
        "codex",
        "[mcp_servers.moss]\r\ncommand = 'x'\r\n\r\n[b]\r\nc = 1\r\n\r\n[mcp_servers.moss.env]\r\nD = 2024-01-31\r\n",
    ),
    "a dotted key": ("codex", "mcp_servers.moss.command = 'x' # first\nz = 1\n"),
}
WAYS = [[], ["--toolsets", "capsule"], ["--http"]]


@pytest.fixture
def at_home(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Use an empty home folder without client programs on the path."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "MOSS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    return cli


def write(client: str, text: str) -> Path:
    path = Path(CLIENTS[client].file(USER))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def forget_copies(path: Path) -> None:
    for copy in path.parent.glob(f"{path.name}.before-moss*"):
        copy.unlink()


@pytest.mark.parametrize("copies", ["kept", "deleted"])
@pytest.mark.parametrize(("client", "text"), FOUND.values(), ids=FOUND)
def test_the_file_is_restored_after_any_number_of_connections(
    at_home: Cli, client: str, text: str, copies: str
) -> None:
    path = write(client, text)
    for way in WAYS:
        assert at_home("connect", client, *way).code == 0
        if copies == "deleted":
            forget_copies(path)
    told = at_home("connect", client, "--remove").json
    assert path.read_bytes() == text.encode()
    assert told["changed"] is True


@pytest.mark.parametrize("copies", ["kept", "deleted"])
def test_later_changes_by_others_stay(at_home: Cli, copies: str) -> None:
    own = '{"command": "/opt/moss", /* mine */ "args": []}'
    path = write("cursor", f'{{\n  "mcpServers": {{\n    "moss": {own}\n  }}\n}}\n')
    for way in WAYS:
        at_home("connect", "cursor", *way)
        path.write_text(jsonc.set_value(path.read_text(), ("mcpServers", f"new{way}"), {"command": "x"}))
    if copies == "deleted":
        forget_copies(path)
    at_home("connect", "cursor", "--remove")
    assert f'"moss": {own}' in path.read_text()
    assert len(jsonc.parse(path.read_text())["mcpServers"]) == 1 + len(WAYS)


def test_a_file_without_an_earlier_entry_is_restored_without_its_copy(at_home: Cli) -> None:
    text = '{ "a": [1, 2,], // b\n}\n'
    path = write("cursor", text)
    for way in WAYS:
        at_home("connect", "cursor", *way)
        forget_copies(path)
    assert at_home("connect", "cursor", "--remove").json["connected"] == "no"
    assert path.read_text() == text


def test_an_entry_written_by_moss_does_not_count_as_an_earlier_one(at_home: Cli) -> None:
    path = write("codex", "a = 1\n")
    at_home("connect", "codex")
    path.write_text(path.read_text() + "\n[mcp_servers.b]\ncommand = 'b'\n")
    at_home("connect", "codex", "--toolsets", "task")
    forget_copies(path)
    assert at_home("connect", "codex", "--remove").json["connected"] == "no"
    assert tomllib.loads(path.read_text()) == {"a": 1, "mcp_servers": {"b": {"command": "b"}}}


def test_a_restored_entry_can_be_removed_too(at_home: Cli) -> None:
    path = write("cursor", FOUND["of moss"][1])
    at_home("connect", "cursor")
    told = at_home("connect", "cursor", "--remove").json
    assert (told["connected"], "from before is restored" in told["next"]) == ("stdio", True)
    assert at_home("connect", "cursor", "--remove").json["connected"] == "no"
    assert json.loads(path.read_text()) == {"mcpServers": {}}


def test_an_entry_rewritten_by_its_owner_is_the_one_that_is_restored(at_home: Cli) -> None:
    path = write("cursor", '{"mcpServers": {"moss": {"command": "first"}}}')
    at_home("connect", "cursor")
    path.write_text('{"mcpServers": {}}')
    at_home("connect", "cursor")
    at_home("connect", "cursor", "--remove")
    assert path.read_text() == '{"mcpServers": {}}'


def test_a_dry_run_shows_the_entry_to_restore_and_changes_nothing(at_home: Cli) -> None:
    path = write("codex", FOUND["toml"][1])
    at_home("connect", "codex")
    connected = path.read_bytes()
    for _ in range(2):
        assert '+command = "/opt/moss" # mine' in at_home("connect", "codex", "--remove", "--dry-run").out
    assert path.read_bytes() == connected
    at_home("connect", "codex", "--remove")
    assert path.read_text() == FOUND["toml"][1]


def test_saved_entries_are_private_and_deleted_by_the_removal(at_home: Cli) -> None:
    write("zed", FOUND["a token"][1])
    at_home("connect", "zed")
    folder = Path(at_home.home) / "connected"
    (kept,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o700, 0o600)
    at_home("connect", "zed", "--remove")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("broken", [b"", b"[]", b"{}", b'{"before": 7, "at": "x"}', b"\xff"])
def test_unreadable_saved_entries_are_ignored(at_home: Cli, broken: bytes) -> None:
    path = write("cursor", "{}")
    at_home("connect", "cursor")
    (kept,) = (Path(at_home.home) / "connected").iterdir()
    kept.write_bytes(broken)
    assert at_home("connect", "cursor", "--remove").json["connected"] == "no"
    assert path.read_text() == "{}"


OWN = """#!/bin/sh
echo "$@" >> "$HOME/told"
case "$2" in
  remove) printf '{"mcpServers": {}}' > "$HOME/.claude.json" ;;
  *) printf '{"mcpServers": {"moss": %s}}' "$6" > "$HOME/.claude.json" ;;
esac
"""


def test_claude_code_restores_the_entry_itself(at_home: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude = tmp_path / "bin" / "claude"
    claude.parent.mkdir()
    claude.write_text(OWN)
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    own = {"type": "stdio", "command": "/opt/moss", "args": []}
    path = write("claude-code", json.dumps({"mcpServers": {"moss": own}}))
    at_home("connect", "claude-code")
    at_home("connect", "claude-code", "--remove")
    assert json.loads(path.read_text()) == {"mcpServers": {"moss": own}}
    told = [line.split()[1] for line in (tmp_path / "told").read_text().splitlines()]
    assert told == ["remove", "add-json", "remove", "add-json"]


@pytest.mark.parametrize("before", [None, '{"a": 1}\n'], ids=["no file", "a file"])
@pytest.mark.parametrize("copies", ["kept", "deleted"])
def test_an_entry_changed_by_the_user_is_restored(at_home: Cli, before: str | None, copies: str) -> None:
    path = Path(CLIENTS["cursor"].file(USER)) if before is None else write("cursor", before)
    at_home("connect", "cursor")
    theirs = jsonc.set_value(path.read_text(), ("mcpServers", "moss", "command"), "/opt/wrapper")
    path.write_text(theirs)
    for way in WAYS:
        at_home("connect", "cursor", *way)
        assert "/opt/wrapper" not in path.read_text()
        if copies == "deleted":
            forget_copies(path)
    at_home("connect", "cursor", "--remove")
    assert path.read_text() == theirs


def test_an_entry_with_an_added_member_is_removed(at_home: Cli) -> None:
    path = Path(CLIENTS["cursor"].file(USER))
    at_home("connect", "cursor")
    path.write_text(jsonc.set_value(path.read_text(), ("mcpServers", "moss", "autoApprove"), ["capsule_list"]))
    at_home("connect", "cursor", "--http")
    assert "autoApprove" in path.read_text()
    at_home("connect", "cursor", "--remove")
    assert not path.exists() or "moss" not in jsonc.parse(path.read_text()).get("mcpServers", {})
