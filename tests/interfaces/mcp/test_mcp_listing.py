from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from moss_memory.errors import MossError
from moss_memory.mcp.protocol import Request, ToolCall, tool_failure
from moss_memory.mcp.tool_list import TOOLS_FILE, ToolList, generated, tool_lines
from moss_memory.registry import catalog
from moss_memory.registry.catalog import CORE

ALL = [name for name, _ in tool_lines()]


def listed(**settings: Any) -> list[str]:
    return [tool["name"] for tool in json.loads(ToolList(**settings).listing())]


def seen_by_a_model(tools: list[dict[str, Any]]) -> int:
    """Return the number of characters that a client shows its model, without hints and titles."""
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    return len(json.dumps(seen, ensure_ascii=False, separators=(",", ":")))


def test_the_tools_file_is_generated_from_the_registry() -> None:
    with open(TOOLS_FILE, encoding="utf-8") as file:
        assert file.read() == generated(), "run python -m moss_memory.mcp.tool_list"


def test_every_tool_is_listed_once_in_the_order_of_the_registry() -> None:
    assert listed() == [operation.name for operation in catalog.operations()]


def test_the_list_of_capsule_tools_is_short() -> None:
    assert seen_by_a_model(json.loads(ToolList(toolsets=["capsule"]).listing())) <= 15_000


def test_the_whole_list_is_within_its_limit() -> None:
    assert seen_by_a_model(json.loads(ToolList().listing())) <= 65_000


def test_the_how_to_states_the_size_of_the_whole_list() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "how-to" / "connect.md").read_text(encoding="utf-8")
    told = re.search(r"about (\d+),000 characters, or (\d+),000\s+tokens", text)
    assert told is not None
    seen = seen_by_a_model(json.loads(ToolList().listing()))
    assert abs(seen - int(told[1]) * 1000) <= 1000
    assert abs(seen / 4 - int(told[2]) * 1000) <= 1000


def test_no_v1_name_is_listed() -> None:
    assert [name for name in listed() if name.startswith("moss.")] == []


def test_every_listed_tool_is_complete(subtests: pytest.Subtests) -> None:
    for tool in json.loads(ToolList().listing()):
        with subtests.test(tool=tool["name"]):
            check_tool(tool)


def check_tool(tool: dict[str, Any]) -> None:
    assert 20 <= len(tool["description"]) <= 400
    assert tool["inputSchema"]["type"] == "object"
    assert "additionalProperties" not in tool["inputSchema"], "3,000 characters for what every call checks"
    assert set(tool["inputSchema"].get("required", ())) <= tool["inputSchema"]["properties"].keys()
    hints = tool["annotations"]
    assert hints.keys() == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert {type(hint) for hint in hints.values()} == {bool}
    assert not hints["openWorldHint"]
    if hints["readOnlyHint"]:
        assert (hints["destructiveHint"], hints["idempotentHint"]) == (False, True)


def test_hints_match_the_effects_of_tools() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in json.loads(ToolList().listing())}
    assert hints["capsule_fetch"]["readOnlyHint"]
    assert not hints["capsule_store"].get("readOnlyHint")
    assert not hints["capsule_export"].get("readOnlyHint")
    assert not hints["branchmind_notes_commit"]["destructiveHint"]
    for kept in ("capsule_store", "capsule_update", "capsule_import", "artifact_store"):
        assert not hints[kept]["destructiveHint"], "the earlier version stays readable"
    assert not hints["branchmind_graph_apply"]["destructiveHint"], "the graph keeps earlier versions"
    assert not hints["branchmind_graph_conflict_resolve"]["destructiveHint"]
    assert hints["moss_call"] == dict(hints["capsule_purge"], openWorldHint=False)
    assert hints["branchmind_merge"]["idempotentHint"]
    assert hints["capsule_purge"]["destructiveHint"]


def test_an_argument_is_described_at_its_first_use_in_a_family() -> None:
    tools = json.loads(ToolList().listing())
    store, *others = [tool for tool in tools if tool["name"].startswith("capsule_")]
    assert store["inputSchema"]["properties"]["run_id"]["description"]
    repeated = [tool["inputSchema"]["properties"].get("run_id", {}) for tool in others]
    assert [schema for schema in repeated if "description" in schema] == []


