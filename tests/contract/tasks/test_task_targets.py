"""The argument `target`: branch and documents of a plan or task, for every tool that accepts one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.reasoning.reasoning_tools import node
from contract.tasks.task_tools import needed
from moss_memory.registry import catalog
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

TARGETED = [
    tool for tool in catalog.operations() if tool.name.startswith("branchmind_") and "target" in tool.parameters
]
WITH_BRANCH = {"branchmind_think_card", "branchmind_think_context"} | {
    f"branchmind_think_add_{kind}"
    for kind in ("hypothesis", "question", "test", "note", "decision", "evidence", "frame", "update")
}
PLACES = {"branch", "ref", "doc", "graph_doc", "trace_doc", "notes_doc"}


@holds("4 document model: tools take a target, which is the branch and the documents of its reasoning_ref")
def test_every_tool_with_a_documented_target_accepts_one() -> None:
    names = {tool.name.removeprefix("branchmind_") for tool in TARGETED}
    thinking = {
        "think_card", "think_context", "think_query", "think_pack", "context_pack", "think_frontier", "think_next",
        "think_link", "think_set_status", "think_pin", "think_pins", "think_nominal_merge", "think_subgoal_open",
        "think_subgoal_close", "think_watch", "trace_step", "trace_sequential_step", "trace_hydrate", "trace_validate",
    }  # fmt: skip
    documents = {"show", "export", "notes_commit", "graph_apply", "graph_query", "graph_validate", "graph_history"}
    assert names == documents | thinking | {name.removeprefix("branchmind_") for name in WITH_BRANCH}


@holds("decisions §3: a target with any branch, ref or document is INVALID_REQUEST, except for what-if thinking")
def test_a_target_with_another_place_is_refused_except_by_what_if_tools(timed: TaskTools) -> None:
    timed.task()
    timed.room.apply(node("a", "question", tags=["subgoal"]), target="TASK-001")
    for tool in TARGETED:
        spelled = PLACES & set(tool.parameters) | {name for name in tool.aliases if name in PLACES}
        assert spelled or tool.name == "branchmind_export"
        for name in spelled:
            value = "main" if name in ("branch", "ref") else "graph"
            given = {**needed(tool), "target": "TASK-001", name: value}
            if name in ("branch", "ref") and tool.name in WITH_BRANCH:
                timed.door(tool.name, **given)
            else:
                timed.door.refuses("INVALID_REQUEST", tool.name, **given)


@holds("decisions §3: an unknown target is NOT_FOUND with a recovery")
def test_an_unknown_target_is_not_found_and_has_a_next_call(timed: TaskTools) -> None:
    timed.task()
    for tool in TARGETED:
        for target in ("TASK-002", "PLAN-001", "task/TASK-001"):
            short = tool.name.removeprefix("branchmind_")
            given = {"from_" if name == "from" else name: value for name, value in needed(tool).items()}
            timed.room.misses(short, **{**given, "target": target})


@holds("4 document model: tools take a target, which is the branch and the documents of its reasoning_ref")
def test_notes_of_a_target_are_written_to_its_branch(desk: TaskTools) -> None:
    desk.task()
    desk.plan()
    for target, branch in (("TASK-001", "task/TASK-001"), ("PLAN-001", "plan/PLAN-001")):
        entry = desk.room("notes_commit", target=target, content=f"about {target}")["entry"]
        assert (entry["branch"], entry["doc"], entry["kind"]) == (branch, "notes", "note")
        assert desk.room("show", target=target, doc_kind="notes")["entries"] == [entry]
    assert desk.room.texts("main") == []
    desk.room.refuses("INVALID_REQUEST", "notes_commit", target="TASK-001", branch="main", content="x")
    desk.room.refuses("INVALID_REQUEST", "notes_commit", target="TASK-001", ref="main", content="x")
    desk.room.refuses("INVALID_REQUEST", "notes_commit", target="TASK-001", doc="notes", content="x")


@holds("4 document model: tools take a target, which is the branch and the documents of its reasoning_ref")
def test_showing_a_target_shows_its_trace_unless_notes_are_requested(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("note", target="TASK-001", note="n")
    trace = desk.room("show", target="TASK-001")
    assert (trace["branch"], trace["doc"]) == ("task/TASK-001", "TASK-001-trace")
    assert trace["entries"] == desk.trace("TASK-001")
    assert desk.room("show", target="TASK-001", doc_kind="trace") == trace
    notes = desk.room("show", target="TASK-001", doc_kind="notes")
    assert (notes["branch"], notes["doc"]) == ("task/TASK-001", "notes")
    assert [entry["content"] for entry in notes["entries"]] == ["n"]


@holds("4 document model: tools take a target, which is the branch and the documents of its reasoning_ref")
def test_the_graph_of_a_target_is_its_own_document(desk: TaskTools) -> None:
    desk.task()
    answer = desk.room.apply(node("q", "question"), target="TASK-001")
    assert (answer["branch"], answer["doc"]) == ("task/TASK-001", "TASK-001-graph")
    found = desk.room("graph_query", target="TASK-001")
    assert (found["branch"], found["doc"]) == ("task/TASK-001", "TASK-001-graph")
    assert [one["id"] for one in found["nodes"]] == ["q", "task:TASK-001"]
    checked = desk.room("graph_validate", target="TASK-001")
    assert (checked["branch"], checked["doc"], checked["ok"]) == ("task/TASK-001", "TASK-001-graph", True)
    assert checked["stats"] == {"nodes": 2, "edges": 0}
    assert desk.room.nodes("main") == {}
    for tool, given in (("graph_query", {}), ("graph_validate", {}), ("graph_apply", {"ops": [node("x")]})):
        for place in ({"branch": "main"}, {"ref": "main"}, {"doc": "graph"}):
            desk.room.refuses("INVALID_REQUEST", tool, target="TASK-001", **place, **given)


@holds("4 export: target, reasoning_ref, and notes and trace as show shows them")
def test_an_export_contains_the_task_and_the_end_of_its_notes_and_trace(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a", parent="PLAN-001")
    for number in range(4):
        desk("note", target="TASK-001", note=f"note {number}")
    answer = desk.room("export", target="TASK-001", notes_limit=3, trace_limit=2)
    assert set(answer) == {"target", "reasoning_ref", "notes", "trace", "truncated"}
    radar = desk.radar("TASK-001")
    assert answer["reasoning_ref"] == radar["reasoning_ref"]
    assert answer["target"] == radar["target"]
    assert answer["notes"] == desk.room("show", target="TASK-001", doc_kind="notes", limit=3)
    assert answer["trace"] == desk.room("show", target="TASK-001", limit=2)
    assert answer["truncated"] is False
    assert desk.room("export", target="PLAN-001")["trace"]["entries"]
    desk.room.refuses("INVALID_REQUEST", "export", target="TASK-001", branch="main")
    desk.room.refuses("INVALID_REQUEST", "export")


@holds("decisions §3: a target's own documents always exist and read as empty")
def test_the_documents_of_a_target_are_empty_before_the_first_write(desk: TaskTools) -> None:
    desk.task()
    for doc in ("notes", "trace", "graph"):
        assert desk.room("show", branch="task/TASK-001", doc=doc)["entries"] == []
    assert desk.room("show", target="TASK-001", doc_kind="notes")["entries"] == []
    assert desk.room("graph_query", branch="task/TASK-001", doc="graph")["nodes"] == []
    assert desk.room("think_query", target="TASK-001")["cards"] == []
    desk.room.misses("show", branch="main", doc="TASK-001-trace")
    desk.room.misses("show", branch="task/TASK-001", doc="TASK-002-trace")


@holds("decisions §3: canonical branches have no base, no other name, and are not deleted")
@pytest.mark.parametrize("target", ["TASK-001", "PLAN-001"])
def test_a_canonical_branch_has_no_base_and_cannot_be_renamed_or_deleted(desk: TaskTools, target: str) -> None:
    made = desk.task() if target == "TASK-001" else desk.plan()
    branch = desk.radar(made)["reasoning_ref"]["branch"]
    assert desk.room.branches()[branch] == {"name": branch, "base_branch": None, "base_seq": None}
    desk.room.refuses("CONFLICT", "branch_rename", old=branch, new="mine")
    desk.room.refuses("CONFLICT", "branch_delete", name=branch)
    desk.room("branch_create", name="b")
    desk.room.refuses("INVALID_REQUEST", "branch_rename", old="b", new=f"{branch[:-1]}2")
    desk.room.refuses("INVALID_REQUEST", "branch_create", name=f"{branch[:-1]}2")
    desk("delete", target=made)
    desk.room.refuses("CONFLICT", "branch_delete", name=branch)
    desk.room.refuses("CONFLICT", "branch_rename", old=branch, new="mine")


@holds("decisions §3: a target with any branch, ref or document is INVALID_REQUEST, except for what-if thinking")
def test_a_what_if_branch_of_a_task_merges_back(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.room.branch("what-if", "task/TASK-001")
    desk.room("think_card", target="TASK-001", branch="what-if", card={"id": "h", "type": "hypothesis", "title": "T"})
    assert "h" not in desk.nodes("TASK-001")
    desk.close("TASK-001", "s:0")
    merged = desk.room("graph_merge", from_="what-if", into="task/TASK-001", doc="TASK-001-graph")
    assert (merged["merged"], merged["conflicts_created"]) == (1, 0)
    assert desk.nodes("TASK-001")["h"]["title"] == "T"
    assert desk.nodes("TASK-001")["step:STEP-001"]["status"] == "done"
