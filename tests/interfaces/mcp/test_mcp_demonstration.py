"""The folder of a demonstration cannot be used as a store, neither while it exists nor afterwards."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.conftest import capsule, cli
from moss_memory import open_store
from moss_memory.async_store import open_async_store
from moss_memory.config import load_config
from support.store_truth import refusal
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from support.cli_typist import Cli

__all__ = ["capsule", "cli"]


@pytest.fixture(params=["gone", "there"])
def home(request: pytest.FixtureRequest, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a demonstration that has ended, or of a running one."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    cli.environment["TMPDIR"] = str(folder)
    made = folder / "moss-demo-abcd1234"
    if request.param == "there":
        made.mkdir()
    return made


def answers(cli: Cli, home: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    for number, (tool, arguments) in enumerate(calls, 1):
        params = {"name": tool, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    sent = "".join(json.dumps(one) + "\n" for one in messages).encode()
    outcome = cli.process("mcp", "--home", str(home), stdin=sent)
    found = {one["id"]: one["result"] for one in map(json.loads, outcome.out.splitlines())}
    assert "serverInfo" in found[0]
    return [found[number] for number in range(1, len(calls) + 1)]


def test_a_connected_agent_gets_an_error_and_nothing_is_created(cli: Cli, home: Path, capsule: str) -> None:
    was_there = home.exists()
    told = answers(
        cli, home, ("capsule_store", {"name": "a", "capsule_text": capsule}), ("capsule_list", {}),
        ("moss_call", {"tool": "capsule_latest", "arguments": {}}),
    )  # fmt: skip
    for one in told:
        error = one["structuredContent"]["error"]
        assert one["isError"] is True
        assert (error["code"], error["retryable"]) == ("NOT_A_STORE", False)
        assert "moss connect" in error["message"]
    assert home.exists() == was_there
    assert not was_there or os.listdir(home) == []


def test_connecting_a_client_to_a_demonstration_is_refused(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for words in (["cursor"], ["cursor", "--http"], ["claude-code", "--hooks"]):
        assert "is a demonstration" in cli("connect", *words, "--home", str(home)).err
        monkeypatch.setenv("MOSS_HOME", str(home))
        assert "is a demonstration" in cli("connect", *words).err
        monkeypatch.delenv("MOSS_HOME")
    assert [name for name in os.listdir(os.environ["HOME"]) if name.startswith(".c")] == []


def test_commands_cannot_store_in_a_demonstration(cli: Cli, home: Path, capsule: str) -> None:
    was_there = home.exists()
    for words in (["store", "a", "--capsule-text", capsule], ["task", "create", "task", "t"], ["list"], ["prime"]):
        assert "is a demonstration" in cli(*words, "--home", str(home)).err, words
    assert home.exists() == was_there
    assert not was_there or os.listdir(home) == []


def test_no_server_starts_on_a_demonstration(cli: Cli, home: Path) -> None:
    was_there = home.exists()
    process = cli.start("serve", "--port", "0", "--home", str(home))
    try:
        _, said = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, b"is a demonstration" in said) == (1, True)
    assert home.exists() == was_there


@pytest.mark.parametrize("given", ["home", "config", "environment"])
def test_the_python_api_refuses_a_demonstration(home: Path, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    was_there = home.exists()
    config = load_config(str(home)) if given == "config" else None
    if given == "environment":
        monkeypatch.setenv("MOSS_HOME", str(home))
    for opening in (open_store, open_async_store):
        error = refusal(opening, str(home) if given == "home" else None, config=config)
        assert (error.code, error.details) == ("NOT_A_STORE", {"home": str(home)})
    assert home.exists() == was_there
    assert not was_there or os.listdir(home) == []


def test_a_home_elsewhere_may_have_the_name_of_a_demonstration(cli: Cli, tmp_path: Path, capsule: str) -> None:
    (stored,) = answers(cli, tmp_path / "moss-demo-projects", ("capsule_store", {"name": "a", "capsule_text": capsule}))
    assert stored["isError"] is False
