"""Reasoning about plans and tasks: their branch, their documents and their export."""

from __future__ import annotations

from typing import Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, compact, edge, lines, newest_first, node
from support.promises import holds


def create(room: ReasoningTools, kind: str = "task", **fields: Any) -> str:
    """Create a plan or a task and return its id."""
    made: str = room.door("tasks_create", workspace=room.workspace, kind=kind, title="Ship it", **fields)["id"]
    return made


@holds("4 branching: canonical branches of plans and tasks have no base and are listed")
@pytest.mark.parametrize(("kind", "branch"), [("task", "task/TASK-001"), ("plan", "plan/PLAN-001")])
def test_a_canonical_branch_has_no_base_and_is_listed(room: ReasoningTools, kind: str, branch: str) -> None:
    create(room, kind)
    assert room.branches()[branch] == {"name": branch, "base_branch": None, "base_seq": None}
    assert room("status")["checkout"] == "main"


@holds("decisions §3: canonical branches are neither renamed nor deleted")
@pytest.mark.parametrize(("kind", "branch"), [("task", "task/TASK-001"), ("plan", "plan/PLAN-001")])
def test_a_canonical_branch_is_neither_renamed_nor_deleted(room: ReasoningTools, kind: str, branch: str) -> None:
    create(room, kind)
    room.refuses("CONFLICT", "branch_rename", old=branch, new="mine")
    assert kind in room.refuses("CONFLICT", "branch_delete", name=branch).message


@holds("4 documents: a target selects its canonical branch and documents")
def test_a_target_decides_the_branch_of_a_note_regardless_of_the_checkout(room: ReasoningTools) -> None:
    task = create(room)
    room.branch("b")
    room("checkout", ref="b")
    entry = room("notes_commit", target=task, content="about the task")["entry"]
    assert (entry["branch"], entry["doc"], entry["kind"]) == ("task/TASK-001", "notes", "note")
    assert room.texts("task/TASK-001") == ["about the task"]
    assert room.texts("b") == room.texts("main") == []


@holds("4 documents: a target selects its canonical branch and documents")
def test_a_target_shows_its_trace_by_default(room: ReasoningTools) -> None:
    task = create(room)
    room.note("a note", target=task)
    answer = room("show", target=task)
    assert (answer["branch"], answer["doc"]) == ("task/TASK-001", "TASK-001-trace")
    assert answer["entries"]
    assert room("show", target=task, doc_kind="trace") == answer
    answer = room("show", target=task, doc_kind="notes")
    assert (answer["branch"], answer["doc"]) == ("task/TASK-001", "notes")
    assert [entry["content"] for entry in answer["entries"]] == ["a note"]
    assert room("show", branch="task/TASK-001", doc="notes") == answer


@holds("4 documents: a target selects its canonical branch and documents")
def test_a_target_selects_its_graph(room: ReasoningTools) -> None:
    task = create(room)
    answer = room.apply(node("mine"), edge("mine", "r", "mine"), target=task)
    assert (answer["branch"], answer["doc"]) == ("task/TASK-001", "TASK-001-graph")
    assert "mine" in room.nodes(target=task)
    assert room.nodes(target=task) == room.nodes("task/TASK-001", doc="TASK-001-graph")
    answer = room("graph_validate", target=task)
    assert (answer["branch"], answer["doc"], answer["ok"]) == ("task/TASK-001", "TASK-001-graph", True)
    assert room.nodes("main") == {}


@holds("decisions §3: notes, trace and graph always exist, other documents from their first write")
def test_the_documents_of_a_target_always_exist(room: ReasoningTools) -> None:
    plan = create(room, "plan")
    assert room("show", target=plan, doc_kind="notes")["entries"] == []
    for doc in ("notes", "PLAN-001-trace", "PLAN-001-graph"):
        room("show", branch="plan/PLAN-001", doc=doc)
        room("graph_query", branch="plan/PLAN-001", doc=doc)
    assert {"PLAN-001-trace", "notes"} <= {row["doc"] for row in room("docs_list", ref="plan/PLAN-001")["docs"]}


@holds("4 branching: canonical branches of plans and tasks have no base and are listed")
def test_what_if_branches_grow_from_a_canonical_branch_and_merge_back(room: ReasoningTools) -> None:
    task = create(room)
    room.note("known", target=task)
    room.apply(node("idea", title="base"), target=task)
    assert room.branch("what-if", "task/TASK-001")["base_branch"] == "task/TASK-001"
    room.note("tried", branch="what-if")
    room.apply(node("idea", title="better"), branch="what-if", doc="TASK-001-graph")
    assert room("merge", from_="what-if", into="task/TASK-001")["merged"] == 1
    assert room("graph_merge", from_="what-if", into="task/TASK-001", doc="TASK-001-graph")["merged"] == 1
    assert room.texts("task/TASK-001") == ["known", "tried"]
    assert room.nodes(target=task)["idea"]["title"] == "better"


