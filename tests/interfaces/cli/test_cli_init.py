"""`moss init` sets the workspace of a repository, which every command inside it uses."""

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
def test_a_broken_file_is_refused_and_stays_unchanged(cli: Cli, repository: Path, content: str) -> None:
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


def test_a_file_in_place_of_the_folder_is_refused_and_stays_unchanged(cli: Cli, repository: Path) -> None:
    (repository / ".moss").write_text("mine")
    refused = cli("init")
    assert (refused.code, refused.out) == (1, "")
    assert "[INVALID_REQUEST]" in refused.err
    assert "cannot be written" in refused.err
    assert (repository / ".moss").read_text() == "mine"


def test_outside_of_a_repository_a_remedy_is_named(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = cli("init")
    assert refused.code == 1
    assert "git init" in refused.err


def test_a_person_gets_two_sentences(cli: Cli, repository: Path) -> None:
    shown = on_terminal(cli, "init", columns=80)[1]
    assert "The workspace of this repository is now shop" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= max(80, len(str(repository)) + 30)


def test_the_memory_of_a_workspace_can_be_kept_in_the_repository(cli: Cli, repository: Path, capsule: str) -> None:
    file = repository / ".moss" / "config.json"
    assert cli("init", "--memory-in-repo").json["sync_folder"] == ".moss/memory"
    assert json.loads(file.read_text()) == {"workspace": "shop", "sync_folder": ".moss/memory"}
    assert cli("init", "--memory-in-repo").json["changed"] is False
    assert cli("init").json["sync_folder"] == ".moss/memory", "other settings stay"
    cli("save", "auth", stdin=capsule).json  # noqa: B018
    cli("save", "other/secret", stdin=capsule).json  # noqa: B018
    cli("sync").json  # noqa: B018
    written = [path.relative_to(repository).as_posix() for path in (repository / ".moss").rglob("*.md")]
    assert written == [".moss/memory/capsules/shop/auth.md"]


def test_a_dry_run_does_not_claim_success(cli: Cli, repository: Path) -> None:
    shown = " ".join(on_terminal(cli, "init", "--dry-run", "--memory-in-repo", columns=80)[1].split())
    assert shown.startswith("A dry run: the workspace of this repository would be shop")
    assert "now" not in shown
    assert not (repository / ".moss").exists()


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words], check=True, capture_output=True)


def test_where_explains_the_workspace(cli: Cli, repository: Path, capsule: str) -> None:
    first = cli("where").json
    assert (first["workspace"], first["repository"]["repository"]) == ("default", "shop")
    assert "there is no workspace 'shop'" in first["reason"]
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    assert cli("where").json["workspace"] == "shop"
    cli("init", "--workspace", "store").json  # noqa: B018
    told = cli("where").json
    assert (told["workspace"], told["reason"]) == ("store", f"{repository / '.moss' / 'config.json'} sets it")
    assert len(on_terminal(cli, "where", columns=200)[1].splitlines()) == 3


def test_a_clone_of_another_name_finds_the_workspace(
    cli: Cli, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsule: str
) -> None:
    git("-C", str(repository), "remote", "add", "origin", "https://example.com/shop.git")
    git("-C", str(repository), "commit", "--allow-empty", "-m", "x")
    cli("save", "project/auth", stdin=capsule).json  # noqa: B018
    other = tmp_path / "shop-clone"
    git("clone", "-q", str(repository), str(other))
    git("-C", str(other), "remote", "set-url", "origin", "git@example.com:shop.git")
    monkeypatch.chdir(other)
    assert cli("where").json["workspace"] == "project"
    assert "auth" in cli("prime").out


def test_two_repositories_of_one_name_do_not_share_a_workspace_silently(
    cli: Cli, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsule: str
) -> None:
    git("-C", str(repository), "remote", "add", "origin", "https://example.com/one/shop.git")
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    assert "written_from" not in cli("where").json
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    git("init", "-q", str(other))
    git("-C", str(other), "remote", "add", "origin", "https://example.com/two/shop.git")
    monkeypatch.chdir(other)
    assert cli("where").json["written_from"] == ["shop"]
    assert "written from another repository" in cli("prime").out


