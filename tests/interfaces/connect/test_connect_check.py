"""`moss connect --check` starts or calls connected servers, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.http_server import HttpServer

if TYPE_CHECKING:
    from support.cli_typist import Cli


@pytest.fixture
def checked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Use a command line without client programs on the path."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("MOSS_TOKEN", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return cli


def entry(path: str, server: dict[str, object]) -> None:
    file = Path(path).expanduser()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"moss": server}}))


def test_a_connected_client_shakes_hands(checked: Cli) -> None:
    checked("connect", "cursor")
    (row,) = checked("connect", "cursor", "--check").json["clients"]
    assert row["answers"] == "yes"
    assert row["server"].startswith("moss ")
    assert 10 <= row["tools"] <= 18


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ({"command": "/nowhere/moss"}, "cannot be started"),
        ({"command": "/bin/true"}, "it ended without an answer"),
        ({"command": "/bin/echo", "args": ["hello"]}, "its answer is not MCP: 'hello'"),
        ({"command": "/bin/echo", "args": ['{"id": 1, "result": 7}']}, "its answer to the handshake is not valid"),
        ({"command": "/bin/sh", "args": ["-c", "echo no such option >&2; exit 2"]}, "no such option"),
        ({"url": "http://127.0.0.1:1/mcp"}, "nothing answers at http://127.0.0.1:1/mcp"),
        ({}, "names neither a command nor an address"),
    ],
)
def test_a_server_that_does_not_answer_fails_with_the_reason(
    checked: Cli, server: dict[str, object], problem: str
) -> None:
    entry("~/.cursor/mcp.json", server)
    outcome = checked("connect", "--check")
    assert outcome.code == 1
    (row,) = [row for row in json.loads(outcome.out)["clients"] if row["client"] == "cursor"]
    assert row["answers"] == "no"
    assert problem in row["problem"]
    assert json.loads(outcome.out)["failed"] == ["cursor"]


def test_a_projects_file_starts_no_other_program(checked: Cli, tmp_path: Path) -> None:
    entry(".cursor/mcp.json", {"command": "/bin/sh", "args": ["-c", f"touch {tmp_path}/started"]})
    outcome = checked("connect", "--check")
    assert "not tried: the project's file starts '/bin/sh'" in outcome.out
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    "odd",
    [{"args": ["store", "planted"]}, {"args": ["--toolsets", "core", "mcp"]}, {"env": {"PATH": "."}},
     {"env": {"PYTHONPATH": "."}}, {"env": {"MOSS_URL": "postgresql://192.0.2.1/x"}}],
)  # fmt: skip
def test_a_projects_file_starts_moss_only_as_a_server(checked: Cli, odd: dict[str, object]) -> None:
    entry(".cursor/mcp.json", {"command": "moss", "args": ["mcp"], **odd})
    assert "not tried: the project's file " in checked("connect", "--check").out
    assert json.loads(checked("list").out)["items"] == []


@pytest.mark.parametrize("url", ["https://192.0.2.1/mcp", "http://127.0.0.1.invalid/mcp"])
def test_a_projects_file_sends_the_token_to_no_other_machine(checked: Cli, url: str) -> None:
    entry(".cursor/mcp.json", {"url": url, "headers": {"Authorization": "Bearer ${env:MOSS_TOKEN}"}})
    assert "not tried: the project's file names another machine" in checked("connect", "--check").out


def test_a_server_over_http_shakes_hands_with_the_token_of_the_client(
    checked: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpServer(Path(checked.home)) as server:
        for client in ("cursor", "codex"):
            checked("connect", client, "--http", "--url", server.address)
            (row,) = checked("connect", client, "--check").json["clients"]
            assert (row["connected"], row["answers"]) == ("http", "yes")
            assert 10 <= row["tools"] <= 18
        checked("connect", "vs-code", "--http", "--url", server.address, "--scope", "project")
        refused = checked("connect", "vs-code", "--check", "--scope", "project")
        assert "the server refuses the token (401)" in refused.out
        monkeypatch.setenv("MOSS_TOKEN", server.token)
        assert checked("connect", "vs-code", "--check", "--scope", "project").json["clients"][0]["answers"] == "yes"