@holds("4 merge: only notes are merged")
def test_only_notes_are_merged(room: ReasoningTools) -> None:
    create(room)
    trace = room.entries("task/TASK-001", "TASK-001-trace")
    assert trace
    assert {entry["kind"] for entry in trace} == {"event"}
    room.note("a note among events", branch="task/TASK-001", doc="TASK-001-trace")
    answer = room("merge", from_="task/TASK-001", into="main", doc="TASK-001-trace")
    assert (answer["merged"], answer["skipped"]) == (1, 0)
    assert room.texts("main", "TASK-001-trace") == ["a note among events"]


@holds("shapes: log is every note of the document, newest first, with head_seq")
def test_a_log_and_a_reflog_list_notes_and_no_events(room: ReasoningTools) -> None:
    task = create(room)
    seq = room.note("a note", target=task)
    assert newest_first(room, "log", "commits", ref="task/TASK-001", doc="TASK-001-trace") == []
    assert [row["new_seq"] for row in newest_first(room, "reflog", "entries", ref="task/TASK-001")] == [seq]


@holds("decisions §0: last_event is one of a task")
def test_the_status_shows_the_last_event_of_a_task(room: ReasoningTools) -> None:
    create(room)
    first = room("status")["last_event"]
    assert set(first) == {"event_id", "ts", "ts_ms"}
    room.note("no event of a task")
    room.door("tasks_create", workspace="Other", kind="plan", title="elsewhere")
    assert room("status")["last_event"] == first
    create(room)
    assert room("status")["last_event"]["event_id"] != first["event_id"]


@holds("4 export: the target, its reasoning_ref, the tails of its notes and trace")
def test_an_export_has_the_target_its_place_and_its_last_notes_and_trace(room: ReasoningTools) -> None:
    task = create(room)
    for number in range(4):
        room.note(str(number), target=task)
    answer = room("export", target=task, notes_limit=2, trace_limit=1)
    assert set(answer) == {"target", "reasoning_ref", "notes", "trace", "truncated"}
    assert (answer["target"]["id"], answer["target"]["title"]) == (task, "Ship it")
    assert answer["reasoning_ref"] == {
        "branch": "task/TASK-001", "notes_doc": "notes", "graph_doc": "TASK-001-graph", "trace_doc": "TASK-001-trace",
    }  # fmt: skip
    assert answer["notes"] == room("show", target=task, doc_kind="notes", limit=2)
    assert answer["trace"] == room("show", target=task, doc_kind="trace", limit=1)
    assert [entry["content"] for entry in answer["notes"]["entries"]] == ["2", "3"]
    assert answer["notes"]["pagination"]["has_more"] is True
    assert answer["truncated"] is False


@holds("4 export: max_chars applies to the whole snapshot, truncation is explicit")
def test_an_export_keeps_its_budget_and_reports_omissions(room: ReasoningTools) -> None:
    task = create(room, description="long " * 500)
    for number in range(8):
        room.note(f"{number} " + "words\n" * 200, target=task)
    full = room("export", target=task)
    for chars in (500, 700, 1000, 2000, 5000, 10**6):
        answer = room("export", target=task, max_chars=chars)
        assert len(compact(answer)) <= chars
        assert set(answer) - {"omitted"} == set(full)
        assert answer["truncated"] is (answer != full)
    assert len(compact(room("export", target=task, max_bytes=500)).encode()) <= 500
    assert lines(room("export", target=task, max_lines=10)) <= 10
    newest = [entry["seq"] for entry in full["notes"]["entries"]]
    some = [entry["seq"] for entry in room("export", target=task, max_chars=2500)["notes"]["entries"]]
    assert some == newest[len(newest) - len(some) :]


@holds("4 export: the target, its reasoning_ref, the tails of its notes and trace")
def test_an_export_of_an_unknown_target_is_not_found(room: ReasoningTools) -> None:
    create(room)
    for target in ("TASK-002", "PLAN-001", "task-001"):
        room.misses("export", target=target)
    room.another("Other").misses("export", target="TASK-001")
    room.refuses("INVALID_REQUEST", "export", target="TASK-001", notes_limit=0)
