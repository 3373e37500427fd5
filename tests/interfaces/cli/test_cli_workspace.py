"""The workspace of a command: the named one, else the default."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from contract.doors import FULL
from support.cli_typist import Cli


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return a command line with `shop` as its default workspace."""
    monkeypatch.setenv("MOSS_WORKSPACE", "shop")
    return cli


def test_no_command_needs_a_workspace_if_there_is_a_default(shop: Cli) -> None:
    shop("task", "create", "task", "--title", "Ship it")
    assert shop("task", "list").json["items"][0]["title"] == "Ship it"
    assert shop("task", "board").json["workspace"] == "shop"
    shop("notes", "add", "seen")
    assert shop("notes", "show", "-w", "shop").json["entries"][0]["content"] == "seen"
    stored = shop("store", "--name", "auth", stdin=FULL).json
    assert stored["fetch_key"]["moss_workspace"] == "shop"
    assert shop("fetch", "auth").json["id"] == stored["id"]
    assert shop("fetch", stored["id"]).json["id"] == stored["id"]


def test_a_repository_sets_the_workspace_of_commands_inside_it(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "work" / ".moss"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"workspace": "repo"}))
    cli("task", "create", "task", "--title", "Ship it")
    assert cli("task", "list", "-w", "repo").json["items"] != []
    shown = cli("config").json["settings"]["workspace"]
    assert shown == {"value": "repo", "source": os.path.realpath(folder / "config.json")}


def test_without_a_configured_workspace_it_is_default(cli: Cli) -> None:
    cli("task", "create", "task", "One").json  # noqa: B018
    assert cli("task", "list", "-w", "default").json["items"][0]["title"] == "One"
    assert cli("task", "list").json["items"][0]["title"] == "One"


@pytest.mark.parametrize("written", ["{", '{"workspace": 5}'])
def test_an_unreadable_default_workspace_is_reported(cli: Cli, tmp_path: Path, written: str) -> None:
    folder = tmp_path / "work" / ".moss"
    folder.mkdir()
    (folder / "config.json").write_text(written)
    listed = cli("task", "list")
    assert listed.err.count("moss: warning: ") == 1
    assert str(folder / "config.json") in listed.err
    assert cli("task", "list", "-w", "shop").err.count("moss: warning: ") == 1


def test_an_invalid_default_workspace_setting_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSS_WORKSPACE", "x" * 300)
    refused = cli("list")
    assert refused.code == 1
    assert "MOSS_WORKSPACE must be" in refused.err


@pytest.mark.parametrize("family", ["capsule", "artifact"])
def test_a_slash_separates_workspace_and_name_in_every_command_that_takes_a_name(cli: Cli, family: str) -> None:
    content = ["--kind", "k", "--data", "{}"] if family == "artifact" else []
    stored = cli(family, "store", "shop/auth", *content, stdin=FULL).json
    assert cli(family, "fetch", "-w", "shop", "--name", "auth").json["id"] == stored["id"]
    assert cli(family, "fetch", "shop/auth").json["id"] == stored["id"]
    assert cli(family, "delete", "shop/auth").json["id"] == stored["id"]


def test_update_append_and_items_take_a_workspace_before_the_name(cli: Cli) -> None:
    cli("store", "shop/auth", stdin=FULL)
    assert cli("update", "shop/auth", "--title", "New").code == 0
    assert cli("append", "shop/auth", "--section", "Decisions", "--content", "x").code == 0
    assert cli("fetch", "shop/auth").json["title"] == "New"
    assert len(cli("fetch-many", "shop/auth", "shop/none").json["items"]) == 1


def test_a_name_given_as_an_option_is_not_split_at_a_slash(cli: Cli) -> None:
    stored = cli("store", "--name", "shop/auth", stdin=FULL).json
    assert stored["fetch_key"] == {"moss_capsule": "shop/auth", "moss_workspace": "default"}
    assert cli("fetch", "--name", "shop/auth").json["id"] == stored["id"]
    assert cli("store", "-w", "w", "a/b", stdin=FULL).json["fetch_key"]["moss_capsule"] == "a/b"


