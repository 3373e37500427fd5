"""Changes of a card's status: one trace entry each, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.thinking.test_thinking_links import status_changes
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools


def ask(desk: TaskTools, *ids: str, **where: Any) -> None:
    for one in ids:
        desk.room("think_add_question", card={"id": one, "title": f"Title of {one}"}, **where)


@holds("decisions §10: a change of status has a reason, in one entry of the trace")
def test_a_change_of_status_is_one_entry_of_the_trace_with_its_reason(desk: TaskTools) -> None:
    ask(desk, "q1", "q2")
    desk.room("think_set_status", ids=["q1", "q2"], status="closed", reason=" nobody asks any more ")
    desk.room("think_set_status", ids="q1", status="open")
    first, second, third = desk.room.entries(doc="trace")[2:]
    for entry, one in ((first, "q1"), (second, "q2")):
        assert (entry["kind"], entry["format"]) == ("note", "status_change")
        assert entry["content"] == f"{one}: open → closed: nobody asks any more"
        assert entry["meta"] == {
            "card_id": one, "old_status": "open", "new_status": "closed", "reason": "nobody asks any more",
        }  # fmt: skip
    assert third["content"] == "q1: closed → open"
    assert third["meta"] == {"card_id": "q1", "old_status": "closed", "new_status": "open"}
    assert desk.room("trace_validate")["ok"] is True


@holds("decisions §10: a change of status has a reason, in one entry of the trace")
def test_a_status_without_a_change_writes_no_entry(desk: TaskTools) -> None:
    ask(desk, "q1", "q2")
    desk.room("think_set_status", ids="q1", status="closed", reason="once")
    desk.room("think_set_status", ids=["q1", "q2"], status="closed", reason="twice")
    assert [(one["card_id"], one["reason"]) for one in status_changes(desk.room)] == [("q1", "once"), ("q2", "twice")]
    before = dump(desk.door.home)["doc_entries"]
    desk.room("think_set_status", ids=["q1", "q2"], status="closed", reason="again")
    desk.room.misses("think_set_status", ids=["q1", "x"], status="open", reason="none")
    assert dump(desk.door.home)["doc_entries"] == before


@holds("decisions §10: a change of status has a reason, in one entry of the trace")
def test_the_entry_is_written_to_the_trace_of_the_card(desk: TaskTools) -> None:
    desk.task()
    ask(desk, "q1", target="TASK-001")
    ask(desk, "q2", graph_doc="g", trace_doc="t")
    desk.room.branch("b")
    ask(desk, "q3")
    subgoal = desk.room("think_subgoal_open", question_id="q3")
    child = {"graph_doc": subgoal["child_graph_doc"]}
    ask(desk, "q4", **child, trace_doc=subgoal["child_trace_doc"])
    for one, where, branch, doc in (
        ("q1", {"target": "TASK-001"}, "task/TASK-001", "TASK-001-trace"),
        ("q2", {"graph_doc": "g"}, "main", "t"),
        ("q2", {"graph_doc": "g", "ref": "b"}, "b", "t"),
        ("q4", child, "main", subgoal["child_trace_doc"]),
        ("q1", {"ref": "task/TASK-001", "graph_doc": "TASK-001-graph"}, "task/TASK-001", "TASK-001-trace"),
    ):  # fmt: skip
        status = f"seen on {branch} {where}"[:100]
        desk.room("think_set_status", ids=one, status=status, **where)
        last = status_changes(desk.room, doc, branch)[-1]
        assert (last["card_id"], last["new_status"]) == (one, status)
    assert status_changes(desk.room) == []


@holds("decisions §10: a change of status has a reason, in one entry of the trace")
def test_erasing_a_card_erases_the_reasons_of_its_statuses(desk: TaskTools) -> None:
    ask(desk, "q1", "q2")
    ask(desk, "q3", graph_doc="g", trace_doc="t")
    for one, where in (("q1", {}), ("q2", {}), ("q3", {"graph_doc": "g"})):
        desk.room("think_set_status", ids=one, status="closed", reason=f"the secret of {one}", **where)
    desk.room.branch("b")
    for one, doc in (("q1", "graph"), ("q3", "g")):
        desk.door("moss_erase", type="node", workspace="Shop", id=one, doc=doc)
    left = str(desk.room.entries("b", "trace")) + str(desk.room.entries("b", "t"))
    assert "the secret of q2" in left
    assert "the secret of q1" not in left
    assert "the secret of q3" not in left