def test_every_folder_of_a_repository_uses_one_workspace(
    cli: Cli, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsule: str
) -> None:
    git("-C", str(repository), "commit", "--allow-empty", "-m", "x")
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    git("-C", str(repository), "worktree", "add", "-q", str(tmp_path / "fix"))
    git("clone", "-q", str(repository), str(tmp_path / "second"))
    git("clone", "-q", str(tmp_path / "second"), str(tmp_path / "again" / "shop"))
    git("clone", "-q", f"file://{repository}", str(tmp_path / "by-url"))
    (tmp_path / "second" / "src").mkdir()
    for place in (
        repository / "src",
        tmp_path / "fix",
        tmp_path / "second" / "src",
        tmp_path / "again" / "shop",
        tmp_path / "by-url",
    ):
        monkeypatch.chdir(place)
        told = cli("where").json
        assert (told["workspace"], told.get("written_from")) == ("shop", None), place
        assert "another repository" not in cli("prime").out
        saved = cli("load", "shop/auth").json
        assert saved["freshness"]["state"] == "fresh"


@pytest.mark.parametrize("origin", ["", "https://example.com/one/shop.git"])
def test_a_namesake_without_an_origin_does_not_share_a_workspace_silently(
    cli: Cli, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsule: str, origin: str
) -> None:
    git("-C", str(repository), "commit", "--allow-empty", "-m", "x")
    if origin:
        git("-C", str(repository), "remote", "add", "origin", origin)
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    other = tmp_path / "elsewhere" / "shop"
    git("init", "-q", str(other))
    monkeypatch.chdir(other)
    assert cli("where").json["written_from"] == ["shop"]
    git("-C", str(other), "commit", "--allow-empty", "-m", "y")
    assert cli("where").json["written_from"] == ["shop"]
    cli("save", "own/auth", stdin=capsule).json  # noqa: B018
    told = cli("where").json
    assert (told["workspace"], told.get("written_from")) == ("own", None)


def test_a_repository_that_is_published_later_keeps_its_workspace(cli: Cli, repository: Path, capsule: str) -> None:
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    git("-C", str(repository), "commit", "--allow-empty", "-m", "x")
    assert "written_from" not in cli("where").json
    cli("save", "shop/plan", stdin=capsule).json  # noqa: B018
    git("-C", str(repository), "remote", "add", "origin", "https://example.com/shop.git")
    assert "written_from" not in cli("where").json


def test_commands_use_the_workspace_that_where_explains(
    cli: Cli, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsule: str
) -> None:
    git("-C", str(repository), "commit", "--allow-empty", "-m", "x")
    cli("task", "create", "Before").json  # noqa: B018
    assert cli("task", "list", "-w", "default").json["items"] != []
    assert cli("where").json["workspace"] == "default", "only the default workspace was written from here"
    cli("save", "shop/auth", stdin=capsule).json  # noqa: B018
    assert cli("where").json["workspace"] == "shop"
    cli("task", "create", "After").json  # noqa: B018
    cli("notes", "add", "A note").json  # noqa: B018
    cli("think", "card", "A thought").json  # noqa: B018
    assert [item["title"] for item in cli("task", "list", "-w", "shop").json["items"]] == ["After"]
    assert cli("notes", "show", "-w", "shop").json["entries"] != []
    assert "After" in cli("prime").out
    assert "moss init" in on_terminal(cli, "where", columns=80)[1]
    other = tmp_path / "elsewhere" / "shop"
    git("init", "-q", str(other))
    monkeypatch.chdir(other)
    mixed = cli("task", "create", "Here")
    assert mixed.json["id"] == "TASK-002"
    assert "written from another repository" in mixed.err
