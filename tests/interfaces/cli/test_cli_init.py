"""`moss init` gives a repository a workspace, and everything that runs inside it uses that workspace."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interfaces.cli.terminal import on_terminal

if TYPE_CHECKING:
    from support.cli_typist import Cli


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder / "src")
    return folder


def test_the_repository_s_name_becomes_the_workspace(cli: Cli, repository: Path, capsule: str) -> None:
    file = repository / ".moss" / "config.json"
    dry = cli("init", "--dry-run").json
    assert (dry["workspace"], dry["changed"], dry["dry_run"]) == ("shop", True, True)
    assert not file.exists()
    report = cli("init").json
    assert (report["workspace"], report["changed"], report["file"]) == ("shop", True, str(file))
    assert json.loads(file.read_text()) == {"workspace": "shop"}
    assert cli("init").json["changed"] is False
    assert cli("save", "auth", stdin=capsule).json["fetch_key"]["moss_workspace"] == "shop"
    cli("task", "create", "task", "Fix it").json  # noqa: B018
    assert "TASK-001" in cli("prime").out


def test_other_settings_stay_and_a_chosen_workspace_wins(cli: Cli, repository: Path) -> None:
    (repository / ".moss").mkdir()
    file = repository / ".moss" / "config.json"
    file.write_text('{"toolsets": ["core"], "workspace": "old"}')
    assert cli("init").json["workspace"] == "old"
    assert cli("init", "--workspace", "new").json["changed"] is True
    assert json.loads(file.read_text()) == {"toolsets": ["core"], "workspace": "new"}


@pytest.mark.parametrize("content", ["{", "[1]"])
def test_a_broken_file_is_refused_and_left_alone(cli: Cli, repository: Path, content: str) -> None:
    (repository / ".moss").mkdir()
    file = repository / ".moss" / "config.json"
    file.write_text(content)
    refused = cli("init")
    assert (refused.code, refused.out) == (1, "")
    assert "[INVALID_REQUEST]" in refused.err
    assert file.read_text() == content


def test_a_link_is_not_followed(cli: Cli, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repository / ".moss").symlink_to(tmp_path / "elsewhere")
    assert "is a link" in cli("init").err
    assert os.listdir(tmp_path / "elsewhere") == []


def test_outside_of_a_repository_it_says_what_to_do(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = cli("init")
    assert refused.code == 1
    assert "git init" in refused.err


def test_a_person_gets_two_sentences(cli: Cli, repository: Path) -> None:
    shown = on_terminal(cli, "init", columns=80)[1]
    assert "The workspace of this repository is shop" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= max(80, len(str(repository)) + 30)
