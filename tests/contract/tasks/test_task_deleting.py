"""`tasks_delete`: deleted subtrees, kept history, and numbers that are never reused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.direct_store import rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools


@holds("decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace")
def test_a_deleted_step_takes_its_subtree_along(desk: TaskTools) -> None:
    desk.task("A", "a", "b", "c")
    desk("decompose", target="TASK-001", parent="s:1", steps=[{"title": "b.a"}, {"title": "b.b"}])
    desk("decompose", target="TASK-001", parent="s:1.s:0", steps=[{"title": "b.a.a"}])
    answer = desk("delete", target="TASK-001", path="s:1")
    assert set(answer) == {"workspace", "id", "kind", "title", "revision", "event", "step", "deleted"}
    assert (answer["deleted"], answer["step"]) == (
        True,
        {"step_id": "STEP-002", "path": "s:1", "title": "b"},
    )
    assert list(desk.steps("TASK-001")) == ["s:0", "s:2"]
    for path in ("s:1", "s:1.s:0", "s:1.s:0.s:0"):
        desk.misses("delete", target="TASK-001", path=path)


@holds("decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace")
def test_a_path_with_a_common_prefix_is_not_part_of_the_subtree(desk: TaskTools) -> None:
    desk.task("A", *(f"{number}" for number in range(12)))
    desk("decompose", target="TASK-001", parent="s:10", steps=[{"title": "x"}])
    desk("delete", target="TASK-001", path="s:1")
    assert list(desk.steps("TASK-001")) == ["s:0", *(f"s:{number}" for number in range(2, 11)), "s:10.s:0", "s:11"]


@holds("decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace")
def test_a_deleted_task_is_absent_from_every_read(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a", parent="PLAN-001")
    desk.task("B")
    desk("edit", target="TASK-002", depends_on=["TASK-001"])
    desk("evidence", target="TASK-001", path="s:0", links=["l"])
    answer = desk("delete", target="TASK-001")
    assert (answer["id"], answer["deleted"], answer["revision"]) == ("TASK-001", True, 3)
    assert desk.listed() == ["PLAN-001", "TASK-002"]
    desk.misses("radar", target="TASK-001")
    desk.misses("delete", target="TASK-001")
    desk.room.misses("show", target="TASK-001")
    desk.room.misses("think_card", target="TASK-001", card="t")
    assert "depends_on" not in desk.shown("TASK-002")
    assert set(desk.nodes("PLAN-001")) == {"task:PLAN-001"}
    assert set(desk.nodes("TASK-002")) == {"task:TASK-002"}
    for table in ("steps", "task_evidence", "task_dependencies"):
        assert rows(desk.door.home, f"select count(*) from {table}") == [(0,)], table


@holds("decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace")
def test_the_trace_of_a_deleted_task_is_kept(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("note", target="TASK-001", note="worth keeping")
    desk("delete", target="TASK-001", path="s:0")
    desk("delete", target="TASK-001")
    assert [entry["title"] for entry in desk.trace("TASK-001")] == [
        "task_created", "note_added", "step_deleted", "task_deleted",
    ]  # fmt: skip
    assert desk.room.texts("task/TASK-001") == ["worth keeping"]
    assert "task/TASK-001" in desk.room.branches()
    assert [event["type"] for event in desk.events()][-1] == "task_deleted"


@holds("decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace")
def test_a_deleted_plan_takes_its_tasks_along_each_with_its_event(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a", parent="PLAN-001")
    desk.task("B", parent="PLAN-001")
    desk.task("C")
    desk("edit", target="TASK-003", depends_on=["TASK-001", "PLAN-001"])
    since = desk.events()[-1]["event_id"]
    answer = desk("delete", target="PLAN-001")
    assert desk.listed() == ["TASK-003"]
    told = [(event["type"], event["target"]) for event in desk.events(since)]
    assert sorted(told) == [("plan_deleted", "PLAN-001"), ("task_deleted", "TASK-001"), ("task_deleted", "TASK-002")]
    assert answer["event"]["target"] == "PLAN-001"
    for target in ("PLAN-001", "TASK-001", "TASK-002"):
        assert desk.trace(target)[-1]["title"] == f"{target[:4].lower()}_deleted"
        assert desk.nodes(target) == {}
        desk.misses("radar", target=target)
    assert set(desk.nodes("TASK-003")) == {"task:TASK-003"}


@holds("shapes tasks delete: numbers never return")
def test_numbers_of_deleted_tasks_are_never_reused(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a")
    desk("delete", target="TASK-001")
    desk("delete", target="PLAN-001")
    assert (desk.task("B", "b"), desk.plan()) == ("TASK-002", "PLAN-002")
    assert [step["step_id"] for step in desk.steps("TASK-002").values()] == ["STEP-002"]
    assert [entry["title"] for entry in desk.trace("TASK-001")] == ["task_created", "task_deleted"]


@holds("decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace")
def test_a_done_plan_stays_done_if_a_task_is_deleted(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", parent="PLAN-001")
    desk("complete", target="TASK-001")
    desk("complete", target="PLAN-001")
    desk("delete", target="TASK-001")
    assert desk.shown("PLAN-001")["status"] == "DONE"
