"""The plugin is what its client and its skills promise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import moss_memory
from moss_memory import catalog
from moss_memory.moving.front_matter import read

PLUGIN = Path(__file__).resolve().parents[2] / "plugins" / "moss"
SKILLS = sorted((PLUGIN / "skills").glob("*/SKILL.md"))
TOOL = re.compile(r"`((?:capsule|tasks|moss|artifact|branchmind)_\w+)`")


def test_the_plugin_has_the_version_of_the_distribution() -> None:
    told = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert (told["name"], told["version"]) == ("moss", moss_memory.__version__)


def test_the_plugin_starts_moss_with_the_core_and_holds_no_hooks() -> None:
    servers = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]
    assert servers == {"moss": {"type": "stdio", "command": "moss", "args": ["mcp", "--toolsets", "core"]}}
    assert not (PLUGIN / "hooks").exists()


def test_there_are_three_skills() -> None:
    assert [path.parent.name for path in SKILLS] == ["moss-plan", "moss-resume", "moss-save"]


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.parent.name)
def test_a_skill_is_named_as_its_folder_and_says_when_to_use_it(path: Path) -> None:
    fields, text = read(path.read_text())
    assert fields["name"] == path.parent.name
    assert "Use when" in fields["description"]
    assert len(fields["description"]) <= 1024
    named = TOOL.findall(text)
    assert named
    assert [tool for tool in named if catalog.find(tool) is None] == []