@pytest.mark.parametrize("words", [["fetch"], ["fetch-many"], ["compose"]])
def test_reading_falls_back_to_a_name_that_contains_the_slash(cli: Cli, words: list[str]) -> None:
    whole = cli("store", "--name", "shop/auth", stdin=FULL.replace("the work", "the whole")).json["id"]
    assert "the whole" in cli(*words, "shop/auth").out
    assert cli("delete", "shop/auth").code == 1
    cli("store", "shop/auth", stdin=FULL)
    assert "the work" in cli(*words, "shop/auth").out
    assert cli("fetch", whole).json["name"] == "shop/auth"


def test_a_name_in_another_workspace_is_suggested_as_a_command(cli: Cli) -> None:
    cli("store", "shop/auth", stdin=FULL)
    refused = cli("fetch", "auth")
    assert refused.code == 1
    assert "there is shop/auth" in refused.err
    assert "try: moss fetch --workspace shop --name auth" in refused.err


def test_a_file_given_as_a_name_suggests_the_file_option(cli: Cli) -> None:
    assert "did you mean --file auth.md?" in cli("store", "auth.md", stdin=FULL).err
    assert cli("store", "--name", "auth.md", stdin=FULL).code == 0
    (Path.cwd() / "auth.md").write_text(FULL)
    assert cli("store", "shop/auth.md", "--file", "auth.md").json["fetch_key"]["moss_workspace"] == "shop"


def test_latest_in_an_empty_workspace_names_the_newest_capsule_elsewhere(cli: Cli) -> None:
    cli("store", "shop/auth", stdin=FULL)
    assert "there is nothing yet; the newest elsewhere is shop/auth" in cli("latest", "--text").err
    assert "shop" in cli("latest", "--table").out


def test_a_workspace_is_renamed_with_two_words(cli: Cli) -> None:
    cli("store", "shop/auth", stdin=FULL)
    assert cli("workspace", "rename", "shop", "store", "--dry-run").json["holds"]["capsules"] == 1
    assert cli("fetch", "shop/auth").code == 0
    assert cli("workspace", "rename", "shop", "store").json["workspace"] == "store"
    assert cli("fetch", "store/auth").code == 0
    assert cli("workspace", "rename", "store", "store 2").json["was"] == "store"
    refused = cli("workspace", "rename", "stroe 2", "x")
    assert (refused.code, "the nearest is 'store 2'" in refused.err) == (1, True)


def test_a_workspace_is_deleted_only_on_confirmation(cli: Cli) -> None:
    cli("store", "shop/auth", stdin=FULL)
    told = cli("workspace", "delete", "shop")
    assert told.json["dry_run"] is True
    assert "--yes" in told.err
    assert "with --yes to apply it" in told.err
    assert "--yes" not in cli("workspace", "delete", "nowhere").err
    assert cli("workspace", "delete", "shop", "--yes", "--dry-run").json["dry_run"] is True
    assert cli("fetch", "shop/auth").code == 0
    done = cli("workspace", "delete", "shop", "--yes")
    assert (done.json["dry_run"], done.err) == (False, "")
    assert cli("fetch", "shop/auth").code == 1
    assert cli("restore", "shop/auth").code == 0


def test_the_default_workspace_is_never_deleted_implicitly(shop: Cli) -> None:
    shop("store", "auth", stdin=FULL)
    refused = shop("workspace", "delete", "--yes")
    assert (refused.code, "--name is needed" in refused.err) == (2, True)
    assert shop("fetch", "auth").code == 0


def test_the_table_of_a_workspace_to_delete_lists_its_contents(cli: Cli) -> None:
    cli("store", "shop/auth", stdin=FULL)
    shown = cli("workspace", "delete", "shop", "--table").out
    assert "capsules" in shown
    assert "1 capsule, which can be restored" in shown
