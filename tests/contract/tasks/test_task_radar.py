"""What the documents promise of `tasks_radar`, `tasks_focus` and the one next call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.tasks.desk import BOTH, check_call
from support.beside import dump

if TYPE_CHECKING:
    from contract.tasks.desk import Desk


def next_of(desk: Desk, target: str) -> tuple[str, dict[str, Any]]:
    call = desk.radar(target)["radar"]["next"]
    check_call(call)
    return call["tool"], {name: value for name, value in call["arguments"].items() if name != "workspace"}


def test_the_radar_is_one_screen_with_the_promised_fields(desk: Desk) -> None:
    desk.task("A", "a", "b")
    answer = desk.radar("TASK-001")
    assert set(answer) == {"workspace", "target", "chosen", "focus", "reasoning_ref", "radar", "steps", "truncated"}
    assert answer["chosen"] == "target"
    assert (answer["workspace"], answer["target"]["id"], answer["focus"]) == ("Shop", "TASK-001", None)
    radar = answer["radar"]
    assert set(radar) == {"now", "why", "verify", "next", "blockers"}
    assert isinstance(radar["now"], str)
    assert isinstance(radar["why"], str)
    assert radar["now"]
    assert radar["why"]
    assert (radar["verify"], radar["blockers"]) == ([], [])
    check_call(radar["next"])
    step = {"step_id": "STEP-001", "path": "s:0", "title": "a", "done": False, "blocked": False, "checkpoints": {}}
    assert answer["steps"][0] == step
    assert len(answer["steps"]) == 2
    assert answer["truncated"] is False


def test_the_reasoning_of_a_task_is_where_the_radar_says(desk: Desk) -> None:
    desk.plan()
    desk.task()
    assert desk.radar("TASK-001")["reasoning_ref"] == {
        "branch": "task/TASK-001", "notes_doc": "notes", "graph_doc": "TASK-001-graph", "trace_doc": "TASK-001-trace",
    }  # fmt: skip
    reference = desk.radar("PLAN-001")["reasoning_ref"]
    assert reference == {
        "branch": "plan/PLAN-001", "notes_doc": "notes", "graph_doc": "PLAN-001-graph", "trace_doc": "PLAN-001-trace",
    }  # fmt: skip
    for name in ("notes_doc", "trace_doc"):
        desk.room("show", branch=reference["branch"], doc=reference[name])
    assert desk.room("graph_query", branch=reference["branch"], doc=reference["graph_doc"])["nodes"]


def test_without_a_target_the_radar_shows_the_focus(desk: Desk) -> None:
    desk.task()
    desk.task("B")
    desk("focus", target="TASK-001")
    answer = desk("radar")
    assert (answer["target"]["id"], answer["focus"], answer["chosen"]) == ("TASK-001", "TASK-001", "focus")
    assert desk.radar("TASK-002")["focus"] == "TASK-001"
    assert desk("handoff")["target"]["id"] == "TASK-001"


def test_without_target_and_focus_the_radar_takes_the_obvious_one(desk: Desk) -> None:
    for tool in ("radar", "handoff"):
        error = desk.refuses("INVALID_REQUEST", tool)
        assert error.recovery is not None
        assert error.recovery["tool"] == "tasks_create"
    desk.plan()
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("PLAN-001", "only_open")
    desk.task("A", "a")
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("TASK-001", "only_open")
    desk.task("B", "b")
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("TASK-002", "last_worked_on")
    desk("note", target="TASK-001", note="worked on")
    assert (desk("radar")["target"]["id"], desk("handoff")["target"]["id"]) == ("TASK-001", "TASK-001")
    desk.close("TASK-001", "s:0")
    desk("complete", target="TASK-001")
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("TASK-002", "only_open")


def test_the_first_task_is_created_by_the_recovery(desk: Desk) -> None:
    recovery = desk.refuses("INVALID_REQUEST", "radar").recovery
    assert recovery is not None
    desk.door(recovery["tool"], **recovery["arguments"])
    assert desk("radar")["target"]["id"] == "TASK-001"


def test_the_radar_of_what_is_not_there_is_not_found(desk: Desk) -> None:
    desk.task()
    for target in ("TASK-002", "PLAN-001", "task-001", "STEP-001", ""):
        desk.misses("radar", target=target)
    desk.another("Other").misses("radar", target="TASK-001")


def test_the_focus_can_be_set_read_and_cleared(desk: Desk) -> None:
    desk.task()
    desk.plan()
    assert desk("focus") == {"workspace": "Shop", "previous": None, "focus": None}
    assert desk("focus", action="set", target="TASK-001") == {
        "workspace": "Shop",
        "previous": None,
        "focus": "TASK-001",
    }
    assert desk("focus", target="PLAN-001")["previous"] == "TASK-001"
    for reading in ({}, {"action": "get"}):
        assert desk("focus", **reading)["focus"] == "PLAN-001"
    assert desk("focus", action="clear") == {"workspace": "Shop", "previous": "PLAN-001", "focus": None}
    assert desk("focus", action="get")["focus"] is None
    assert desk.another("Other")("focus")["focus"] is None


def test_the_focus_is_something_that_is_there(desk: Desk) -> None:
    desk.task()
    desk.refuses("INVALID_REQUEST", "focus", action="set")
    desk.refuses("INVALID_REQUEST", "focus", action="look")
    desk.misses("focus", target="TASK-002")
    desk("focus", target="TASK-001")
    desk("delete", target="TASK-001")
    assert desk("focus")["focus"] is None


def test_the_focus_writes_no_task_event_and_raises_no_revision(desk: Desk) -> None:
    desk.task()
    events, last = desk.events(), desk.room("status")["last_event"]
    for arguments in ({"target": "TASK-001"}, {"action": "clear"}, {}):
        desk("focus", **arguments)
    assert desk.events() == events
    assert desk.room("status")["last_event"] == last
    assert desk.revision("TASK-001") == 1
    assert len(desk.trace("TASK-001")) == 1


def test_looking_writes_nothing(desk: Desk) -> None:
    desk.plan()
    desk.task("A", "a", parent="PLAN-001")
    desk("focus", target="TASK-001")
    before = dump(desk.door.home)
    for tool in ("list", "focus", "radar", "delta", "handoff"):
        desk(tool)
    desk("handoff", target="PLAN-001", as_capsule=False)
    assert dump(desk.door.home) == before


def test_a_task_without_steps_is_to_be_divided(desk: Desk) -> None:
    desk.task("A")
    tool, arguments = next_of(desk, "TASK-001")
    assert (tool, arguments["target"]) == ("tasks_decompose", "TASK-001")


def test_the_first_open_step_is_to_be_confirmed_and_then_closed(desk: Desk) -> None:
    desk.task("A", "a", "b")
    confirm = {"target": "TASK-001", "step_id": "STEP-001", "checkpoints": dict.fromkeys(BOTH, False)}
    assert next_of(desk, "TASK-001") == ("tasks_verify", confirm)
    desk("verify", target="TASK-001", path="s:0", checkpoints={"criteria": True})
    assert next_of(desk, "TASK-001") == ("tasks_verify", {**confirm, "checkpoints": {"tests": False}})
    desk("verify", target="TASK-001", path="s:0", checkpoints={"tests": True})
    assert next_of(desk, "TASK-001") == ("tasks_done", {"target": "TASK-001", "step_id": "STEP-001"})
    desk("done", target="TASK-001", path="s:0")
    assert next_of(desk, "TASK-001")[1]["step_id"] == "STEP-002"


def test_children_come_before_their_step_and_blocked_ones_last(desk: Desk) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a.a"}])
    assert next_of(desk, "TASK-001")[1]["step_id"] == "STEP-003"
    desk("block", target="TASK-001", path="s:0.s:0", reason="the vault")
    assert next_of(desk, "TASK-001")[1]["step_id"] == "STEP-002"
    desk.close("TASK-001", "s:1")
    unblock = {"target": "TASK-001", "step_id": "STEP-003", "blocked": False}
    assert next_of(desk, "TASK-001") == ("tasks_block", unblock)
    desk("block", target="TASK-001", path="s:0.s:0", blocked=False)
    desk.close("TASK-001", "s:0.s:0")
    assert next_of(desk, "TASK-001")[1]["step_id"] == "STEP-001"
    desk.close("TASK-001", "s:0")
    assert next_of(desk, "TASK-001") == ("tasks_complete", {"target": "TASK-001"})


def test_what_a_task_depends_on_comes_first(desk: Desk) -> None:
    desk.task("A", "a")
    desk.task("B")
    desk("edit", target="TASK-001", depends_on=["TASK-002"])
    assert next_of(desk, "TASK-001") == ("tasks_radar", {"target": "TASK-002"})
    assert any("TASK-002" in blocker for blocker in desk.radar("TASK-001")["radar"]["blockers"])
    desk("complete", target="TASK-002")
    assert next_of(desk, "TASK-001")[0] == "tasks_verify"
    assert desk.radar("TASK-001")["radar"]["blockers"] == []


def test_after_a_done_task_comes_its_plan_or_the_list(desk: Desk) -> None:
    desk.plan()
    desk.task("A", parent="PLAN-001")
    desk.task("B")
    for target in ("TASK-001", "TASK-002"):
        desk("complete", target=target)
    assert next_of(desk, "TASK-001") == ("tasks_radar", {"target": "PLAN-001"})
    assert next_of(desk, "TASK-002")[0] == "tasks_list"
    assert next_of(desk, "PLAN-001") == ("tasks_complete", {"target": "PLAN-001"})
    desk("complete", target="PLAN-001")
    assert next_of(desk, "PLAN-001")[0] == "tasks_list"


def test_a_plan_names_the_task_to_go_on_with(desk: Desk) -> None:
    desk.plan()
    tool, arguments = next_of(desk, "PLAN-001")
    assert (tool, arguments["kind"], arguments["parent"]) == ("tasks_create", "task", "PLAN-001")
    for priority in ("low", "normal", "normal", "high", "low"):
        desk.task(priority, parent="PLAN-001", priority=priority)
    order = []
    desk("complete", target="TASK-005", status="ACTIVE")
    for _ in range(5):
        tool, arguments = next_of(desk, "PLAN-001")
        assert tool == "tasks_radar"
        order.append(arguments["target"])
        desk("complete", target=arguments["target"])
    assert order == ["TASK-005", "TASK-004", "TASK-002", "TASK-003", "TASK-001"]


def test_following_the_next_call_finishes_the_work(desk: Desk) -> None:
    desk.plan("P")
    desk.task("A", "a", "b", parent="PLAN-001")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "x"}, {"title": "y"}])
    desk("block", target="TASK-001", path="s:1", reason="the vault")
    desk.task("B", parent="PLAN-001", priority="low")
    desk("edit", target="TASK-002", depends_on=["TASK-001"])
    target = "PLAN-001"
    for _ in range(60):
        call = desk.radar(target)["radar"]["next"]
        check_call(call)
        arguments = call["arguments"]
        if "checkpoints" in arguments:
            assert not any(arguments["checkpoints"].values()), "nobody has checked them yet"
            arguments = {**arguments, "checkpoints": dict.fromkeys(arguments["checkpoints"], True)}
        answer = desk.door(call["tool"], **arguments)
        if call["tool"] == "tasks_radar":
            target = answer["target"]["id"]
        if call["tool"] == "tasks_list":
            break
    else:
        pytest.fail("the calls do not come to an end")
    assert desk.listed(status="DONE") == ["PLAN-001", "TASK-001", "TASK-002"]


def test_a_radar_beyond_two_hundred_steps_says_that_it_shows_not_all(timed: Desk) -> None:
    timed.task("A", *(f"{number}" for number in range(200)))
    assert timed.radar("TASK-001")["truncated"] is False
    timed("decompose", target="TASK-001", steps=[{"title": "one more"}])
    answer = timed.radar("TASK-001")
    assert answer["truncated"] is True
    assert [step["path"] for step in answer["steps"]] == [f"s:{number}" for number in range(200)]
