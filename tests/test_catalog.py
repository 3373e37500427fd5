"""The catalog finds a tool by its name, in the one module that defines it, and only once."""

from __future__ import annotations

from typing import Any

import pytest

from moss_memory.registry import catalog, tool_index, write_tool_index
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from support.python_process import run


def test_the_index_of_tools_and_commands_is_not_stale() -> None:
    with open(tool_index.__file__, encoding="utf-8") as file:
        assert file.read() == write_tool_index.index_source(), "run `make docs`"


def test_no_two_tools_have_the_same_command() -> None:
    names = [name for one in catalog.every_operation() for name in write_tool_index.command_names(one)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "cli",
    [
        Cli(positional=("gone",)),
        Cli(defaults={"gone": "a"}),
        Cli(inferred={"gone": "the last one"}),
        Cli(descriptions={"gone": "which"}),
        Cli(options={"kept": {"type": "string", "description": "which"}}),
    ],
    ids=["positional", "defaults", "inferred", "descriptions", "options"],
)
def test_facts_about_a_command_name_arguments_of_its_tool(cli: Cli) -> None:
    def tool(_: object, *, kept: str) -> dict[str, object]:
        return {"kept": kept}

    with pytest.raises(ValueError, match="`tool` has "):
        operation(example="moss tool", answers={}, cli=cli)(tool)


@pytest.mark.parametrize("traits", [{"example": "moss tool", "answers": {}, "gone": True}, {"answers": {}}])
def test_a_tool_with_an_unknown_or_missing_trait_is_refused(traits: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"gone|example"):
        operation(**traits)


def test_a_tool_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = catalog.find("capsule_purge")
    alias = catalog.find("moss.purge")
    monkeypatch.delattr(catalog, "import_module")
    assert first is not None
    assert catalog.find("capsule_purge") is first
    assert catalog.find("moss.purge") is alias


def test_a_tool_missing_in_the_table_is_found_in_its_family(monkeypatch: pytest.MonkeyPatch) -> None:
    known = catalog.find("artifact_kinds")
    monkeypatch.setattr(catalog, "MODULES", {})
    monkeypatch.setattr(catalog, "_loaded", {})
    assert catalog.find("artifact_kinds") is known
    assert catalog.find("artifact_kind") is None
    assert catalog.find("nothing_like_it") is None


@pytest.mark.parametrize(
    ("tool", "others"),
    [
        (
            "capsule_store",
            [
                "tools.capsule.capsule_lists",
                "tools.capsule.capsule_compose",
                "tools.capsule.capsule_files",
                "tools.capsule.capsule_bulk",
            ],
        ),
        (
            "capsule_list",
            ["tools.capsule.capsule_compose", "tools.capsule.capsule_files", "tools.capsule.capsule_bulk"],
        ),
        (
            "branchmind_notes_commit",
            [
                "tools.reasoning.branches.merge_tools",
                "tools.reasoning.cards.pack_tools",
                "tools.reasoning.cards.card_edit",
            ],
        ),
        ("tasks_list", ["tools.task.status_tools"]),
    ],
)
def test_finding_a_tool_imports_its_module_and_not_its_neighbours(tool: str, others: list[str]) -> None:
    run(
        f"""
import sys
from moss_memory.registry import catalog
assert catalog.find({tool!r}).name == {tool!r}
assert [name for name in {others!r} if "moss_memory." + name in sys.modules] == []
""",
    )
