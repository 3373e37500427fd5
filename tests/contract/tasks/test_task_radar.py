"""`tasks_radar`, `tasks_focus` and the next call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.tasks.task_tools import GUARDED, check_call
from moss_memory.errors import MossError
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract.tasks.task_tools import TaskTools


def next_of(desk: TaskTools, target: str) -> tuple[str, dict[str, Any]]:
    call = desk.radar(target)["radar"]["next"]
    assert set(call) == {"tool", "arguments", "reason"}
    return call["tool"], {name: value for name, value in call["arguments"].items() if name != "workspace"}


@holds("decisions §4 radar: one screen; now and why are strings, verify and blockers lists, next a call")
def test_the_radar_fits_one_screen_and_has_the_documented_fields(desk: TaskTools) -> None:
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


@holds("decisions §4: reasoning_ref is task/TASK-001, notes, TASK-001-graph, TASK-001-trace")
def test_the_radar_names_the_branch_and_documents_of_a_task(desk: TaskTools) -> None:
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


@holds("shapes tasks radar: target defaults to the focus")
def test_without_a_target_the_radar_shows_the_focus(desk: TaskTools) -> None:
    desk.task()
    desk.task("B")
    desk("focus", target="TASK-001")
    answer = desk("radar")
    assert (answer["target"]["id"], answer["focus"], answer["chosen"]) == ("TASK-001", "TASK-001", "focus")
    assert desk.radar("TASK-002")["focus"] == "TASK-001"
    assert desk("handoff")["target"]["id"] == "TASK-001"


@holds("decisions §7: without target and focus the only open task, else the last worked on; no open task is a recovery")
def test_without_target_and_focus_the_radar_takes_the_default_one(desk: TaskTools) -> None:
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


@holds("decisions §10: plans with steps of their own count as tasks")
def test_a_plan_with_its_own_steps_counts_as_a_task(desk: TaskTools) -> None:
    desk.plan("P", steps=[{"title": "a"}, {"title": "b"}])
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("PLAN-001", "only_open")
    desk.close("PLAN-001", "s:0")
    desk.task("untouched", "a")
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("PLAN-001", "last_worked_on")
    assert desk("handoff")["target"]["id"] == "PLAN-001"
    desk.plan("no steps")
    desk("note", target="PLAN-002", note="only its tasks are work")
    assert desk("radar")["target"]["id"] == "PLAN-001"
    desk.close("PLAN-001", "s:1")
    desk("complete", target="PLAN-001")
    assert (desk("radar")["target"]["id"], desk("radar")["chosen"]) == ("TASK-001", "only_open")


@holds("decisions §7: without target and focus the only open task, else the last worked on; no open task is a recovery")
def test_the_recovery_creates_the_first_task(desk: TaskTools) -> None:
    recovery = desk.refuses("INVALID_REQUEST", "radar").recovery
    assert recovery is not None
    desk.door(recovery["tool"], **recovery["arguments"])
    assert desk("radar")["target"]["id"] == "TASK-001"


@holds("decisions §7: a task with a closed or claimed step is ACTIVE")
def test_the_radar_of_an_unknown_target_is_not_found(desk: TaskTools) -> None:
    desk.task()
    for target in ("TASK-002", "PLAN-001", "task-001", "STEP-001", ""):
        desk.misses("radar", target=target)
    desk.another("Other").misses("radar", target="TASK-001")


@holds("decisions §4 focus: gets, sets or clears the workspace's focus, without a task event")
def test_the_focus_can_be_set_read_and_cleared(desk: TaskTools) -> None:
    desk.task()
    desk.plan()
    assert desk("focus") == {"workspace": "Shop", "previous": None, "focus": None}
    title = "Rotate the signing key"
    assert desk("focus", action="set", target="TASK-001") == {
        "workspace": "Shop",
        "previous": None,
        "focus": "TASK-001",
        "title": title,
    }
    assert desk("focus", target="PLAN-001")["previous"] == "TASK-001"
    for reading in ({}, {"action": "get"}):
        assert desk("focus", **reading)["focus"] == "PLAN-001"
    assert desk("focus", action="clear") == {"workspace": "Shop", "previous": "PLAN-001", "focus": None}
    assert desk("focus", action="get")["focus"] is None
    assert desk.another("Other")("focus")["focus"] is None


@holds("decisions §4 focus: gets, sets or clears the workspace's focus, without a task event")
def test_the_focus_must_exist(desk: TaskTools) -> None:
    desk.task()
    desk.refuses("INVALID_REQUEST", "focus", action="set")
    desk.refuses("INVALID_REQUEST", "focus", action="look")
    desk.misses("focus", target="TASK-002")
    desk("focus", target="TASK-001")
    desk("delete", target="TASK-001")
    assert desk("focus")["focus"] is None


@holds("decisions §4 focus: gets, sets or clears the workspace's focus, without a task event")
def test_the_focus_makes_no_task_event_and_no_revision(desk: TaskTools) -> None:
    desk.task()
    events, last = desk.events(), desk.room("status")["last_event"]
    for arguments in ({"target": "TASK-001"}, {"action": "clear"}, {}):
        desk("focus", **arguments)
    assert desk.events() == events
    assert desk.room("status")["last_event"] == last
    assert desk.revision("TASK-001") == 1
    assert len(desk.trace("TASK-001")) == 1


@holds("decisions §4 radar: one screen; now and why are strings, verify and blockers lists, next a call")
def test_reading_writes_nothing(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a", parent="PLAN-001")
    desk("focus", target="TASK-001")
    before = dump(desk.door.home)
    for tool in ("list", "focus", "radar", "delta", "handoff"):
        desk(tool)
    desk("handoff", target="PLAN-001", as_capsule=False)
    assert dump(desk.door.home) == before


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_for_a_task_without_steps_the_next_call_decomposes_it(desk: TaskTools) -> None:
    desk.task("A")
    tool, arguments = next_of(desk, "TASK-001")
    assert (tool, arguments["target"]) == ("tasks_decompose", "TASK-001")


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_the_first_open_step_is_closed_with_the_checkpoints_named_in_the_reason(desk: TaskTools) -> None:
    desk("create", kind="task", title="A", steps=[GUARDED, {"title": "b"}])
    close = ("tasks_done", {"target": "TASK-001", "step_id": "STEP-001"})
    assert next_of(desk, "TASK-001") == close
    reason = desk.radar("TASK-001")["radar"]["next"]["reason"]
    for part in ("it signs", "pytest keys", '"criteria": true', '"tests": true'):
        assert part in reason
    desk("verify", target="TASK-001", path="s:0", checkpoints={"criteria": True})
    assert next_of(desk, "TASK-001") == close
    reason = desk.radar("TASK-001")["radar"]["next"]["reason"]
    assert "pytest keys" in reason
    assert "it signs" not in reason
    assert "criteria" not in reason
    desk("verify", target="TASK-001", path="s:0", checkpoints={"tests": True})
    assert next_of(desk, "TASK-001") == close
    desk("done", target="TASK-001", path="s:0")
    assert next_of(desk, "TASK-001") == ("tasks_done", {"target": "TASK-001", "step_id": "STEP-002"})


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_children_come_before_their_parent_and_blocked_steps_last(desk: TaskTools) -> None:
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


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_dependencies_come_first(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.task("B", "b")
    desk.task("C")
    desk("edit", target="TASK-001", depends_on=["TASK-002"])
    desk("edit", target="TASK-002", depends_on=["TASK-003"])
    assert next_of(desk, "TASK-001") == next_of(desk, "TASK-003")
    assert any("TASK-002" in blocker for blocker in desk.radar("TASK-001")["radar"]["blockers"])
    desk("complete", target="TASK-003")
    assert next_of(desk, "TASK-001") == ("tasks_done", {"target": "TASK-002", "step_id": "STEP-002"})
    assert desk.radar("TASK-001")["radar"]["next"]["reason"].startswith("TASK-002: ")
    desk.close("TASK-002", "s:0")
    desk("complete", target="TASK-002")
    assert next_of(desk, "TASK-001") == ("tasks_done", {"target": "TASK-001", "step_id": "STEP-001"})
    assert desk.radar("TASK-001")["radar"]["blockers"] == []


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_after_a_done_task_follow_its_plan_then_other_work_then_a_new_task(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", parent="PLAN-001")
    desk.task("B")
    desk("complete", target="TASK-001")
    assert next_of(desk, "TASK-001") == ("tasks_complete", {"target": "PLAN-001"})
    desk("complete", target="PLAN-001")
    assert next_of(desk, "TASK-001") == next_of(desk, "PLAN-001") == next_of(desk, "TASK-002")
    desk("complete", target="TASK-002")
    for target in ("TASK-001", "TASK-002", "PLAN-001"):
        assert next_of(desk, target) == ("tasks_create", {"kind": "task"})
    call = desk.radar("TASK-001")["radar"]["next"]
    assert "`title`" in call["reason"]
    assert "title" in desk.door.refuses("INVALID_REQUEST", call["tool"], **call["arguments"]).message


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_the_radar_of_a_plan_names_the_task_to_continue(desk: TaskTools) -> None:
    desk.plan()
    tool, arguments = next_of(desk, "PLAN-001")
    assert (tool, arguments["kind"], arguments["parent"]) == ("tasks_create", "task", "PLAN-001")
    for priority in ("low", "normal", "normal", "high", "low"):
        desk.task(priority, "a", parent="PLAN-001", priority=priority)
    order = []
    desk("complete", target="TASK-005", status="ACTIVE")
    for _ in range(5):
        tool, arguments = next_of(desk, "PLAN-001")
        assert tool == "tasks_done"
        order.append(arguments["target"])
        desk.close(arguments["target"], "s:0")
        assert next_of(desk, "PLAN-001") == ("tasks_complete", {"target": arguments["target"]})
        desk("complete", target=arguments["target"])
    assert order == ["TASK-005", "TASK-004", "TASK-002", "TASK-003", "TASK-001"]


@holds("decisions §4: next is one call that can be sent as it is, and leads on")
def test_the_radar_of_a_plan_shows_how_to_verify_the_step_of_its_task(desk: TaskTools) -> None:
    desk.plan()
    desk("create", kind="task", title="A", parent="PLAN-001", steps=[GUARDED])
    assert desk.radar("PLAN-001")["radar"]["verify"] == ["it signs", "pytest keys"]


def plan_with_own_steps(desk: TaskTools) -> None:
    desk.plan("P", steps=[GUARDED, {"title": "b"}])


def plan_with_tasks(desk: TaskTools) -> None:
    desk.plan("P", steps=[{"title": "own"}])
    desk("create", kind="task", title="A", parent="PLAN-001", steps=[GUARDED])
    desk.task("without steps", parent="PLAN-001")


def empty_plan(desk: TaskTools) -> None:
    desk.plan("P")


def nested_and_blocked_steps(desk: TaskTools) -> None:
    desk.plan("P")
    desk.task("A", "a", "b", parent="PLAN-001")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "x"}, GUARDED])
    desk("block", target="TASK-001", path="s:1", reason="the vault")
    desk("block", target="TASK-001", path="s:0.s:1", reason="the vault")


def dependencies(desk: TaskTools) -> None:
    desk.plan("P")
    desk.task("A", "a", parent="PLAN-001", priority="high")
    desk.task("B", parent="PLAN-001", priority="low")
    desk.task("C", "c")
    desk("edit", target="TASK-001", depends_on=["TASK-002", "TASK-003"])


def claimed_by_another(desk: TaskTools) -> None:
    plan_with_tasks(desk)
    for target in ("PLAN-001", "TASK-001", "TASK-002"):
        desk("claim", agent="ada", target=target)


SHAPES = (
    plan_with_own_steps, plan_with_tasks, empty_plan, nested_and_blocked_steps, dependencies, claimed_by_another,
)  # fmt: skip


@holds("decisions §10: next always leads on")
@pytest.mark.parametrize("asks", ["radar", "handoff"])
@pytest.mark.parametrize("make", SHAPES)
def test_every_next_call_makes_progress_or_its_refusal_lists_the_missing_checkpoints(
    timed: TaskTools, make: Callable[[TaskTools], None], asks: str
) -> None:
    make(timed)
    for _ in range(60):
        answer = timed(asks, target="PLAN-001")
        call = answer["radar"]["next"]
        if answer["target"]["status"] == "DONE":
            break
        check_call(call)
        if not follow(timed, call):
            continue
        assert timed.radar("PLAN-001")["radar"]["next"] != call, "it leads to itself"
    else:
        pytest.fail("the calls do not come to an end")
    assert timed.listed(status="DONE") == timed.listed()


def follow(desk: TaskTools, call: dict[str, Any]) -> bool:
    """Send a call; if it is refused, retry with the requested checkpoints. Return True if it was accepted."""
    refused: MossError | None = None
    try:
        desk.door(call["tool"], **call["arguments"])
    except MossError as error:
        refused = error
    if refused is None:
        return True
    assert (refused.code, call["tool"]) == ("CHECKPOINTS_NOT_CONFIRMED", "tasks_done")
    assert refused.recovery is not None
    assert refused.recovery["arguments"] == call["arguments"]
    assert refused.details is not None
    confirmed = dict.fromkeys(refused.details["missing"], True)
    desk.door(call["tool"], **call["arguments"], checkpoints=confirmed)
    return False


@holds("decisions §4 radar: one screen; now and why are strings, verify and blockers lists, next a call")
def test_a_radar_beyond_two_hundred_steps_is_marked_as_truncated(timed: TaskTools) -> None:
    timed.task("A", *(f"{number}" for number in range(200)))
    assert timed.radar("TASK-001")["truncated"] is False
    timed("decompose", target="TASK-001", steps=[{"title": "one more"}])
    answer = timed.radar("TASK-001")
    assert answer["truncated"] is True
    assert [step["path"] for step in answer["steps"]] == [f"s:{number}" for number in range(200)]
