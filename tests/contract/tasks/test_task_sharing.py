"""`tasks_show`, `tasks_ready` and `tasks_claim`: reading plans and sharing them between agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import open_test_store
from contract.tasks.task_tools import BOTH
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock
    from contract.tasks.task_tools import TaskTools

STEP = {"title": "Write the test", "success_criteria": ["it fails"], "tests": ["pytest"], "blockers": ["the vault"]}
NOBODY = dict.fromkeys(("criteria", "tests", "security", "perf", "docs"), False)


def ready(desk: TaskTools, **asked: Any) -> list[str]:
    return [task["id"] for task in desk("ready", **asked)["tasks"]]


@holds("decisions §7 show: the tree with criteria, tests, blockers, notes, evidence and assignees")
def test_a_new_task_is_shown_with_every_documented_field(desk: TaskTools) -> None:
    desk("create", kind="task", title="A", steps=[STEP])
    answer = desk("show", target="TASK-001")
    assert set(answer) == {
        "workspace", "target", "kind", "title", "status", "priority", "tags", "depends_on", "revision", "evidence",
        "notes", "steps", "truncated",
    }  # fmt: skip
    assert (answer["target"], answer["kind"], answer["status"], answer["truncated"]) == (
        "TASK-001", "task", "TODO", False,
    )  # fmt: skip
    assert answer["steps"] == [
        {
            "step_id": "STEP-001", "path": "s:0", "title": "Write the test", "status": "open", "criteria": ["it fails"],
            "tests": ["pytest"], "blockers": ["the vault"], "confirmed": NOBODY, "evidence": [], "notes": [],
            "steps": [],
        }
    ]  # fmt: skip


@holds("decisions §7 show: the tree with criteria, tests, blockers, notes, evidence and assignees")
def test_a_task_is_shown_in_full(desk: TaskTools) -> None:
    desk.plan("P")
    desk.task("B")
    desk("create", kind="task", title="A", parent="PLAN-001", steps=[STEP, {"title": "b"}], description="D", tags=["t"])
    desk("decompose", target="TASK-002", parent="s:1", steps=[{"title": "b.a"}, {"title": "b.b"}])
    desk("edit", target="TASK-002", depends_on=["TASK-001"])
    desk("note", target="TASK-002", note="of all")
    desk("note", target="TASK-002", note="first", path="s:1.s:0")
    desk("note", target="TASK-002", note="second", path="s:1.s:0")
    desk("evidence", target="TASK-002", path="s:0", checks=["pytest: 12 passed"])
    desk("evidence", target="TASK-002", links=["docs/keys.md"])
    desk("verify", target="TASK-002", path="s:0", checkpoints={"tests": True})
    desk("block", target="TASK-002", path="s:1.s:1", reason="the key")
    desk("claim", target="TASK-002", path="s:0", agent="me")
    shown = desk("show", target="TASK-002")
    assert (shown["description"], shown["parent"], shown["tags"], shown["depends_on"]) == (
        "D", "PLAN-001", ["t"], ["TASK-001"],
    )  # fmt: skip
    assert (shown["notes"], shown["evidence"]) == (["of all"], ["docs/keys.md"])
    first, second = shown["steps"]
    assert (first["evidence"], first["confirmed"], first["agent"]) == (
        ["pytest: 12 passed"], {**NOBODY, "tests": True}, "me",
    )  # fmt: skip
    below, blocked = second["steps"]
    assert (below["path"], below["notes"]) == ("s:1.s:0", ["first", "second"])
    assert (blocked["status"], blocked["blockers"]) == ("blocked", ["the key"])


@holds("decisions §7 show: the tree with criteria, tests, blockers, notes, evidence and assignees")
def test_a_plan_is_shown_with_its_tasks(desk: TaskTools) -> None:
    desk.plan("P")
    desk.task("A", "a", "b", parent="PLAN-001")
    desk.close("TASK-001", "s:0")
    desk("edit", target="PLAN-001", contract={"promise": "it holds"})
    shown = desk("show", target="PLAN-001")
    assert shown["contract"] == {"promise": "it holds"}
    assert shown["tasks"] == [
        {"id": "TASK-001", "title": "A", "status": "ACTIVE", "steps_done": 1, "steps_total": 2}
    ]  # fmt: skip


@holds("decisions §7 show: the tree with criteria, tests, blockers, notes, evidence and assignees")
def test_one_step_is_shown_with_its_descendants(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:1", steps=[{"title": "b.a"}])
    (step,) = desk("show", target="TASK-001", path="s:1")["steps"]
    assert (step["path"], [below["path"] for below in step["steps"]]) == ("s:1", ["s:1.s:0"])
    desk.misses("show", target="TASK-001", path="s:7")


@holds("decisions §7: a task with a closed or claimed step is ACTIVE")
def test_closing_a_step_makes_a_task_active(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk.close("TASK-001", "s:0")
    assert desk.radar("TASK-001")["target"]["status"] == "ACTIVE"


@holds("decisions §7 ready: open, not blocked, dependencies done, not claimed; by priority, then age")
def test_ready_tasks_are_ordered_by_priority_and_then_by_age(desk: TaskTools) -> None:
    desk.plan("a plan is no task")
    for title, priority in (("A", "low"), ("B", "normal"), ("C", "high"), ("D", "high"), ("E", "normal")):
        desk.task(title, "first", priority=priority)
    assert ready(desk) == ["TASK-003", "TASK-004", "TASK-002", "TASK-005", "TASK-001"]
    first = desk("ready")["tasks"][0]
    assert (first["title"], first["priority"], first["step"]) == (
        "C", "high", {"step_id": "STEP-003", "path": "s:0", "title": "first"},
    )  # fmt: skip
    assert first["why"]


@holds("decisions §7 ready: open, not blocked, dependencies done, not claimed; by priority, then age")
def test_waiting_blocked_claimed_and_done_tasks_are_not_ready(desk: TaskTools) -> None:
    for title in ("A", "B", "C", "D", "E"):
        desk.task(title, "a")
    desk("edit", target="TASK-001", depends_on=["TASK-005"])
    desk("block", target="TASK-002", path="s:0", reason="x")
    desk("claim", target="TASK-003", agent="me")
    desk.close("TASK-004", "s:0")
    desk("complete", target="TASK-004")
    assert ready(desk) == ["TASK-005"]
    desk.close("TASK-005", "s:0")
    assert ready(desk) == ["TASK-005"], "nothing in it is open, and it can be completed"
    desk("complete", target="TASK-005")
    assert ready(desk) == ["TASK-001"]
    desk("block", target="TASK-002", path="s:0", blocked=False)
    desk("claim", agent="me", release=True)
    assert ready(desk) == ["TASK-001", "TASK-002", "TASK-003"]


@holds("decisions §7 ready: open, not blocked, dependencies done, not claimed; by priority, then age")
def test_the_first_open_step_decides_whether_a_task_is_ready(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a.a"}, {"title": "a.b"}])
    assert desk("ready")["tasks"][0]["step"]["path"] == "s:0.s:0"
    desk("block", target="TASK-001", path="s:1")
    assert ready(desk) == ["TASK-001"], "a later step is blocked"
    desk("block", target="TASK-001", path="s:0.s:0")
    assert ready(desk) == []
    desk("block", target="TASK-001", path="s:0.s:0", blocked=False)
    desk("block", target="TASK-001", path="s:0")
    assert ready(desk) == [], "the one above it is blocked"


@holds("decisions §7 ready: open, not blocked, dependencies done, not claimed; by priority, then age")
def test_ready_tasks_are_filtered_by_plan_and_tag_and_paged(desk: TaskTools) -> None:
    desk.plan("P")
    for number in range(5):
        desk.task(f"{number}", parent="PLAN-001" if number % 2 else None, tags=["even"] if number % 2 == 0 else [])
    assert ready(desk, parent="PLAN-001") == ["TASK-002", "TASK-004"]
    assert ready(desk, tag="even") == ["TASK-001", "TASK-003", "TASK-005"]
    page = desk("ready", limit=2, offset=2)
    assert [task["id"] for task in page["tasks"]] == ["TASK-003", "TASK-004"]
    assert page["pagination"] == {"limit": 2, "offset": 2, "has_more": True, "total": 5}


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_claims_without_a_target_take_the_ready_tasks_in_order(desk: TaskTools) -> None:
    for title in ("A", "B", "C"):
        desk.task(title, "a")
    taken = [desk("claim", agent=f"agent {number}")["id"] for number in range(3)]
    assert taken == ["TASK-001", "TASK-002", "TASK-003"]
    assert desk.refuses("NOT_FOUND", "claim", agent="one more").recovery


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_claimed_task_is_active_and_shows_its_agent(timed: TaskTools, clock: Clock) -> None:
    timed.task("A", "a")
    answer = timed("claim", target="TASK-001", agent=" me ")
    assert (answer["id"], answer["kind"], answer["agent"]) == ("TASK-001", "task", "me")
    assert answer["lease_until_ms"] == clock.ms + 1_800_000
    assert "step" not in answer
    shown = timed("show", target="TASK-001")
    assert (shown["status"], shown["agent"], shown["lease_until_ms"]) == ("ACTIVE", "me", answer["lease_until_ms"])


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_task_claimed_by_another_agent_is_a_conflict_with_its_holder_and_expiry(desk: TaskTools) -> None:
    desk.task("A", "a")
    held = desk("claim", target="TASK-001", agent="me")
    error = desk.refuses("CONFLICT", "claim", target="TASK-001", agent="you")
    assert error.details == {"agent": "me", "lease_until_ms": held["lease_until_ms"]}
    desk.refuses("CONFLICT", "claim", target="TASK-001", agent="you", release=True)
    assert desk("claim", target="TASK-001", agent="me")["revision"] == 3


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_task_and_its_steps_cannot_have_two_holders(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a.a"}])
    desk("claim", target="TASK-001", path="s:0", agent="me")
    for where in ({}, {"path": "s:0"}, {"path": "s:0.s:0"}):
        desk.refuses("CONFLICT", "claim", target="TASK-001", agent="you", **where)
    desk("claim", target="TASK-001", path="s:1", agent="you")
    desk.refuses("CONFLICT", "claim", target="TASK-001", agent="me")
    desk("claim", target="TASK-001", path="s:0.s:0", agent="me")
    desk("claim", target="TASK-001", path="s:1", agent="you", release=True)
    desk("claim", target="TASK-001", agent="me")
    desk.refuses("CONFLICT", "claim", target="TASK-001", path="s:1", agent="you")


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_step_cannot_be_claimed_while_another_agent_holds_a_step_below_it(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a.a"}])
    desk("claim", target="TASK-001", path="s:0.s:0", agent="me")
    for where in ({}, {"path": "s:0"}):
        desk.refuses("CONFLICT", "claim", target="TASK-001", agent="you", **where)
    desk("claim", target="TASK-001", path="s:1", agent="you")


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_renewal_never_shortens_a_lease(timed: TaskTools, clock: Clock) -> None:
    timed.task("A", "a")
    held = timed("claim", target="TASK-001", agent="me", lease_s=60)
    clock.advance(-30)
    timed("note", target="TASK-001", note="the clock was set back", agent="me")
    shown = timed("show", target="TASK-001")
    assert (shown["agent"], shown["lease_until_ms"]) == ("me", held["lease_until_ms"])


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_lease_expires_and_can_be_renewed_and_released(timed: TaskTools, clock: Clock) -> None:
    timed.task("A", "a")
    timed("claim", target="TASK-001", agent="me", lease_s=60)
    clock.advance(59)
    timed("note", target="TASK-001", note="still at it", agent="me")
    clock.advance(59)
    timed("note", target="TASK-001", note="of another", agent="you")
    timed.refuses("CONFLICT", "claim", target="TASK-001", agent="you")
    clock.advance(1)
    assert "agent" not in timed("show", target="TASK-001")
    assert timed("claim", agent="you")["id"] == "TASK-001"
    released = timed("claim", target="TASK-001", agent="you", release=True)
    assert (released["agent"], released["lease_until_ms"]) == ("you", None)
    timed.refuses("NOT_FOUND", "claim", target="TASK-001", agent="you", release=True)
    timed.refuses("NOT_FOUND", "claim", agent="you", release=True)


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_closing_a_step_or_task_releases_its_claim(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("claim", target="TASK-001", path="s:0", agent="me")
    desk("done", target="TASK-001", path="s:0", checkpoints=BOTH)
    assert "agent" not in desk("show", target="TASK-001")["steps"][0]
    desk.refuses("CONFLICT", "claim", target="TASK-001", path="s:0", agent="me")
    desk("claim", target="TASK-001", agent="you")
    desk("done", target="TASK-001", path="s:1", checkpoints=BOTH)
    desk("complete", target="TASK-001")
    assert "agent" not in desk("show", target="TASK-001")
    desk.refuses("CONFLICT", "claim", target="TASK-001", agent="me")


@holds("decisions §7 claim: one agent holds a piece, for a lease")
@pytest.mark.parametrize(
    "asked",
    [
        {"agent": " "},
        {"agent": "me", "path": "s:0"},
        {"agent": "me", "target": "TASK-001", "lease_s": 0},
        {"agent": "me", "target": "TASK-001", "lease_s": 31_536_001},
        {"agent": "me", "target": "TASK-001", "path": "s:0", "step_id": "STEP-001"},
    ],
)
def test_an_invalid_claim_is_refused(desk: TaskTools, asked: dict[str, Any]) -> None:
    desk.task("A", "a")
    desk.refuses("INVALID_REQUEST", "claim", **asked)
    desk.refuses("INVALID_REQUEST", "claim", target="TASK-001")


@holds("decisions §7 claim: one agent holds a piece, for a lease")
def test_a_lease_of_a_whole_year_is_accepted(desk: TaskTools) -> None:
    desk.task("A", "a")
    assert desk("claim", target="TASK-001", agent="me", lease_s=31_536_000)["agent"] == "me"


@holds("decisions §10: plans with steps of their own count as tasks")
def test_a_plan_with_its_own_steps_can_be_claimed_as_a_task(desk: TaskTools) -> None:
    desk.plan("P", steps=[{"title": "a"}, {"title": "b"}], priority="high")
    desk.plan("only tasks")
    desk.task("A", parent="PLAN-001")
    assert [(one["id"], one.get("step", {}).get("path")) for one in desk("ready")["tasks"]] == [
        ("PLAN-001", "s:0"),
        ("TASK-001", None),
    ]
    assert desk("claim", agent="ada")["id"] == "PLAN-001"
    desk("claim", agent="ada", release=True)
    desk.close("PLAN-001", "s:0", "s:1")
    assert [one["id"] for one in desk("ready")["tasks"]] == ["TASK-001"], "its task is still open"
    desk("complete", target="TASK-001")
    assert [one["id"] for one in desk("ready")["tasks"]] == ["PLAN-001"], "it can be completed"


@holds("decisions §10: the actor who claims a piece is shown to its readers, and to others who close it")
def test_the_radar_names_the_holder_of_a_task(timed: TaskTools, clock: Clock) -> None:
    timed("create", kind="task", title="A", steps=[{"title": "a"}, {"title": "b"}])
    assert "works on it" not in timed("radar")["radar"]["why"]
    timed("claim", target="TASK-001", path="s:1", agent="ben")
    assert "works on it" not in timed("radar")["radar"]["why"]
    timed("claim", target="TASK-001", path="s:0", agent="anna", lease_s=60)
    assert timed("radar")["radar"]["why"].endswith("; 'anna' works on it until 2030-03-17T17:47:40.000Z")
    clock.advance(61)
    assert "works on it" not in timed("radar")["radar"]["why"]


@holds("decisions §10: the actor who claims a piece is shown to its readers, and to others who close it")
def test_the_radar_of_a_plan_names_the_holder_of_its_task(desk: TaskTools) -> None:
    desk.plan("P")
    desk("create", kind="task", title="A", parent="PLAN-001")
    desk("claim", target="TASK-001", agent="anna")
    assert "'anna' works on it" in desk("radar", target="PLAN-001")["radar"]["why"]
    assert "'anna' works on it" in desk("handoff", target="PLAN-001")["radar"]["why"]
    desk("complete", target="TASK-001")
    assert "works on it" not in desk("radar", target="PLAN-001")["radar"]["why"]


@holds("decisions §10: the actor who claims a piece is shown to its readers, and to others who close it")
@pytest.mark.parametrize("claimed", [{}, {"path": "s:0"}], ids=["task", "step"])
def test_closing_a_step_held_by_another_agent_succeeds_with_a_warning(
    timed: TaskTools, claimed: dict[str, Any]
) -> None:
    timed("create", kind="task", title="A", steps=[{"title": "a"}, {"title": "b"}])
    timed("claim", target="TASK-001", agent="anna", **claimed)
    answer = timed("done", target="TASK-001", path="s:0", agent="ben")
    what = "step s:0 of TASK-001" if claimed else "TASK-001"
    assert answer["warning"].startswith(f"'anna' holds {what} until 2030-03-17T18:16:40.000Z")
    assert timed("show", target="TASK-001")["steps"][0]["status"] == "done"


@holds("decisions §10: the actor who claims a piece is shown to its readers, and to others who close it")
def test_the_holder_closes_without_a_warning(timed: TaskTools, clock: Clock) -> None:
    timed("create", kind="task", title="A", steps=[{"title": title} for title in "abc"])
    timed("claim", target="TASK-001", path="s:1", agent="anna")
    assert "warning" not in timed("done", target="TASK-001", path="s:0", agent="ben")
    assert "warning" not in timed("done", target="TASK-001", path="s:1", agent="anna")
    timed("claim", target="TASK-001", path="s:2", agent="anna", lease_s=60)
    clock.advance(61)
    assert "warning" not in timed("done", target="TASK-001", path="s:2", agent="ben")


@holds("decisions §10: the actor who claims a piece is shown to its readers, and to others who close it")
def test_without_an_agent_the_actor_holds_the_claim(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as store:
        here = {"workspace": "shop", "target": "TASK-001"}
        store.call("tasks_create", {"workspace": "shop", "kind": "task", "title": "A", "steps": [{"title": "a"}]})
        store.call("tasks_claim", {**here, "agent": "me"}, actor="anna · claude-code")
        assert "warning" not in store.call("tasks_done", {**here, "path": "s:0"}, actor="anna · claude-code")
        store.call("tasks_reopen", {**here, "path": "s:0"})
        assert "'me' holds TASK-001" in store.call("tasks_done", {**here, "path": "s:0"}, actor="ben")["warning"]
        assert "'me' holds TASK-001" in store.call("tasks_complete", here, actor="ben")["warning"]
        store.call("tasks_reopen", here)
        assert "warning" not in store.call("tasks_complete", here, actor="ben")
