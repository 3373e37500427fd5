"""`moss connect` changes only its entry, keeps a copy of the file, and can be undone byte for byte."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.args.built_in_commands import CLIENTS as TYPED
from moss_memory.connect import jsonc
from moss_memory.connect.clients import CLIENTS, PROJECT, USER

if TYPE_CHECKING:
    from support.cli_typist import Cli

FOUND = {
    "claude-code": '{\n  "numStartups": 41,\n  "mcpServers": {},\n  "projects": {"/x": {"allowedTools": []}}\n}',
    "claude-desktop": '{\n  "mcpServers": {\n    "files": {"command": "npx", "args": ["-y", "x"]}\n  }\n}',
    "codex": 'model = "gpt-5" # the big one\n\n[mcp_servers.docs]\nurl = "https://x"\n\n[tui]\ntheme = \'dark\'\n',
    "cursor": '{"mcpServers":{"a":{"command":"a"}}}',
    "vs-code": '{\r\n\t// ours\r\n\t"servers": {\r\n\t\t"a": { "type": "stdio", "command": "a" },\r\n\t},\r\n'
    '\t"inputs": []\r\n}\r\n',
    "gemini": '{ "theme": "GitHub", /* why */ "selectedAuthType": "x" }\n',
    "windsurf": "{}\n",
    "zed": '// Zed settings\n//\n// see the documentation\n{\n  "theme": "One", // dark\n  "context_servers": {\n'
    '    // none yet\n  },\n}\n',
    "opencode": '{\n    "$schema": "https://opencode.ai/config.json",\n    "mcp": {\n        "a": {"type": "local",'
    ' "command": ["a"]}\n    }\n}',
}  # fmt: skip
"""Typical configuration files of each client."""


@pytest.fixture
def at_home(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Use an empty home folder without client programs on the path."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "MOSS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    return cli


def write(path: str | Path, content: str, mode: int = 0o644) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    path.chmod(mode)
    return path


def file_of(client: str, scope: str = USER) -> Path:
    return Path(CLIENTS[client].file(scope))


def entry_in(client: str, path: Path) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    value = tomllib.loads(text) if CLIENTS[client].toml else jsonc.parse(text)
    return value[CLIENTS[client].under].get("moss")


LOAD_ON_DEMAND = ("claude-code", "codex")
"""Clients that search long lists of tools themselves."""


@pytest.mark.parametrize("client", [key for key, client in CLIENTS.items() if client.http])
def test_over_http_every_client_lists_the_core(at_home: Cli, client: str) -> None:
    at_home("connect", client, "--http")
    assert "/mcp?toolsets=core" in file_of(client).read_text()


def test_the_page_shows_the_list_of_every_client() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "connect.md").read_text()
    for key, client in CLIENTS.items():
        shown = "everything" if not client.default_toolsets(http=False) else "`core`"
        assert re.search(rf"\n\| `{key}` \| {shown} \|", page), key


def test_the_command_line_names_every_client() -> None:
    assert tuple(CLIENTS) == TYPED
    assert FOUND.keys() == CLIENTS.keys()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_typical_file_gains_one_entry_and_loses_it_byte_for_byte(at_home: Cli, client: str) -> None:
    path = write(file_of(client), FOUND[client])
    connected = at_home("connect", client).json
    assert (connected["changed"], connected["connected"], connected["file"]) == (True, "stdio", str(path))
    assert Path(connected["backup"]).read_bytes() == FOUND[client].encode()
    assert stat.S_IMODE(os.stat(connected["backup"]).st_mode) == 0o600
    words = entry_in(client, path)
    started = words["command"] if client == "opencode" else [words["command"], *words["args"]]
    assert os.path.basename(started[0]) == "moss"
    assert started[1:] == (["mcp"] if client in LOAD_ON_DEMAND else ["mcp", "--toolsets", "core"])
    bytes_then = path.read_bytes()
    assert at_home("connect", client).json["changed"] is False
    assert path.read_bytes() == bytes_then
    removed = at_home("connect", client, "--remove").json
    assert (removed["changed"], removed["connected"]) == (True, "no")
    assert path.read_bytes() == FOUND[client].encode()
    assert at_home("connect", client, "--remove").json["changed"] is False


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("options", [[], ["--http"]])
def test_a_missing_file_is_created_and_removed(at_home: Cli, client: str, options: list[str]) -> None:
    if options and client == "claude-desktop":
        refused = at_home("connect", client, *options)
        assert "reads no server over HTTP" in refused.err
        return
    at_home("connect", client, *options)
    path = file_of(client)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert entry_in(client, path)
    at_home("connect", client, "--remove")
    assert not path.exists()


@pytest.mark.parametrize("client", [key for key, client in CLIENTS.items() if client.http])
def test_over_http_the_users_file_holds_the_token_and_the_projects_its_name(at_home: Cli, client: str) -> None:
    at_home("connect", client, "--http")
    token = (Path(at_home.home) / "token").read_text().strip()
    assert f"Bearer {token}" in file_of(client).read_text()
    outcome = at_home("connect", client, "--http", "--scope", "project")
    if client in ("windsurf", "zed"):
        assert outcome.code == 1
        assert "has no file for a project" in outcome.err or "must not contain one" in outcome.err
        return
    shared = file_of(client, PROJECT).read_text()
    assert "MOSS_TOKEN" in shared
    assert token not in shared
    assert str(at_home.home) not in shared


def test_a_projects_file_names_no_local_path(at_home: Cli) -> None:
    at_home("connect", "cursor", "--scope", "project")
    entry = entry_in("cursor", file_of("cursor", PROJECT))
    assert entry == {"command": "moss", "args": ["mcp", "--toolsets", "core"]}


def test_a_dry_run_shows_a_diff_and_changes_nothing(at_home: Cli) -> None:
    path = write(file_of("cursor"), '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    outcome = at_home("connect", "cursor", "--http", "--dry-run")
    assert outcome.code == 0
    assert f"--- {path}\n+++ {path}\n@@ -1,5 +1,11 @@\n" in outcome.out
    assert '-    "a": {}\n+    "a": {},\n+    "moss": {\n' in outcome.out
    assert path.read_text() == '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n'
    assert os.listdir(path.parent) == [path.name]
    assert not os.path.exists(at_home.home), "a dry run created a token"


def test_a_dry_run_never_shows_the_token(at_home: Cli) -> None:
    at_home("connect", "cursor", "--http")
    token = (Path(at_home.home) / "token").read_text().strip()
    write(file_of("zed"), "{}")
    shown = at_home("connect", "zed", "--http", "--dry-run").out
    assert "Bearer <the token>" in shown
    assert token not in shown


def test_members_added_to_the_entry_by_its_owner_stay(at_home: Cli) -> None:
    path = write(
        file_of("codex"),
        '[mcp_servers.moss]\ncommand = "old"\nstartup_timeout_sec = 20\n[mcp_servers.moss.env]\nDEBUG = "1"\n',
    )
    at_home("connect", "codex", "--toolsets", "capsule,task")
    entry = tomllib.loads(path.read_text())["mcp_servers"]["moss"]
    assert entry["startup_timeout_sec"] == 20
    assert entry["env"] == {"DEBUG": "1", "MOSS_HOME": at_home.home}
    assert entry["args"] == ["mcp", "--toolsets", "capsule,task"]


def test_switching_to_http_and_removing_restores_the_first_file(at_home: Cli) -> None:
    path = write(file_of("vs-code"), FOUND["vs-code"])
    at_home("connect", "vs-code")
    at_home("connect", "vs-code", "--http")
    assert entry_in("vs-code", path)["type"] == "http"
    at_home("connect", "vs-code", "--remove")
    assert path.read_bytes() == FOUND["vs-code"].encode()


@pytest.mark.parametrize(
    ("client", "text"),
    [("cursor", '{"mcpServers": {"moss": {"command": "/opt/moss"}}, /* c */ "a": 1}'),
     ("codex", 'a = 1\n\n[mcp_servers.moss]\ncommand = "/opt/moss" # mine\n\n[b]\n')],
)  # fmt: skip
def test_an_earlier_entry_stays_in_the_copy(at_home: Cli, client: str, text: str) -> None:
    path = write(file_of(client), text)
    for words in ([], ["--toolsets", "capsule"], ["--http"], ["--remove"]):
        assert at_home("connect", client, *words).code == 0
        assert Path(f"{path}.before-moss").read_text() == text
    assert path.read_text() == text


def test_later_changes_by_others_survive_the_removal(at_home: Cli) -> None:
    path = write(file_of("cursor"), "{}")
    at_home("connect", "cursor")
    path.write_text(jsonc.set_value(path.read_text(), ("mcpServers", "new"), {"command": "x"}))
    at_home("connect", "cursor", "--remove")
    assert json.loads(path.read_text()) == {"mcpServers": {"new": {"command": "x"}}}


@pytest.mark.parametrize(
    ("client", "text", "line"),
    [("cursor", '{\n  "mcpServers": {\n    "a": 1 "b": 2\n  }\n}', 3), ("codex", "a = 1\n[b\n", 2),
     ("zed", '{\n"context_servers": []}', 2), ("gemini", '{"mcpServers": 7}', 1)],
)  # fmt: skip
def test_an_unreadable_file_stays_unchanged_and_its_line_is_named(
    at_home: Cli, client: str, text: str, line: int
) -> None:
    path = write(file_of(client), text)
    for options in ([], ["--dry-run"]):
        outcome = at_home("connect", client, *options)
        assert outcome.code == 1
        assert outcome.err.startswith(f"[INVALID_REQUEST] {path}, line {line}: ")
    assert path.read_text() == text
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    ("client", "text"),
    [("cursor", '{"mcpServers": {"moss": {"command": 5, "args": 7, "env": [1]}}}'),
     ("cursor", '{"mcpServers": {"moss": {"command": "moss", "args": "x", "env": "y", "headers": 3}}}'),
     ("cursor", '{"mcpServers": {"moss": {"url": "http://["}}}'),
     ("codex", '[mcp_servers.moss]\ncommand = "moss"\nargs = 7\nenv = "x"\n')],
)  # fmt: skip
def test_an_invalid_entry_is_reported_and_can_be_corrected(at_home: Cli, client: str, text: str) -> None:
    path = write(file_of(client), text)
    assert at_home("connect").code == 0
    checked = at_home("connect", client, "--check")
    assert (checked.code, json.loads(checked.out)["failed"]) == (1, [client])
    assert path.read_text() == text
    at_home("connect", client)
    assert entry_in(client, path)["args"] == (["mcp"] if client in LOAD_ON_DEMAND else ["mcp", "--toolsets", "core"])


@pytest.mark.parametrize("text", ["a = 1\nmcp_servers = 5\n", "a = 1\n[[mcp_servers]]\nb = 1\n"])
def test_servers_that_are_no_table_stay_unchanged(at_home: Cli, text: str) -> None:
    path = write(file_of("codex"), text)
    outcome = at_home("connect", "codex")
    assert outcome.err.startswith(f"[INVALID_REQUEST] {path}, line 2: mcp_servers is not a table")
    assert path.read_text() == text


def test_an_obstacle_is_named(at_home: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / ".cursor", "a file\n")
    assert f"cannot be written ({folder}: " in at_home("connect", "cursor").err
    folder.unlink()
    path = write(file_of("cursor"), "{}")
    backup = path.with_name("mcp.json.before-moss")
    backup.mkdir()
    assert at_home("connect", "cursor").json["backup"] == f"{backup}-2"
    assert backup.is_dir()


def test_binary_files_stay_unchanged(at_home: Cli) -> None:
    path = file_of("cursor")
    path.parent.mkdir()
    path.write_bytes(b'{\n"a": "\xff"}')
    assert "line 2: it is not UTF-8" in at_home("connect", "cursor").err
    assert path.read_bytes() == b'{\n"a": "\xff"}'


def test_the_byte_order_mark_stays(at_home: Cli) -> None:
    path = write(file_of("cursor"), '\ufeff{"mcpServers": {"a": {}}}')
    at_home("connect", "cursor")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert entry_in("cursor", path)
    at_home("connect", "cursor", "--remove")
    assert path.read_text() == '\ufeff{"mcpServers": {"a": {}}}'


def test_a_link_stays_a_link_and_its_file_is_changed(at_home: Cli, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles" / "mcp.json", "{}", mode=0o640)
    path = file_of("cursor")
    path.parent.mkdir()
    path.symlink_to(real)
    at_home("connect", "cursor")
    assert path.is_symlink()
    assert entry_in("cursor", real)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_link_to_nothing_and_a_folder_are_refused(at_home: Cli, tmp_path: Path) -> None:
    path = file_of("cursor")
    path.parent.mkdir()
    path.symlink_to(tmp_path / "gone.json")
    assert "is a link that has no target" in at_home("connect", "cursor").err
    path.unlink()
    path.mkdir()
    assert "is not a plain file" in at_home("connect", "cursor").err


def test_a_read_only_file_stays_unchanged(at_home: Cli) -> None:
    path = write(file_of("cursor"), "{}", mode=0o444)
    assert "may not be written (mode 0444)" in at_home("connect", "cursor").err
    assert path.read_text() == "{}"
    assert os.listdir(path.parent) == [path.name]


def test_a_token_in_a_file_that_others_may_read_is_reported(at_home: Cli) -> None:
    path = write(file_of("cursor"), "{}")
    assert f"chmod 600 {path}" in at_home("connect", "cursor", "--http").err


@pytest.mark.parametrize(
    "url",
    ["http://example.com:8314", "ftp://127.0.0.1", "nonsense", "http://[", "http://a@127.0.0.1",
     "http://127.0.0.1.example.com", "http://127.example.com:8314", "http://localhost.example.com"],
)  # fmt: skip
def test_the_token_is_never_sent_unencrypted_to_another_machine(at_home: Cli, url: str) -> None:
    outcome = at_home("connect", "cursor", "--http", "--url", url)
    assert (outcome.code, "--url" in outcome.err) == (1, True)
    assert not file_of("cursor").exists()


def test_another_machine_is_reached_by_https(at_home: Cli) -> None:
    at_home("connect", "cursor", "--http", "--url", "https://moss.example.com")
    assert entry_in("cursor", file_of("cursor"))["url"] == "https://moss.example.com/mcp?toolsets=core"


@pytest.mark.parametrize("client", [key for key, client in CLIENTS.items() if client.http])
@pytest.mark.parametrize(
    ("words", "ending"),
    [([], ":8314/mcp?toolsets=core"), (["--toolsets", "core,task"], "/mcp?toolsets=core,task"),
     (["--toolsets", ""], "/mcp"), (["--url", "https://x.example/a"], "https://x.example/a?toolsets=core")],
)  # fmt: skip
def test_over_http_the_url_names_the_toolsets(at_home: Cli, client: str, words: list[str], ending: str) -> None:
    at_home("connect", client, "--http", *words)
    entry = entry_in(client, file_of(client))
    url = next(entry[key] for key in ("url", "httpUrl", "serverUrl") if key in entry)
    assert url.endswith(ending)


@pytest.mark.parametrize(
    "words",
    [("--http",), ("--remove",), ("cursor", "--url", "https://x"), ("cursor", "--http", "--toolsets", "all"),
     ("windsurf", "--scope", "project"), ("cursor", "--toolsets", "core,all"), ("cursor", "--toolsets", "Core")],
)  # fmt: skip
def test_invalid_arguments_are_refused(at_home: Cli, words: tuple[str, ...]) -> None:
    assert at_home("connect", *words).code == 1
    assert not file_of("cursor").exists()


def test_the_overview_lists_found_and_connected_clients(at_home: Cli) -> None:
    write(file_of("zed"), "{}")
    write(file_of("gemini"), "{")
    at_home("connect", "cursor")
    at_home("connect", "codex", "--scope", "project")
    rows = {(row["client"], row["scope"]): row for row in at_home("connect").json["clients"]}
    assert {key for key, row in rows.items() if row["found"]} == {
        ("zed", "user"), ("gemini", "user"), ("cursor", "user"),
    }  # fmt: skip
    assert (rows["zed", "user"]["connected"], rows["cursor", "user"]["connected"]) == ("no", "stdio")
    assert rows["codex", "project"]["connected"] == "stdio"
    assert rows["gemini", "user"]["connected"] == "unknown"
    assert "line 1" in rows["gemini", "user"]["problem"]
    assert len(rows) == len(CLIENTS) + 1


def test_settings_that_were_moved_are_found(at_home: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert file_of("codex") == tmp_path / "codex" / "config.toml"
    assert file_of("claude-code") == tmp_path / "claude" / ".claude.json"
    assert file_of("zed") == tmp_path / "xdg" / "zed" / "settings.json"
    monkeypatch.setattr("sys.platform", "darwin")
    assert file_of("claude-desktop") == (
        tmp_path / "Library" / "Application Support" / "Claude" / "claude_desktop_config.json"
    )


OWN = """#!/bin/sh
echo "$@" >> "$HOME/told"
case "$2" in
  remove) rm "$HOME/.claude.json" ;;
  *) printf '{"mcpServers": {"moss": %s}}' "$6" > "$HOME/.claude.json" ;;
esac
"""


def test_claude_code_changes_its_file_itself(at_home: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bin" / "claude", OWN, mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    tried = at_home("connect", "claude-code", "--dry-run")
    assert "would run: claude mcp add-json --scope user moss" in tried.err
    assert at_home("connect", "claude-code").json["changed"] is True
    assert at_home("connect", "claude-code").json["changed"] is False
    assert at_home("connect", "claude-code", "--toolsets", "task").json["changed"] is True
    assert at_home("connect", "claude-code", "--remove").json["connected"] == "no"
    told = [line.split()[:5] for line in (tmp_path / "told").read_text().splitlines()]
    assert [line[1] for line in told] == ["add-json", "remove", "add-json", "remove"]
    at_home("connect", "claude-code", "--http")
    assert len((tmp_path / "told").read_text().splitlines()) == 4, "the token is on a command line"


def test_the_error_of_a_client_program_is_shown(at_home: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bin" / "claude", "#!/bin/sh\necho it is broken >&2\nexit 3\n", mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert "`claude mcp add-json` failed: it is broken" in at_home("connect", "claude-code").err
