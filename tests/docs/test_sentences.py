"""Single sentences of the documentation that were once wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from contract.doors import FULL, open_test_store
from moss_memory.cli.commands.help import command_help, find_any
from moss_memory.registry import catalog
from moss_memory.registry.tool_groups import TOOL_GROUPS

ROOT = Path(__file__).resolve().parent.parent.parent
MOSS = os.path.join(os.path.dirname(sys.executable), "moss")


def test_editing_a_text_as_in_the_tutorial_keeps_title_tags_and_source(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    with open_test_store(home) as store:
        told = {"title": "Sign-in", "tags": ["auth", "jwt"], "source": "me"}
        store.call("capsule_store", {"workspace": "shop", "name": "auth", "capsule_text": FULL + "15 minutes", **told})
    [line] = [one for one in (ROOT / "docs" / "tutorial.md").read_text().splitlines() if "| sed " in one]
    environment = {**os.environ, "MOSS_HOME": home, "PATH": f"{os.path.dirname(MOSS)}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euo", "pipefail", "-c", line], env=environment, cwd=tmp_path, check=True)
    with open_test_store(home) as store:
        kept = store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})
    assert {name: kept[name] for name in told} == told
    assert "10 minutes" in kept["capsule_text"]


def test_the_readme_names_only_families_that_can_be_restored() -> None:
    told = " ".join((ROOT / "README.md").read_text().split())
    assert "restore deleted capsules and artifacts" in told
    assert catalog.find("capsule_restore") is not None
    assert catalog.find("artifact_restore") is not None


def test_the_tour_names_the_shared_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from moss_memory.cli.commands.tour import _own_home

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MOSS_HOME", raising=False)
    assert _own_home() == "~/.moss"
    monkeypatch.setenv("MOSS_HOME", "/srv/moss")
    assert _own_home() == "/srv/moss"


def test_the_help_of_purge_names_every_family() -> None:
    command = find_any("purge")
    assert command is not None
    told = " ".join(command_help(command).split())
    types = told.partition("--type TYPE")[2].partition("--home")[0]
    assert [name for name in TOOL_GROUPS if name and name not in types] == []


def test_contributing_names_every_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    package = ROOT / "src" / "moss_memory"
    names = [folder.name for folder in package.iterdir() if folder.is_dir() and (folder / "__init__.py").exists()]
    assert [name for name in sorted(names) if f"  {name}/" not in text] == []


def test_every_path_in_contributing_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = re.findall(r"`([\w/]+/[\w.]*|[\w/]+\.(?:py|sql|pyi|jsonl|md))`", text)
    folders = (ROOT, ROOT / "src" / "moss_memory", *(ROOT / "src" / "moss_memory").rglob("*/"))
    assert len(paths) > 30
    assert [path for path in paths if not any((folder / path).exists() for folder in folders)] == []


def test_every_definition_in_contributing_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`([\w/]+\.py)`[,:] `([\w.]+)`", text)
    named += [(path, name) for name, path in re.findall(r"`([\w.]+)` in\s+`([\w/]+\.py)`", text)]
    assert {("storage/call.py", "IdSource"), ("transfer/importers/source_import.py", "_find_reader")} <= set(named)
    assert len(named) > 20
    for path, name in named:
        assert _defines(path, name), f"{path} has no {name}"


def _defines(path: str, name: str) -> bool:
    """Return True if a module, given by the end of its path, defines a name."""
    folders = (ROOT, ROOT / "src" / "moss_memory", *(ROOT / "src" / "moss_memory").rglob("*/"))
    found = next(folder / path for folder in folders if (folder / path).exists())
    definition = rf"^\s*(?:(?:async )?def|class) {name.rpartition('.')[2]}\b|^{name} = "
    return re.search(definition, found.read_text(), re.MULTILINE) is not None


def test_every_entry_of_the_tree_in_contributing_exists() -> None:
    tree = (ROOT / "CONTRIBUTING.md").read_text().split("```")[1]
    parents: list[tuple[int, Path]] = []
    for indent, name in re.findall(r"^( *)([\w/.]+)(?:$|  )", tree, re.MULTILINE):
        while parents and parents[-1][0] >= len(indent):
            parents.pop()
        path = (parents[-1][1] if parents else ROOT) / name
        assert path.exists(), f"{name} is not in {path.parent}"
        if name.endswith("/"):
            parents.append((len(indent), path))


def test_search_finds_only_the_documented_parts_of_a_task(tmp_path: Path) -> None:
    step = {"title": "elder", "success_criteria": ["fir"], "tests": ["gorse"]}
    target = {"workspace": "shop", "target": "TASK-001"}
    with open_test_store(str(tmp_path / "home")) as store:
        store.call("tasks_create", {"workspace": "shop", "kind": "plan", "title": "alder"})
        store.call(
            "tasks_create",
            {"workspace": "shop", "kind": "task", "title": "birch", "description": "cedar", "steps": [step]},
        )
        store.call("tasks_note", {**target, "note": "hazel"})
        store.call("tasks_evidence", {**target, "texts": ["iris"]})
        words = ("alder", "birch", "cedar", "elder", "fir", "gorse", "hazel", "iris")
        asked = {word: store.call("moss_search", {"query": word, "search_mode": "keyword"})["items"] for word in words}
    assert [word for word in words if asked[word]] == ["alder", "birch", "elder", "hazel"]
    told = " ".join((ROOT / "docs" / "explanation" / "tasks.md").read_text().split())
    assert "does not look into descriptions, criteria, tests and evidence" in told


def test_the_changelog_follows_its_format() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    releases = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for title, body in zip(releases[::2], releases[1::2], strict=True):
        assert re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d|Unreleased", title), title
        headings = re.findall(r"^### (.+)$", body, re.MULTILINE)
        assert headings == [kind for kind in kinds if kind in headings], f"{title}: {headings}"
        for bullet in re.findall(r"^- .+(?:\n  .+)*", body, re.MULTILINE):
            assert bullet.count("\n") < 2, f"a bullet has at most two lines: {bullet}"
