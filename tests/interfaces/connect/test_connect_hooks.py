"""`moss connect --hooks`: off by default, adds only its own hooks, and removes them without a trace."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from interfaces.cli.terminal import on_terminal
from moss_memory.connect import jsonc
from moss_memory.connect.clients import CLIENTS, PROJECT, USER

if TYPE_CHECKING:
    from support.cli_typist import Cli

FOUND = {
    "none": "{}",
    "with a comma and tabs": '{\r\n\t"model": "opus", // mine\r\n\t"permissions": {"allow": []},\r\n}\r\n',
    "with hooks of others": (
        '{\n  "hooks": {\n    "SessionStart": [\n      {"matcher": "startup", "hooks": [{"type": "command", '
        '"command": "echo hi"}]}\n    ],\n    "Stop": []\n  }\n}\n'
    ),
    "with an empty list": '{"hooks": {"PreCompact": [ ]}, "x": 1}',
    "with a mark of byte order": '\ufeff{\n    "hooks": {}\n}',
}


@pytest.fixture
def at_home(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Use an empty home folder without client programs on the path."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "MOSS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    return cli


def settings(scope: str = USER) -> Path:
    return Path(CLIENTS["claude-code"].hooks_file(scope))


def write(text: str) -> Path:
    path = settings()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


def commands(path: Path) -> dict[str, list[str]]:
    hooks: dict[str, list[dict[str, Any]]] = jsonc.parse(path.read_text(encoding="utf-8-sig"))["hooks"]
    return {event: [hook["command"] for group in groups for hook in group["hooks"]] for event, groups in hooks.items()}


def test_hooks_are_off_by_default(at_home: Cli) -> None:
    at_home("connect", "claude-code")
    assert not settings().exists()


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_hooks_are_added_beside_others_and_removed_byte_for_byte(at_home: Cli, text: str) -> None:
    path = write(text)
    told = at_home("connect", "claude-code", "--hooks").json["hooks"]
    assert told == {"file": str(path), "changed": True, "events": ["SessionStart", "PreCompact"]}
    found = commands(path)
    assert [len(found[event]) for event in ("SessionStart", "PreCompact")] == [1 + ("echo hi" in text), 1]
    assert ("echo hi" in text) == ("echo hi" in found["SessionStart"])
    with_them = path.read_bytes()
    assert at_home("connect", "claude-code", "--hooks").json["hooks"]["changed"] is False
    assert path.read_bytes() == with_them
    gone = at_home("connect", "claude-code", "--remove").json
    assert (gone["connected"], gone["hooks"]["changed"], gone["hooks"]["events"]) == ("no", True, [])
    assert path.read_bytes() == text.encode()
    assert "hooks" not in at_home("connect", "claude-code", "--remove").json


def test_a_file_created_for_hooks_is_removed(at_home: Cli) -> None:
    at_home("connect", "claude-code", "--hooks")
    at_home("connect", "claude-code", "--remove")
    assert not settings().exists()


def test_the_hooks_can_be_removed_alone(at_home: Cli) -> None:
    at_home("connect", "claude-code", "--hooks")
    told = at_home("connect", "claude-code", "--hooks", "--remove").json
    assert (told["connected"], told["changed"], told["hooks"]["changed"]) == ("stdio", False, True)
    assert not settings().exists()


def test_later_changes_by_others_stay(at_home: Cli) -> None:
    path = write('{"model": "opus"}')
    at_home("connect", "claude-code", "--hooks")
    text = path.read_text()
    text = jsonc.set_value(text, ("hooks", "SessionStart", 0, "hooks", 1), {"type": "command", "command": "echo mine"})
    path.write_text(jsonc.set_value(text, ("theme",), "dark"))
    at_home("connect", "claude-code", "--remove")
    assert json.loads(path.read_text()) == {
        "model": "opus",
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo mine"}]}], "PreCompact": []},
        "theme": "dark",
    }


def test_a_dry_run_shows_both_diffs_and_writes_nothing(at_home: Cli) -> None:
    path = write("{}")
    shown = at_home("connect", "claude-code", "--hooks", "--dry-run").out
    assert f"+++ {path}\n" in shown
    assert f"+++ {CLIENTS['claude-code'].file(USER)}\n" in shown
    assert path.read_text() == "{}"
    at_home("connect", "claude-code", "--hooks")
    for words in (["--remove"], ["--remove", "--hooks"]):
        assert '-    "SessionStart": [' in at_home("connect", "claude-code", *words, "--dry-run").out
    assert commands(path)


@pytest.mark.parametrize("text", ['{\n"hooks": []}', '{\n"hooks": {"SessionStart": {}}}', '{\n"hooks" 1}'])
def test_a_file_that_cannot_be_changed_keeps_everything_as_it_is(at_home: Cli, text: str) -> None:
    path = write(text)
    refused = at_home("connect", "claude-code", "--hooks")
    assert refused.code == 1
    assert f"{path}, line 2: " in refused.err
    assert path.read_text() == text
    assert os.listdir(path.parent) == [path.name]
    assert not os.path.exists(CLIENTS["claude-code"].file(USER)), "the entry was written"


def test_a_projects_hooks_name_no_local_path(at_home: Cli) -> None:
    at_home("connect", "claude-code", "--hooks", "--scope", "project")
    assert commands(settings(PROJECT)) == {
        "SessionStart": ["moss prime"],
        "PreCompact": ["moss prime --before-compaction"],
    }
    assert not settings().exists()


@pytest.mark.parametrize("client", [key for key, client in CLIENTS.items() if not client.hooks])
def test_hooks_for_a_client_without_hooks_are_refused(at_home: Cli, client: str) -> None:
    refused = at_home("connect", client, "--hooks")
    assert (refused.code, "clients with hooks: claude-code" in refused.err) == (1, True)
    assert not os.path.exists(CLIENTS[client].file(USER))


def test_the_hooks_run_without_disturbing_the_client(at_home: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home("store", "auth", "--title", "Sign-in", stdin=FULL)
    monkeypatch.setenv("MOSS_HOME", f"{at_home.home}")
    at_home("connect", "claude-code", "--hooks")
    said = {}
    for event, (line,) in commands(settings()).items():
        words = shlex.split(line)
        assert words[-2:] == ["--home", str(at_home.home)]
        done = subprocess.run([sys.executable, "-m", "moss_memory", *words[1:]], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        said[event] = done.stdout
    assert 'latest hand-over: "Sign-in"' in said["SessionStart"]
    assert "capsule_store" in said["PreCompact"]
    assert len(said["PreCompact"]) <= 500


def test_an_earlier_hook_is_restored(at_home: Cli) -> None:
    own = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "moss prime -w shop"}]}]}} // mine'
    path = write(own)
    for _ in range(2):
        at_home("connect", "claude-code", "--hooks")
        assert len(commands(path)) == 2
    for copy in path.parent.glob("*.before-moss*"):
        copy.unlink()
    at_home("connect", "claude-code", "--remove")
    assert path.read_text() == own


OTHER_CLIENTS = {
    "codex": ("SessionStart", "PreCompact"),
    "gemini": ("SessionStart", "PreCompress"),
    "cursor": ("sessionStart", "preCompact"),
}
FOUND_ELSEWHERE = ("{}", '{\n  // mine\n  "theme": "dark",\n  "version": 1\n}\n', "")


def of_moss(path: Path, client: str) -> dict[str, list[dict[str, Any]]]:
    """Return the hooks of Moss by event, without their groups."""
    hooks = jsonc.parse(path.read_text())["hooks"]
    flat = client == "cursor"
    return {
        event: [hook for one in entries for hook in ([one] if flat else one["hooks"]) if " prime" in hook["command"]]
        for event, entries in hooks.items()
    }


@pytest.mark.parametrize("text", FOUND_ELSEWHERE)
@pytest.mark.parametrize("client", OTHER_CLIENTS)
def test_other_clients_get_hooks_in_their_own_format(at_home: Cli, client: str, text: str) -> None:
    path = Path(CLIENTS[client].hooks_file(USER))
    path.parent.mkdir(parents=True, exist_ok=True)
    if text:
        path.write_text(text)
    told = at_home("connect", client, "--hooks").json["hooks"]
    assert (told["changed"], told["events"]) == (True, list(OTHER_CLIENTS[client]))
    found = of_moss(path, client)
    assert list(found) == list(OTHER_CLIENTS[client])
    for hooks in found.values():
        (hook,) = hooks
        words = shlex.split(hook["command"])
        assert os.path.isabs(words[0])
        assert words[-2:] == ["--client", client] or "--home" in words
        assert hook["timeout"] == (10_000 if client == "gemini" else 10)
    if client == "cursor":
        assert jsonc.parse(path.read_text())["version"] == 1
    if client == "gemini":  # servers and hooks are in one file
        assert "moss" in jsonc.parse(path.read_text())["mcpServers"]
    before = path.read_bytes()
    assert at_home("connect", client, "--hooks").json["hooks"]["changed"] is False
    assert path.read_bytes() == before
    gone = at_home("connect", client, "--remove").json
    assert (gone["connected"], gone["hooks"]["events"]) == ("no", [])
    assert (path.read_text() if path.exists() else "") == text


@pytest.mark.parametrize("client", OTHER_CLIENTS)
def test_the_hooks_of_other_clients_can_be_removed_alone(at_home: Cli, client: str) -> None:
    at_home("connect", client, "--hooks").json  # noqa: B018
    told = at_home("connect", client, "--hooks", "--remove").json
    assert (told["connected"], told["hooks"]["events"]) == ("stdio", [])


@pytest.mark.parametrize("client", OTHER_CLIENTS)
def test_prime_prints_the_json_that_the_client_reads(at_home: Cli, client: str) -> None:
    assert at_home("prime", "--client", client).out == ""
    at_home("task", "create", "task", "Fix it").json  # noqa: B018
    printed = json.loads(at_home("prime", "--client", client).out)
    text = printed["additional_context"] if client == "cursor" else printed["hookSpecificOutput"]["additionalContext"]
    assert "TASK-001" in text
    reminder = json.loads(at_home("prime", "--before-compaction", "--client", client).out)
    assert list(reminder) == ["user_message" if client == "cursor" else "systemMessage"]


def test_a_person_gets_sentences(at_home: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(at_home.environment, "HOME", os.environ["HOME"])

    def message(*words: str) -> str:
        code, shown = on_terminal(at_home, "connect", *words, columns=80)
        assert code == 0, shown
        assert "{" not in shown
        return " ".join(shown.split())

    file, hooks = CLIENTS["cursor"].file(USER), CLIENTS["cursor"].hooks_file(USER)
    assert message("cursor").startswith(f"Connected Cursor, in {file}. Next: restart Cursor")
    assert message("cursor", "--hooks") == (
        f"Cursor is connected; {file} did not change. Hooks (sessionStart, preCompact) are now in {hooks}."
    )
    assert message("cursor", "--remove").startswith(f"Disconnected Cursor, in {file}.")
    assert message("cursor", "--remove") == f"Cursor is not connected; {file} did not change."
    assert "claude-code" in message()