def test_a_disabled_tool_is_neither_listed_nor_found_under_any_name() -> None:
    offer = ToolList(disabled_tools=["capsule_store"])
    assert listed(disabled_tools=["capsule_store"]) == [name for name in ALL if name != "capsule_store"]
    assert offer.find("capsule_store") is None
    assert offer.find("moss.store") is None
    assert offer.find("capsule_fetch") is not None
    assert offer.find("moss.fetch") is not None


def test_a_disabled_v1_name_does_not_disable_its_tool() -> None:
    offer = ToolList(disabled_tools=["moss.store"])
    assert offer.find("moss.store") is None
    assert offer.find("capsule_store") is not None


def test_a_disabled_type_disables_all_its_tools() -> None:
    left = listed(disabled_types=["capsule"])
    assert [name for name in left if name.startswith("capsule_")] == []
    assert ToolList(disabled_types=["capsule"]).find("capsule_fetch") is None
    assert ToolList(disabled_types=["capsule"]).find("moss.fetch") is None


def test_toolsets_shorten_the_list_but_keep_search() -> None:
    for_artifacts = [name for name in ALL if name.startswith(("artifact_", "moss_")) and name != "moss_freshness"]
    assert listed(toolsets=["artifact"]) == for_artifacts
    assert "moss_freshness" in set(listed(toolsets=["capsule"])) & set(listed(toolsets=["reasoning"]))
    assert set(listed(toolsets=["core"])) == CORE & set(ALL)
    assert "moss_search" in listed(toolsets=["record"])


@pytest.mark.parametrize("toolset", catalog.TOOLSETS)
def test_every_short_list_contains_moss_tools_and_moss_call(toolset: str) -> None:
    assert {"moss_tools", "moss_call"} <= set(listed(toolsets=[toolset]))


def test_a_proposed_call_of_an_unlisted_tool_uses_moss_call() -> None:
    proposal = {"tool": "tasks_verify", "arguments": {"target": "TASK-001"}, "reason": "check it"}
    wrapped = {"tool": "tasks_verify", "arguments": {"target": "TASK-001"}}
    assert ToolList().rewrite_for_client(proposal) == proposal
    assert ToolList(toolsets=["task"]).rewrite_for_client(proposal) == proposal
    slim = ToolList(toolsets=["core"])
    assert slim.rewrite_for_client(proposal) == {"tool": "moss_call", "arguments": wrapped, "reason": "check it"}
    assert ToolList(toolsets=["core"], disabled_tools=["moss_call"]).rewrite_for_client(proposal) == proposal
    assert ToolList(toolsets=["core"], disabled_types=["task"]).rewrite_for_client(proposal) is None


def test_an_unlisted_tool_still_answers() -> None:
    assert ToolList(toolsets=["artifact"]).find("capsule_fetch") is not None


def test_unknown_toolsets_in_a_file_are_ignored() -> None:
    assert listed(toolsets=["nothing"]) == ALL
    assert listed(disabled_types=["nothing"], disabled_tools=["nothing"]) == ALL


@pytest.mark.parametrize(("tool", "nearest"), [("capsule_stor", "capsule_store"), ("moss.fetsh", "capsule_fetch")])
def test_a_refusal_names_the_nearest_tool(tool: str, nearest: str) -> None:
    assert (ToolList().refusal(tool).details or {})["nearest"] == nearest


def test_a_refusal_never_names_a_disabled_tool() -> None:
    refusal = ToolList(disabled_tools=["capsule_store"]).refusal("capsule_store")
    assert (refusal.details or {})["nearest"] != "capsule_store"


def test_a_refusal_is_made_also_if_all_tools_are_disabled() -> None:
    assert "disabled" in ToolList(disabled_tools=ALL).refusal("x").message


def test_moss_search_stays_enabled_if_the_core_is_disabled() -> None:
    assert "moss_search" in listed(disabled_types=["core"])


def test_a_tool_for_people_is_neither_listed_nor_found() -> None:
    assert "artifact_purge" not in listed()
    assert ToolList().find("artifact_purge") is None


def test_an_error_does_not_propose_a_disabled_tool() -> None:
    error = MossError("NOT_FOUND", "gone", recovery={"tool": "capsule_list", "arguments": {}, "reason": "lists"})
    for disabled, kept in ((["capsule_list"], False), ([], True)):
        offer = ToolList(disabled_tools=disabled)
        fetch = offer.find("capsule_fetch")
        assert fetch is not None
        call = ToolCall(Request(1, "1", "tools/call", {}), offer, fetch, {})
        answer = json.loads(tool_failure(call, copy.copy(error)))["result"]["structuredContent"]["error"]
        assert ("recovery" in answer) is kept
