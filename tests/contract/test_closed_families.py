"""Closed families: absent from lists, packs, searches, proposals and counts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from contract.doors import FULL, Clock, open_test_store
from moss_memory.errors import MossError
from moss_memory.mcp.protocol import Protocol, ToolCall, tool_answer, tool_failure
from moss_memory.mcp.tool_list import ToolList
from moss_memory.registry import catalog
from moss_memory.store import Store
from support.direct_store import newest_change
from support.promises import holds

TOOL_GROUPS = ("capsule", "artifact", "reasoning", "task", "record")
SHOP = {"workspace": "shop"}
TASK = {**SHOP, "target": "TASK-001"}
UNIT = {
    "id": "FU-1",
    "description": "recordmark",
    "status": "planning",
    "created_at": "2026-01-01",
    "updated_at": "2026-01-02",
}
STEP = {"title": "step", "success_criteria": ["done"], "tests": ["checked"]}
FILLED: list[tuple[str, dict[str, Any]]] = [
    ("capsule_store", {**SHOP, "name": "capsulemark", "run_id": "r1", "capsule_text": f"{FULL}\ncapsulemark"}),
    (
        "artifact_store",
        {**SHOP, "name": "artifactmark", "kind": "k", "run_id": "r1", "data": {}, "text": "artifactmark"},
    ),
    ("tasks_create", {**SHOP, "kind": "task", "title": "taskmark", "description": "taskmark", "steps": [STEP]}),
    ("tasks_note", {**TASK, "note": "taskmark said"}),
    ("branchmind_notes_commit", {**SHOP, "content": "reasoningmark"}),
    ("branchmind_notes_commit", {**TASK, "content": "reasoningmark of the task"}),
    ("branchmind_think_add_decision", {**TASK, "card": {"title": "reasoningmark decision"}}),
    ("branchmind_think_add_question", {**TASK, "card": {"title": "reasoningmark question"}}),
    ("submit_payload", {**SHOP, "capability_id": "neotoma:store_feature_unit:v1", "body": UNIT}),
]
ASKED: list[tuple[str, dict[str, Any]]] = [
    *(("moss_search", {"query": f"{family}mark", "search_mode": "keyword"}) for family in TOOL_GROUPS),
    *(("moss_tools", {"query": words}) for words in ("capsule", "artifact", "branch card note", "task step", "record")),
    ("moss_tools", {}),
    ("moss_history", {**SHOP, "type": "capsule", "name": "capsulemark"}),
    ("moss_history", {**SHOP, "type": "artifact", "name": "artifactmark"}),
    ("moss_activity", {}),
    ("moss_workspaces", {}),
    ("moss_changes", {"after": 0}),
    ("moss_recent", {}),
    ("capsule_latest", {**SHOP, "include_text": True}),
    ("capsule_inventory", {}),
    ("capsule_fetch", {**SHOP, "name": "nobody"}),
    ("artifact_list", {"run_id": "r1"}),
    ("artifact_fetch", {**SHOP, "name": "nobody"}),
    ("branchmind_context_pack", {**SHOP, "include": ["capsules", "artifacts"]}),
    ("branchmind_context_pack", {**TASK, "include": ["capsules", "artifacts"], "run_id": "r1"}),
    ("branchmind_context_pack", {**SHOP, "target": "TASK-999"}),
    ("branchmind_export", TASK),
    ("branchmind_status", SHOP),
    ("branchmind_think_pack", TASK),
    ("branchmind_think_watch", TASK),
    ("tasks_radar", SHOP),
    ("tasks_radar", {**SHOP, "target": "TASK-999"}),
    ("tasks_show", TASK),
    ("tasks_list", SHOP),
    ("tasks_delta", SHOP),
    ("tasks_handoff", SHOP),
    ("tasks_handoff", {**SHOP, "as_capsule": True}),
    ("capsule_fetch", {**SHOP, "name": "TASK-001-handoff"}),
    ("retrieve_records", SHOP),
    ("retrieve_entities", SHOP),
]
TOOL = re.compile(
    r"\b(?:capsule|artifact|branchmind|tasks|record)_\w+|\b(?:submit|retrieve)_\w+|\blist_timeline_events\b"
)


class Client:
    """An in-process client of one server that reads the messages in their serialized form."""

    def __init__(self, store: Store, toolset: str) -> None:
        self._store = store
        toolsets = [toolset] if toolset else []
        closed = {"disabled_types": store.config.disabled_types}
        self._protocol = Protocol(lambda: ToolList(toolsets=toolsets, **closed))

    def read(self, method: str, params: dict[str, Any]) -> str:
        outcome = self._protocol.answer({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if isinstance(outcome, ToolCall):
            return self._answer(outcome).decode()
        assert isinstance(outcome, bytes)
        return outcome.decode()

    def _answer(self, call: ToolCall) -> bytes:
        try:
            return tool_answer(call, self._store.call(call.tool, call.arguments))
        except MossError as error:
            return tool_failure(call, error)


def is_open(tool: str, closed: str) -> bool:
    return catalog.toolset_of(tool) != closed


def answers(store: Store, toolset: str, closed: str) -> list[tuple[str, str]]:
    """Return every answer of such a server by its request."""
    client = Client(store, toolset)
    read = [(method, client.read(method, {})) for method in ("initialize", "tools/list", "server/discover")]
    for tool, arguments in ASKED:
        if is_open(tool, closed):
            read.append((tool, client.read("tools/call", {"name": tool, "arguments": arguments})))
            through = {"tool": tool, "arguments": arguments}
            read.append((tool, client.read("tools/call", {"name": "moss_call", "arguments": through})))
    return read


@holds("decisions §7: disabled_types closes a family in every answer")
@pytest.mark.parametrize("closed", TOOL_GROUPS)
@pytest.mark.parametrize("toolset", ["", *catalog.TOOLSETS])
def test_no_answer_contains_anything_of_a_closed_family(home: str, clock: Clock, toolset: str, closed: str) -> None:
    with open_test_store(home, clock) as filling:
        for tool, arguments in FILLED:
            filling.call(tool, arguments)
    with open_test_store(home, clock, disabled_types=[closed]) as store:
        for asked, text in answers(store, toolset, closed):
            named = {name for name in TOOL.findall(text) if catalog.find(name) is not None}
            assert [name for name in named if not is_open(name, closed)] == [], f"{asked}: {text}"
            # A task's own documents belong to reasoning.
            if closed != "task" or (catalog.toolset_of(asked) != "reasoning" and asked != "moss_search"):
                assert f"{closed}mark" not in text, f"{asked}: {text}"


@holds("decisions §7: disabled_types closes a family in every answer")
def test_without_reasoning_the_radar_has_no_reference_and_a_task_keeps_its_own_notes(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as filling:
        for tool, arguments in FILLED:
            filling.call(tool, arguments)
        assert filling.call("tasks_radar", SHOP)["reasoning_ref"]["branch"] == "task/TASK-001"
        assert len(filling.call("tasks_show", TASK)["notes"]) == 2
    with open_test_store(home, clock, disabled_types=["reasoning"]) as store:
        assert "reasoning_ref" not in store.call("tasks_radar", SHOP)
        assert store.call("tasks_show", TASK)["notes"] == ["taskmark said"]
        name = store.call("tasks_handoff", {**SHOP, "as_capsule": True})["capsule"]["fetch_key"]["moss_capsule"]
        assert "taskmark said" in store.call("capsule_fetch", {**SHOP, "name": name})["capsule_text"]


@holds("decisions §7: disabled_types closes a family in every answer")
def test_without_tasks_the_trace_of_a_task_is_still_readable(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as filling:
        for tool, arguments in FILLED:
            filling.call(tool, arguments)
    with open_test_store(home, clock, disabled_types=["task"]) as store:
        exported = store.call("branchmind_export", TASK)
        assert "target" not in exported
        assert exported["trace"]["entries"]
        assert store.call("branchmind_status", SHOP)["last_event"] is None
        following = store.call("branchmind_context_pack", TASK)["next"]
        assert following["tool"].startswith("branchmind_")


@holds("decisions §7: disabled_types closes a family in every answer")
def test_a_hand_over_cannot_be_stored_as_a_capsule_if_capsules_are_closed(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, disabled_types=["capsule"]) as store:
        store.call("tasks_create", {**SHOP, "kind": "task", "title": "t"})
        with pytest.raises(MossError) as refused:
            store.call("tasks_handoff", {**SHOP, "as_capsule": True})
        assert refused.value.code == "INVALID_REQUEST"
        assert json.dumps(store.call("tasks_handoff", SHOP))


@holds("decisions §7: disabled_types closes a family in every answer")
def test_a_closed_family_is_neither_counted_nor_mentioned(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as filling:
        for tool, arguments in FILLED:
            filling.call(tool, arguments)
    with open_test_store(home, clock, disabled_types=["capsule", "record"]) as store:
        activity = store.call("moss_activity", {})
        assert sorted(activity["counts"]) == ["artifact", "reasoning", "task"]
        assert sorted(activity["days"][0].keys() - {"day"}) == ["artifact", "reasoning", "task"]
        [figures] = store.call("moss_workspaces", {})["workspaces"]
        assert (figures["capsules"], figures["records"], figures["artifacts"]) == (0, 0, 1)
        newest_change(lambda tool: store.call(tool, {}), home)
        first = store.call("moss_changes", {"after": 0, "limit": 1})
        assert first["changes"][0]["tool"] == "artifact_store"
        assert first["has_more"]
