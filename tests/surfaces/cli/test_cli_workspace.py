"""The workspace that a command means: the one that is named, else the default one."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line with `shop` as its default workspace."""
    monkeypatch.setenv("MOSS_WORKSPACE", "shop")
    return cli


def test_no_command_needs_a_workspace_where_there_is_a_default_one(shop: Cli) -> None:
    shop("task", "create", "task", "--title", "Ship it")
    assert shop("task", "list").json["items"][0]["title"] == "Ship it"
    assert shop("task", "board").json["workspace"] == "shop"
    shop("notes", "add", "seen")
    assert shop("notes", "show", "-w", "shop").json["entries"][0]["content"] == "seen"
    stored = shop("store", "--name", "auth", stdin=FULL).json
    assert stored["fetch_key"]["moss_workspace"] == "shop"
    assert shop("fetch", "auth").json["id"] == stored["id"]
    assert shop("fetch", stored["id"]).json["id"] == stored["id"]


def test_a_repository_says_the_workspace_of_the_work_in_it(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "work" / ".moss"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"workspace": "repo"}))
    cli("task", "create", "task", "--title", "Ship it")
    assert cli("task", "list", "-w", "repo").json["items"] != []
    shown = cli("config").json["settings"]["workspace"]
    assert shown == {"value": "repo", "source": os.path.realpath(folder / "config.json")}


def test_without_a_default_workspace_it_is_said_how_to_set_one(cli: Cli) -> None:
    refused = cli("task", "list")
    assert refused.code == 2
    assert "--workspace is needed by `moss task list`" in refused.err
    assert "MOSS_WORKSPACE" in refused.err


def test_an_impossible_default_workspace_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSS_WORKSPACE", "x" * 300)
    refused = cli("list")
    assert refused.code == 1
    assert "MOSS_WORKSPACE must be" in refused.err
