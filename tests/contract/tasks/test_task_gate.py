"""Closing and reopening: verify, done, reopen, block, complete, and revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.tasks.task_tools import BOTH, GUARDED
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

MUTATIONS: dict[str, dict[str, Any]] = {
    "edit": {"title": "B"}, "decompose": {"steps": [{"title": "x"}]}, "define": {"path": "s:0", "title": "b"},
    "note": {"note": "n"}, "verify": {"path": "s:0", "checkpoints": {"docs": True}},
    "done": {"path": "s:0", "checkpoints": BOTH}, "reopen": {"path": "s:1"}, "block": {"path": "s:0"},
    "complete": {"status": "ACTIVE"}, "evidence": {"links": ["l"]}, "delete": {"path": "s:0"},
}  # fmt: skip
"""One call of each mutation that is valid for a task with an open step s:0 and a closed step s:1."""


def guarded(desk: TaskTools) -> None:
    """Create a task whose only step has criteria and tests."""
    desk("create", kind="task", title="A", steps=[GUARDED])


def two_steps(desk: TaskTools) -> None:
    desk.task("A", "open", "closed")
    desk.close("TASK-001", "s:1")


@holds("decisions §4 and §10 done: closes a step, refused until everything the step defines is confirmed")
def test_a_step_closes_only_if_criteria_and_tests_are_confirmed(desk: TaskTools) -> None:
    guarded(desk)
    error = desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")
    assert error.status == 409
    assert error.details is not None
    assert error.details["missing"] == ["criteria", "tests"]
    desk("verify", target="TASK-001", path="s:0", checkpoints={"criteria": True, "security": True})
    error = desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")
    assert error.details is not None
    assert error.details["missing"] == ["tests"]
    desk("verify", target="TASK-001", path="s:0", checkpoints={"tests": True})
    assert desk.steps("TASK-001")["s:0"]["done"] is False
    desk("done", target="TASK-001", path="s:0")
    assert desk.steps("TASK-001")["s:0"]["done"] is True


@holds("decisions §4 and §10 done: closes a step, refused until everything the step defines is confirmed")
@pytest.mark.parametrize(
    ("defined", "missing"),
    [({}, []), ({"success_criteria": "it signs"}, ["criteria"]), ({"tests": ["pytest"]}, ["tests"]),
     ({"success_criteria": [], "tests": []}, []), ({"blockers": ["the vault"]}, [])],
)  # fmt: skip
def test_closing_a_step_requires_the_checkpoints_that_it_defines(
    timed: TaskTools, defined: Any, missing: list[str]
) -> None:
    timed("create", kind="task", title="A", steps=[{"title": "a", **defined}])
    if missing:
        error = timed.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")
        assert error.details is not None
        assert error.details["missing"] == missing
    timed("done", target="TASK-001", path="s:0", **({"checkpoints": dict.fromkeys(missing, True)} if missing else {}))
    assert timed.steps("TASK-001")["s:0"]["done"] is True


@holds("decisions §4 and §10 done: closes a step, refused until everything the step defines is confirmed")
def test_the_refusal_names_what_to_check_and_the_checkpoints_to_add(desk: TaskTools) -> None:
    guarded(desk)
    refused = desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")
    recovery = refused.recovery
    assert recovery is not None
    assert (recovery["tool"], recovery["arguments"]) == (
        "tasks_done",
        {"workspace": "Shop", "target": "TASK-001", "step_id": "STEP-001"},
    )
    for part in ("it signs", "pytest keys", "checkpoints", '"criteria": true', '"tests": true'):
        assert part in recovery["reason"]
    again = desk.door.refuses("CHECKPOINTS_NOT_CONFIRMED", recovery["tool"], **recovery["arguments"])
    assert again.recovery == recovery, "sent as it is it is refused again and writes nothing"
    desk.door(recovery["tool"], **recovery["arguments"], checkpoints=BOTH)
    assert desk.steps("TASK-001")["s:0"]["done"] is True


@holds("decisions §10: on a task without steps tasks_done names tasks_complete")
def test_done_without_steps_proposes_complete(desk: TaskTools) -> None:
    desk.task("A")
    for code, address in (("INVALID_REQUEST", {}), ("NOT_FOUND", {"path": "s:0"}), ("NOT_FOUND", {"step_id": "x"})):
        recovery = desk.refuses(code, "done", target="TASK-001", **address).recovery
        assert recovery is not None
        assert (recovery["tool"], recovery["arguments"]) == (
            "tasks_complete",
            {"workspace": "Shop", "target": "TASK-001"},
        )
    desk("complete", target="TASK-001")
    assert desk.shown("TASK-001")["status"] == "DONE"


@holds("decisions §4 and §10 done: closes a step, refused until everything the step defines is confirmed")
def test_done_without_a_step_proposes_the_only_open_step(desk: TaskTools) -> None:
    two_steps(desk)
    recovery = desk.refuses("INVALID_REQUEST", "done", target="TASK-001", checkpoints=BOTH).recovery
    assert recovery is not None
    assert recovery["arguments"]["checkpoints"] == BOTH
    desk("decompose", target="TASK-001", steps=[{"title": "c"}])
    several = desk.refuses("INVALID_REQUEST", "done", target="TASK-001").recovery
    assert several is not None
    assert several["tool"] == "tasks_radar"
    desk.door(recovery["tool"], **recovery["arguments"])
    assert desk.steps("TASK-001")["s:0"]["done"] is True


@holds("decisions §10: on a task without steps tasks_done names tasks_complete")
def test_a_step_can_be_confirmed_and_closed_in_one_call(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    answer = desk("done", target="TASK-001", path="s:0", checkpoints={**BOTH, "perf": True})
    assert answer["revision"] == 2
    assert desk.steps("TASK-001")["s:0"]["checkpoints"] == {**BOTH, "perf": True}
    desk("verify", target="TASK-001", path="s:1", checkpoints={"tests": True})
    desk("done", target="TASK-001", path="s:1", checkpoints={"criteria": True})
    assert all(step["done"] for step in desk.steps("TASK-001").values())


@holds("decisions §10: on a task without steps tasks_done names tasks_complete")
def test_a_refused_close_discards_its_confirmations(desk: TaskTools) -> None:
    guarded(desk)
    desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0", checkpoints={"criteria": True})
    assert desk.steps("TASK-001")["s:0"]["checkpoints"] == {}
    desk("verify", target="TASK-001", path="s:0", checkpoints=BOTH)
    desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0", checkpoints={"tests": False})
    assert desk.steps("TASK-001")["s:0"]["checkpoints"] == BOTH


@holds("decisions §4 verify: confirms checkpoints of a step")
def test_a_confirmation_can_be_revoked(desk: TaskTools) -> None:
    guarded(desk)
    desk("verify", target="TASK-001", path="s:0", checkpoints=BOTH)
    desk("verify", target="TASK-001", path="s:0", checkpoints={"docs": True, "tests": False})
    confirmed = desk.steps("TASK-001")["s:0"]["checkpoints"]
    assert confirmed["criteria"] is True
    assert not confirmed.get("tests")
    desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")


@holds("decisions §4 verify: confirms checkpoints of a step")
def test_there_are_five_checkpoints_and_each_is_true_or_false(desk: TaskTools) -> None:
    desk.task("A", "a")
    all_five = dict.fromkeys(("criteria", "tests", "security", "perf", "docs"), True)
    desk("verify", target="TASK-001", path="s:0", checkpoints=all_five)
    assert desk.steps("TASK-001")["s:0"]["checkpoints"] == all_five
    for wrong in (
        {},
        {"test": True},
        {"tests": 1},
        {"tests": "true"},
        ["tests"],
        {"tests": None},
        {"tests": False},
        {"criteria": False, "tests": False},
    ):
        desk.refuses("INVALID_REQUEST", "verify", target="TASK-001", path="s:0", checkpoints=wrong)
    desk.refuses("INVALID_REQUEST", "verify", target="TASK-001", path="s:0")
    desk.refuses("INVALID_REQUEST", "done", target="TASK-001", path="s:0", checkpoints={"criteria": "yes"})


@holds("decisions §4: a step that is blocked or has open children does not close")
def test_a_blocked_step_does_not_close(desk: TaskTools) -> None:
    desk.task("A", "a")
    answer = desk("block", target="TASK-001", path="s:0", reason="  waiting for the vault ")
    assert answer["event"]["type"] == "step_blocked"
    assert desk.steps("TASK-001")["s:0"]["blocked"] is True
    assert any("waiting for the vault" in blocker for blocker in desk.radar("TASK-001")["radar"]["blockers"])
    recovery = desk.refuses("CONFLICT", "done", target="TASK-001", path="s:0", checkpoints=BOTH).recovery
    assert recovery is not None
    assert (recovery["tool"], recovery["arguments"]["blocked"]) == ("tasks_block", False)
    assert desk("block", target="TASK-001", path="s:0", blocked=False)["event"]["type"] == "step_unblocked"
    assert desk.radar("TASK-001")["radar"]["blockers"] == []
    desk("done", target="TASK-001", path="s:0", checkpoints=BOTH)


@holds("decisions §4 block: blocks and unblocks a step with a reason")
def test_a_step_can_be_blocked_without_a_reason(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("block", target="TASK-001", path="s:0")
    assert desk.steps("TASK-001")["s:0"]["blocked"] is True
    assert len(desk.radar("TASK-001")["radar"]["blockers"]) == 1
    desk.refuses("INVALID_REQUEST", "block", target="TASK-001", path="s:0", blocked="yes")


@holds("decisions §4: a step that is blocked or has open children does not close")
def test_a_step_with_open_children_does_not_close(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "x"}, {"title": "y"}])
    desk.close("TASK-001", "s:0.s:0")
    error = desk.refuses("CONFLICT", "done", target="TASK-001", path="s:0", checkpoints=BOTH)
    assert error.details == {"open": ["s:0.s:1"]}
    desk.close("TASK-001", "s:0.s:1", "s:0")


@holds("decisions §10: on a task without steps tasks_done names tasks_complete")
def test_a_closed_step_cannot_be_changed_until_it_is_reopened(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.close("TASK-001", "s:0")
    for tool, arguments in (
        ("done", {}),
        ("verify", {"checkpoints": BOTH}),
        ("block", {}),
        ("block", {"blocked": False}),
    ):
        desk.refuses("CONFLICT", tool, target="TASK-001", path="s:0", **arguments)


@holds("decisions §4 reopen: reopens a step or a task")
def test_a_reopened_step_must_be_confirmed_again(desk: TaskTools) -> None:
    guarded(desk)
    desk.refuses("CONFLICT", "reopen", target="TASK-001", path="s:0")
    desk.close("TASK-001", "s:0")
    desk("reopen", target="TASK-001", path="s:0")
    step = desk.steps("TASK-001")["s:0"]
    assert (step["done"], step["checkpoints"]) == (False, {})
    desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")


@holds("decisions §4 reopen: reopens a step or a task")
def test_reopening_a_step_reopens_its_closed_ancestors(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "x"}, {"title": "y"}])
    desk.close("TASK-001", "s:0.s:0", "s:0.s:1", "s:0", "s:1")
    desk("complete", target="TASK-001")
    desk("reopen", target="TASK-001", path="s:0.s:1")
    done = {path: step["done"] for path, step in desk.steps("TASK-001").items()}
    assert done == {"s:0": False, "s:0.s:0": True, "s:0.s:1": False, "s:1": True}
    assert desk.shown("TASK-001")["status"] == "ACTIVE"


@holds("decisions §4 reopen: reopens a step or a task")
def test_reopening_a_done_task_makes_it_active(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a")
    for target in ("TASK-001", "PLAN-001"):
        desk.refuses("CONFLICT", "reopen", target=target)
    desk.close("TASK-001", "s:0")
    for target in ("TASK-001", "PLAN-001"):
        desk("complete", target=target)
        desk("reopen", target=target)
        assert desk.shown(target)["status"] == "ACTIVE"
    assert desk.steps("TASK-001")["s:0"]["done"] is True


@holds("decisions §4 reopen: reopens a step or a task")
def test_a_task_of_a_done_plan_reopens_only_after_the_plan(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", "a", parent="PLAN-001")
    desk.close("TASK-001", "s:0")
    desk("complete", target="TASK-001")
    desk("complete", target="PLAN-001")
    desk.refuses("CONFLICT", "reopen", target="TASK-001")
    desk.refuses("CONFLICT", "reopen", target="TASK-001", path="s:0")
    desk.refuses("CONFLICT", "complete", target="TASK-001", status="TODO")
    desk.refuses("CONFLICT", "complete", target="TASK-001", status="ACTIVE")
    desk("reopen", target="PLAN-001")
    desk("reopen", target="TASK-001", path="s:0")


@holds("decisions §4 complete: sets TODO, ACTIVE, DONE; DONE needs every step done")
def test_a_task_is_done_only_if_every_step_is_done(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk.close("TASK-001", "s:0")
    error = desk.refuses("CONFLICT", "complete", target="TASK-001")
    assert error.details == {"open": ["s:1"]}
    desk.close("TASK-001", "s:1")
    desk("complete", target="TASK-001")
    assert desk.shown("TASK-001")["status"] == "DONE"


@holds("decisions §4: a plan is DONE only when its tasks are")
def test_a_plan_is_done_only_if_its_tasks_and_steps_are_done(desk: TaskTools) -> None:
    desk.plan(steps=[{"title": "a"}])
    desk.task("A", parent="PLAN-001")
    desk.task("B", parent="PLAN-001")
    desk.refuses("CONFLICT", "complete", target="PLAN-001")
    desk.close("PLAN-001", "s:0")
    error = desk.refuses("CONFLICT", "complete", target="PLAN-001")
    assert error.details == {"open": ["TASK-001", "TASK-002"]}
    desk("complete", target="TASK-001")
    desk("complete", target="TASK-002", status="ACTIVE")
    desk.refuses("CONFLICT", "complete", target="PLAN-001")
    desk("complete", target="TASK-002")
    desk("complete", target="PLAN-001")
    assert desk.shown("PLAN-001")["status"] == "DONE"


@holds("decisions §4 complete: sets TODO, ACTIVE, DONE; DONE needs every step done")
def test_a_status_is_todo_active_or_done(desk: TaskTools) -> None:
    desk.task("A", "a")
    for status in ("ACTIVE", "TODO", "ACTIVE"):
        desk("complete", target="TASK-001", status=status)
        assert desk.shown("TASK-001")["status"] == status
    for wrong in ("done", "BLOCKED", ""):
        desk.refuses("INVALID_REQUEST", "complete", target="TASK-001", status=wrong)
    desk.misses("complete", target="TASK-002")
    desk.close("TASK-001", "s:0")
    desk("complete", target="TASK-001")
    desk("complete", target="TASK-001", status="TODO")
    assert desk.shown("TASK-001")["status"] == "TODO"


@holds("decisions §4: revisions start at 1 and rise by one per write")
@pytest.mark.parametrize("tool", MUTATIONS)
def test_a_mutation_raises_the_revision_of_its_target_by_one(timed: TaskTools, tool: str) -> None:
    timed.plan()
    two_steps(timed)
    timed.task("B")
    timed("edit", target="TASK-002", depends_on=["TASK-001"])
    others = [timed.revision(one) for one in ("PLAN-001", "TASK-002")]
    before = timed.revision("TASK-001")
    answer = timed(tool, target="TASK-001", **MUTATIONS[tool])
    assert {"id", "kind", "revision", "event"} <= set(answer)
    assert (answer["id"], answer["kind"], answer["revision"]) == ("TASK-001", "task", before + 1)
    assert timed.revision("TASK-001") == before + 1
    assert [timed.revision(one) for one in ("PLAN-001", "TASK-002")] == others


@holds("decisions §4: an expected_revision that does not match is VERSION_MISMATCH")
@pytest.mark.parametrize("tool", MUTATIONS)
def test_a_mutation_with_another_expected_revision_is_a_mismatch(timed: TaskTools, tool: str) -> None:
    two_steps(timed)
    now = timed.revision("TASK-001")
    for wrong in (now - 1, now + 1, 0, -1):
        error = timed.refuses("VERSION_MISMATCH", tool, target="TASK-001", expected_revision=wrong, **MUTATIONS[tool])
        assert error.status == 409
        assert error.details == {"expected": wrong, "actual": now}
    answer = timed(tool, target="TASK-001", expected_revision=now, **MUTATIONS[tool])
    assert answer["revision"] == now + 1


@holds("decisions §4: an expected_revision that does not match is VERSION_MISMATCH")
def test_revisions_are_checked_through_every_door(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.refuses("VERSION_MISMATCH", "note", target="TASK-001", note="n", expected_revision=2)
    assert desk("note", target="TASK-001", note="n", expected_revision=1)["revision"] == 2
    desk.refuses("INVALID_REQUEST", "note", target="TASK-001", note="n", expected_revision="2")


@holds("decisions §10: on a task without steps tasks_done names tasks_complete")
def test_a_task_with_only_closed_steps_can_be_completed(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("done", target="TASK-001", path="s:0")
    error = desk.refuses("INVALID_REQUEST", "done", target="TASK-001")
    assert error.recovery is not None
    assert error.recovery["tool"] == "tasks_complete"
    desk.door(error.recovery["tool"], **error.recovery["arguments"])
    assert desk("radar", target="TASK-001")["target"]["status"] == "DONE"
