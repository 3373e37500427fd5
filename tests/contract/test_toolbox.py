"""`moss_tools` and `moss_call`: every tool is found by a question and called, even if it is not listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, Clock, Door, open_test_store
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from support.direct_store import rows
from support.mcp_server import McpServer
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.store import Store

STEP = {"title": "write it", "success_criteria": ["it is there"], "tests": ["make test"]}


def names(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in answer["tools"]]


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("bring back a deleted capsule", "capsule_restore"),
        ("merge a branch", "branchmind_merge"),
        ("close a step of a task", "tasks_done"),
        ("kinds of artifacts", "artifact_kinds"),
        ("timeline of events", "list_timeline_events"),
        ("get rid of the variant", "branchmind_branch_delete"),
        ("which hypothesis is promising", "branchmind_think_next"),
        ("could you grab that ticket", "tasks_claim"),
        ("how can I amend a capsule", "capsule_update"),
        ("where did I write about the leak", "moss_search"),
    ],
)
def test_a_tool_is_found_by_a_question(call: Door, question: str, tool: str) -> None:
    assert tool in names(call("moss_tools", query=question))[:3]


@holds("decisions §10: moss_tools answers a question with at most 8 tools, and the best with its schema")
@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("undo a change", "moss_revert"),
        ("undo", "moss_revert"),
        ("remove a secret that was stored", "moss_erase"),
        ("reserve a task for me", "tasks_claim"),
        ("what did we decide in May", "moss_search"),
        ("list workspaces", "moss_workspaces"),
    ],
)
def test_the_right_tool_is_the_first_and_comes_with_its_schema(call: Door, question: str, tool: str) -> None:
    found = call("moss_tools", query=question)
    assert names(found)[0] == tool
    assert found["best"] == call("moss_tools", names=[tool])["tools"][0]
    assert set(found["tools"][0]) == {"name", "summary", "listed"}
    assert found["tools"][0]["listed"] is True, "a caller without a list of its own has them all"


@holds("decisions §10: moss_tools answers a question with at most 8 tools, and the best with its schema")
@pytest.mark.parametrize(
    ("file", "count", "most_missed"), [("tool_questions.txt", 100, 5), ("more_tool_questions.txt", 103, 5)]
)
def test_everyday_questions_find_the_right_tool(store: Store, file: str, count: int, most_missed: int) -> None:
    """Use questions that were written independently of the declared keywords."""
    lines = (Path(__file__).parents[1] / "retrieval" / file).read_text().splitlines()
    asked = [line.split(" | ") for line in lines]
    missed = [one for one in asked if one[1] not in names(store.call("moss_tools", {"query": one[0]}))[:3]]
    assert len(asked) == count
    assert len(missed) <= most_missed, missed


@holds("decisions §10: moss_tools answers a question with at most 8 tools, and the best with its schema")
def test_an_answer_to_a_question_is_short(store: Store) -> None:
    questions = [operation.words for operation in catalog.operations()] + ["capsule", "task", "branch", "list delete"]
    for question in questions:
        answer = store.call("moss_tools", {"query": question})
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        assert len(text) <= 4000
        assert json.loads(answer.json) == answer  # type: ignore[attr-defined]
        assert len(answer["tools"]) >= 3


@holds("decisions §10: moss_tools answers a question with at most 8 tools, and the best with its schema")
def test_listed_tools_are_marked_and_are_never_the_only_result(store: Store) -> None:
    for question in ("save load continue", "task", "what next", "search"):
        found = store.call("moss_tools", {"query": question}, is_listed=lambda tool: tool in catalog.CORE)["tools"]
        assert [tool["listed"] for tool in found] == [tool["name"] in catalog.CORE for tool in found]
        assert not all(tool["listed"] for tool in found)


@holds("decisions §10: moss_tools answers a question with at most 8 tools, and the best with its schema")
def test_every_tool_declares_everyday_keywords() -> None:
    assert [one.name for one in catalog.operations() if len(one.words.split()) < 3] == []


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
def test_at_most_eight_tools_are_shown_with_the_total(call: Door) -> None:
    found = call("moss_tools", query="capsule")
    assert 3 <= len(found["tools"]) <= 8
    assert found["total"] > 8
    assert call("moss_tools")["total"] == len(catalog.operations())
    assert call("moss_tools", query="zebra") == {"tools": [], "total": 0}


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
def test_a_tool_requested_by_name_has_its_full_schema(call: Door) -> None:
    found = call("moss_tools", names=["tasks_claim"])
    assert found["total"] == 1
    schema = found["tools"][0]["inputSchema"]
    assert schema["required"] == ["workspace", "agent"]
    assert schema["properties"]["lease_s"]["default"] == 1800
    assert schema["properties"]["workspace"]["description"]


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
def test_a_default_workspace_shows_in_the_schema(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, workspace="shop") as store:
        for place, expected in ((None, "shop"), ("yard", "yard")):
            schema = store.call("moss_tools", {"names": ["tasks_claim"]}, workspace=place)["tools"][0]["inputSchema"]
            assert schema["properties"]["workspace"]["default"] == expected
            assert schema["required"] == ["agent"]


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
def test_tools_requested_by_name_precede_results_of_the_question(call: Door) -> None:
    found = names(call("moss_tools", names=["artifact_kinds"], query="merge a branch"))
    assert found[0] == "artifact_kinds"
    assert "branchmind_merge" in found


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
def test_an_unknown_name_is_reported_with_the_nearest(call: Door) -> None:
    error = call.refuses("NOT_FOUND", "moss_tools", names=["capsule_list", "capsule_stor"])
    assert error.details == {"path": "names[1]", "nearest": "capsule_store"}
    assert error.recovery is not None
    assert names(call(error.recovery["tool"], **error.recovery["arguments"])) == ["capsule_store"]


@holds("decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema")
def test_a_blank_question_is_refused(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "moss_tools", query=" ")


@holds("decisions §7: moss_call calls any tool but itself that is not disabled, and answers as it would")
def test_an_indirect_call_returns_the_same_as_a_direct_one(call: Door) -> None:
    stored = call("moss_call", tool="capsule_store", arguments={"name": "a", "capsule_text": FULL})
    assert stored["fetch_key"] == {"moss_capsule": "a", "moss_workspace": "default"}
    assert call("moss_call", tool="capsule_fetch", arguments={"name": "a"}) == call("capsule_fetch", name="a")
    assert call("moss_call", tool="moss.fetch", arguments={"name": "a"})["task_link"] == stored["fetch_key"]


@holds("decisions §7: moss_call calls any tool but itself that is not disabled, and answers as it would")
@pytest.mark.parametrize(
    ("code", "tool", "arguments"),
    [
        ("NOT_FOUND", "capsule_fetch", {"name": "nobody"}),
        ("INVALID_REQUEST", "capsule_fetch", {"nam": "a"}),
        ("VALIDATION_ERROR", "retrieve_records", {"limit": "many"}),
        ("CAPSULE_TOO_THIN", "capsule_store", {"capsule_text": "thin"}),
    ],
)
def test_an_indirect_call_fails_with_the_codes_of_its_tool(
    call: Door, code: str, tool: str, arguments: dict[str, Any]
) -> None:
    direct = call.refuses(code, tool, **arguments)
    assert call.refuses(code, "moss_call", tool=tool, arguments=arguments).payload() == direct.payload()


@holds("decisions §7: moss_call calls any tool but itself that is not disabled, and answers as it would")
@pytest.mark.parametrize(
    "arguments",
    [
        {"tool": "moss_call", "arguments": {"tool": "capsule_list"}},
        {"tool": "capsule_lst"},
        {"tool": "artifact_purge"},
        {"tool": 1},
        {},
        {"tool": "capsule_list", "arguments": []},
        {"tool": "capsule_list", "args": {}},
    ],
)
def test_an_invalid_indirect_call_is_refused(call: Door, arguments: dict[str, Any]) -> None:
    call.refuses("INVALID_REQUEST", "moss_call", **arguments)


@holds("decisions §7: moss_call calls any tool but itself that is not disabled, and answers as it would")
def test_disabled_tools_are_neither_found_nor_called(home: str, clock: Clock) -> None:
    settings: dict[str, Any] = {"disabled_types": ["task"], "disabled_tools": ["capsule_purge"]}
    with open_test_store(home, clock, **settings) as store:
        assert not [name for name in names(store.call("moss_tools", {"query": "task step plan"})) if "tasks_" in name]
        for tool in ("tasks_list", "capsule_purge", "moss.purge"):
            with pytest.raises(MossError) as refused:
                store.call("moss_call", {"tool": tool, "arguments": {}})
            assert refused.value.code == "INVALID_REQUEST"


@holds("decisions §7: moss_call calls any tool but itself that is not disabled, and answers as it would")
def test_an_indirect_call_writes_the_event_of_its_tool(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as store:
        store.call("moss_call", {"tool": "capsule_store", "arguments": {"capsule_text": FULL}})
    assert rows(home, "select tool from events") == [("capsule_store",)]


@pytest.fixture
def slim(tmp_path: Path) -> Iterator[McpServer]:
    """Return a server that lists only the core tools."""
    server = McpServer(tmp_path / "home", "--toolsets", "core")
    yield server
    server.close()


@holds("decisions §7: next and recovery name a tool through moss_call if the client's list lacks it")
def test_a_client_of_the_core_can_make_every_proposed_call(slim: McpServer) -> None:
    listed = {tool["name"] for tool in slim.tools()}
    shop = {"workspace": "shop"}
    slim.call("tasks_create", {**shop, "kind": "task", "title": "write", "steps": [STEP]})
    proposed = slim.call("tasks_radar", shop)["radar"]["next"]
    assert proposed["tool"] == "tasks_done"
    proposed["arguments"]["checkpoints"] = {"criteria": True, "tests": True}
    assert slim.call(proposed["tool"], proposed["arguments"])["revision"] == 2
    slim.call("tasks_create", {**shop, "kind": "task", "title": "divide"})
    slim.call("tasks_focus", {**shop, "target": "TASK-002"})
    assert "tasks_decompose" not in listed
    for tool in ("tasks_radar", "tasks_handoff"):
        answer = slim.call(tool, shop)
        proposed = answer["radar"]["next"]
        assert (proposed["tool"], proposed["arguments"]["tool"]) == ("moss_call", "tasks_decompose")
    assert slim.call(proposed["tool"], proposed["arguments"])["revision"] == 2


@holds("decisions §7: next and recovery name a tool through moss_call if the client's list lacks it")
def test_a_client_of_the_core_recovers_through_listed_tools(slim: McpServer) -> None:
    recovery = slim.call("capsule_fetch", {"name": "nobody"})["error"]["recovery"]
    assert recovery["tool"] == "moss_call"
    assert slim.call(recovery["tool"], recovery["arguments"])["items"] == []
