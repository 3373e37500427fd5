"""Unknown tools and arguments: the error proposes the right call, and only similar names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Door, open_test_store
from moss_memory.errors import MossError, find_alike, find_alike_argument
from moss_memory.registry import catalog
from moss_memory.registry.foreign_tools import _TOOLS, translate
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock
    from moss_memory.store import Store

FOREIGN = [
    ("create_entities", {"entities": [{"name": "A", "entityType": "x"}]}, "branchmind_graph_apply"),
    ("create_relations", {"relations": [{"from": "A", "to": "B", "relationType": "uses"}]}, "branchmind_graph_apply"),
    ("add_observations", {"observations": [{"entityName": "A", "contents": ["seen"]}]}, "branchmind_notes_commit"),
    ("search_nodes", {"query": "zebra"}, "moss_search"),
    ("search_memories", {"query": "zebra", "limit": 3}, "moss_search"),
    ("search_notes", {"query": "zebra"}, "moss_search"),
    ("retrieve_memory", {"query": "zebra", "n_results": 5}, "moss_search"),
    ("recall", {"query": "zebra"}, "moss_search"),
    ("add_memory", {"content": "a zebra"}, "capsule_store"),
    ("store_memory", {"content": "a zebra", "tags": ["x"]}, "capsule_store"),
    ("save_memory", {"fact": "a zebra"}, "capsule_store"),
    ("remember", {"text": "a zebra"}, "capsule_store"),
    ("write_note", {"title": "Stripes", "content": "a zebra", "folder": "animals"}, "capsule_store"),
    ("context_save", {"key": "stripes", "value": "a zebra"}, "capsule_store"),
    ("memory_bank_write", {"projectName": "shop", "fileName": "stripes.md", "content": "a zebra"}, "capsule_store"),
    ("list_memories", {}, "capsule_inventory"),
    ("recent_activity", {"timeframe": "7d"}, "capsule_inventory"),
]  # fmt: skip


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
@pytest.mark.parametrize(("tool", "arguments", "expected"), FOREIGN)
def test_a_tool_name_of_another_memory_proposes_the_equivalent_tool(
    store: Store, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    with pytest.raises(MossError) as refused:
        store.call(tool, arguments)
    error = refused.value
    assert error.code == "INVALID_REQUEST"
    assert error.recovery is not None
    assert error.recovery["tool"] == expected
    store.call(error.recovery["tool"], error.recovery["arguments"])


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
def test_the_proposal_contains_the_text_to_store(store: Store) -> None:
    for tool, arguments, expected in FOREIGN:
        if expected == "capsule_store":
            carried = translate(tool, arguments)
            assert carried is not None
            assert "zebra" in carried[1]["capsule_text"]
    named = translate("memory_bank_write", {"projectName": "shop", "fileName": "a.md", "content": "text"})
    assert named == (
        "capsule_store",
        {"capsule_text": "text", "name": "a.md", "workspace": "shop", "allow_thin": True},
    )
    assert translate("read_note", {"identifier": "a"}) == ("capsule_fetch", {"name": "a"})
    assert translate("delete_memory", {"memory_id": "x"}) == ("capsule_delete", {"id": "x"})
    assert translate("mcp__memory__search_nodes", {"query": "q"}) == ("moss_search", {"query": "q"})
    assert translate("searchNotes", {"query": "q"}) == ("moss_search", {"query": "q"})


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
def test_every_equivalent_tool_exists_and_no_foreign_name_is_a_moss_tool() -> None:
    for name, (tool, _) in _TOOLS.items():
        assert catalog.find(tool) is not None
        assert catalog.find(name) is None


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
@pytest.mark.parametrize(
    "arguments", [None, 5, {}, {"query": None}, {"content": {"a": [1]}}, {"entities": [5, {"name": 3}]}]
)
def test_unusual_arguments_of_a_foreign_tool_are_no_internal_error(store: Store, arguments: Any) -> None:
    for name in _TOOLS:
        with pytest.raises(MossError) as refused:
            store.call(name, arguments)
        assert refused.value.code == "INVALID_REQUEST"


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("capsule_stor", "capsule_store"),
        ("capsule_load", "capsule_fetch"),
        ("save", "capsule_store"),
        ("load", "capsule_fetch"),
        ("capsules_list", "capsule_list"),
        ("tasks_finish", None),
        ("frobnicate", None),
        ("x", None),
    ],
)
def test_a_dissimilar_tool_is_not_proposed(call: Door, name: str, like: str | None) -> None:
    error = call.refuses("INVALID_REQUEST", "moss_call", tool=name, arguments={})
    if like is not None:
        assert (error.details or {})["nearest"] == like
    near = (error.details or {}).get("nearest")
    if name == "tasks_finish":
        assert str(near).startswith("tasks_")
    elif like is None:
        assert near is None


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
def test_the_proposal_for_a_misspelled_tool_has_its_right_name(call: Door) -> None:
    call("capsule_store", name="a", capsule_text="text", allow_thin=True)
    error = call.refuses("INVALID_REQUEST", "moss_call", tool="capsule_fetsh", arguments={"name": "a"})
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["capsule_text"] == "text"


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
def test_an_unknown_argument_is_reported_with_a_similar_one_only(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "branchmind_think_card", workspace="w", card="x", refutes="y")
    assert "nearest" not in (error.details or {})
    error = call.refuses("INVALID_REQUEST", "capsule_store", capsule_txt="x")
    assert (error.details or {})["nearest"] == "capsule_text"
    error = call.refuses("INVALID_REQUEST", "capsule_store", capsule_text="x", text="y")
    assert (error.details or {})["nearest"] == "capsule_text"
    error = call.refuses("INVALID_REQUEST", "tasks_claim", workspace="w", agent="a", role="x")
    assert "nearest" not in (error.details or {})


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
def test_similar_names_differ_in_at_most_a_third_of_their_letters() -> None:
    assert find_alike("abcdef", ["abcdxy"]) == "abcdxy"
    assert find_alike("abcdef", ["abcxyz"]) is None
    assert find_alike("role", ["release"]) is None
    assert find_alike_argument("max_results", ["limit", "max_chars"]) == "max_chars"
    assert find_alike_argument("refutes", ["allow_secrets"]) is None


@holds(
    "decisions §10: unknown tools and arguments name only similar ones; tools of other memory servers lead to Moss's"
)
def test_a_disabled_tool_is_not_an_alternative(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, disabled_types=["capsule"]) as store:
        with pytest.raises(MossError) as refused:
            store.call("add_memory", {"content": "x"})
        assert "capsule" not in str(refused.value.payload())


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
@pytest.mark.parametrize("tool", ["add_memory", "add_observations", "delete_entities", "search_nodes", "read_note"])
def test_a_proposed_call_omits_unknown_arguments(store: Store, tool: str) -> None:
    error = store.unknown_tool_error(tool, {})
    assert error.recovery is not None
    assert not [value for value in error.recovery["arguments"].values() if value in ("", [], None)]
    operation = catalog.find(error.recovery["tool"])
    assert operation is not None
    for name in operation.required:
        assert name in error.recovery["arguments"] or f"`{name}`" in error.recovery["reason"]


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
@pytest.mark.parametrize(
    ("tool", "nearest"),
    [("tasks_finish", "tasks_complete"), ("capsule_stor", "capsule_store"), ("tasklist", "tasks_list")],
)
def test_the_nearest_tool_is_similar_in_each_word(store: Store, tool: str, nearest: str) -> None:
    assert (store.unknown_tool_error(tool).details or {})["nearest"] == nearest


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
def test_the_proposal_for_a_misspelled_tool_has_corrected_arguments(store: Store) -> None:
    error = store.unknown_tool_error("task_create", {"project": "shop", "type": "task", "title": "t", "steps": ["one"]})
    assert error.recovery is not None
    assert error.recovery["tool"] == "tasks_create"
    assert store.call("tasks_create", error.recovery["arguments"])["id"] == "TASK-001"
