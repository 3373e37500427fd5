"""The catalog: a tool is found by its name, from the one module that holds it, and only once."""

from __future__ import annotations

import pytest

from moss_memory.registry import catalog, tool_modules
from support.python_process import run


def test_the_table_of_modules_is_not_stale() -> None:
    with open(tool_modules.__file__, encoding="utf-8") as file:
        assert file.read() == catalog.module_table_source(), "run `make docs`"


def test_a_tool_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = catalog.find("capsule_purge")
    alias = catalog.find("moss.purge")
    monkeypatch.delattr(catalog, "module")
    assert first is not None
    assert catalog.find("capsule_purge") is first
    assert catalog.find("moss.purge") is alias


def test_a_tool_that_the_table_does_not_know_yet_is_found_in_its_family(monkeypatch: pytest.MonkeyPatch) -> None:
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
            ["tools.reasoning.branches.merge_tools", "tools.reasoning.cards.packs", "tools.reasoning.cards.card_edit"],
        ),
        ("tasks_list", ["tools.task.radar"]),
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
