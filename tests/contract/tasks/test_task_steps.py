"""Steps: `tasks_decompose`, `tasks_define`, `tasks_note` and `tasks_evidence`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.tasks.task_tools import BOTH
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

NEEDS_STEP: dict[str, dict[str, Any]] = {
    "define": {"title": "b"}, "verify": {"checkpoints": BOTH}, "done": {}, "block": {},
}  # fmt: skip
TAKES_STEP: dict[str, dict[str, Any]] = {
    **NEEDS_STEP, "note": {"note": "n"}, "reopen": {}, "evidence": {"links": ["l"]}, "delete": {},
}  # fmt: skip


@holds("decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers")
def test_steps_form_a_tree_with_ids_and_paths(desk: TaskTools) -> None:
    desk.task()
    first = desk("decompose", target="TASK-001", steps=[{"title": "a"}, {"title": "b"}])
    assert first["steps"] == [
        {"step_id": "STEP-001", "path": "s:0", "title": "a"},
        {"step_id": "STEP-002", "path": "s:1", "title": "b"},
    ]
    by_path = desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a.a"}, {"title": "a.b"}])
    assert [(step["step_id"], step["path"]) for step in by_path["steps"]] == [
        ("STEP-003", "s:0.s:0"), ("STEP-004", "s:0.s:1"),
    ]  # fmt: skip
    by_id = desk("decompose", target="TASK-001", parent="STEP-004", steps=[{"title": "a.b.a"}])
    assert by_id["steps"] == [{"step_id": "STEP-005", "path": "s:0.s:1.s:0", "title": "a.b.a"}]
    assert list(desk.steps("TASK-001")) == ["s:0", "s:0.s:0", "s:0.s:1", "s:0.s:1.s:0", "s:1"]


@holds("decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers")
def test_steps_are_ordered_by_number_beyond_ten(desk: TaskTools) -> None:
    desk.task("A", *(f"step {number}" for number in range(12)))
    desk("decompose", target="TASK-001", parent="s:2", steps=[{"title": "x"}] * 11)
    expected = [f"s:{number}" for number in range(12)]
    expected[3:3] = [f"s:2.s:{number}" for number in range(11)]
    assert list(desk.steps("TASK-001")) == expected


@holds("decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers")
def test_a_plan_can_have_steps(desk: TaskTools) -> None:
    desk.plan()
    desk("decompose", target="PLAN-001", steps=[{"title": "a"}])
    desk.close("PLAN-001", "s:0")
    assert desk.steps("PLAN-001")["s:0"]["done"] is True


@holds("decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers")
def test_a_step_has_criteria_tests_and_blockers(desk: TaskTools) -> None:
    desk.task()
    step = {"title": "a", "success_criteria": ["it signs", "it verifies"], "tests": "pytest", "blockers": ["the vault"]}
    desk("decompose", target="TASK-001", steps=[step])
    radar = desk.radar("TASK-001")["radar"]
    assert radar["verify"] == ["it signs", "it verifies", "pytest"]
    assert radar["blockers"] == ["the vault"]


@holds("decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers")
def test_all_steps_of_a_call_are_added_or_none(desk: TaskTools) -> None:
    desk.task()
    desk.refuses("INVALID_REQUEST", "decompose", target="TASK-001", steps=[{"title": "a"}, {"title": ""}])
    desk.refuses("INVALID_REQUEST", "decompose", target="TASK-001", steps=[])
    desk.refuses("INVALID_REQUEST", "decompose", target="TASK-001", steps=[{"title": "a"}] * 201)
    desk.misses("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a"}])
    desk.misses("decompose", target="TASK-001", parent="STEP-001", steps=[{"title": "a"}])
    assert desk.steps("TASK-001") == {}


@holds("decisions §4: step ids and path indices are never used again")
def test_step_ids_and_path_indices_are_never_reused(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "a.a"}])
    desk("delete", target="TASK-001", path="s:1")
    desk("delete", target="TASK-001", path="s:0.s:0")
    [again] = desk("decompose", target="TASK-001", steps=[{"title": "c"}])["steps"]
    assert (again["step_id"], again["path"]) == ("STEP-004", "s:2")
    [below] = desk("decompose", target="TASK-001", parent="s:0", steps=[{"title": "d"}])["steps"]
    assert (below["step_id"], below["path"]) == ("STEP-005", "s:0.s:1")
    desk.task("B", "e")
    assert [step["step_id"] for step in desk.steps("TASK-002").values()] == ["STEP-006"]


@holds("decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers")
def test_a_done_task_accepts_no_new_steps(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.close("TASK-001", "s:0")
    desk.refuses("CONFLICT", "decompose", target="TASK-001", parent="s:0", steps=[{"title": "x"}])
    desk("complete", target="TASK-001")
    desk.refuses("CONFLICT", "decompose", target="TASK-001", steps=[{"title": "x"}])
    desk("reopen", target="TASK-001")
    desk("decompose", target="TASK-001", steps=[{"title": "x"}])


@holds("shapes tasks: every mutation answers id, kind, revision, event and the step it is about")
@pytest.mark.parametrize("tool", TAKES_STEP)
def test_a_step_is_addressed_by_its_id_or_by_its_path(timed: TaskTools, tool: str) -> None:
    timed.task("A", "a", "b")
    for address in ({"step_id": "STEP-001"}, {"path": "s:1"}):
        if tool == "reopen":
            timed("done", target="TASK-001", **address, checkpoints=BOTH)
        if tool == "done":
            timed("verify", target="TASK-001", **address, checkpoints=BOTH)
        answer = timed(tool, target="TASK-001", **address, **TAKES_STEP[tool])
        assert {"id", "kind", "revision", "event", "step"} <= set(answer)
        path = address.get("path", "s:0")
        step_id, title = ("STEP-001", "a") if path == "s:0" else ("STEP-002", "b")
        title = TAKES_STEP[tool].get("title", title)
        assert answer["step"] == {"step_id": step_id, "path": path, "title": title}
        assert (answer["workspace"], answer["title"]) == ("Shop", "A")
        assert answer["event"]["path"] == path


@holds("shapes tasks: a step is step_id or path")
@pytest.mark.parametrize("tool", TAKES_STEP)
def test_a_step_with_two_addresses_or_an_unknown_one_is_refused(timed: TaskTools, tool: str) -> None:
    timed.task("A", "a")
    timed.task("B", "b")
    arguments = {"target": "TASK-001", **TAKES_STEP[tool]}
    timed.refuses("INVALID_REQUEST", tool, **arguments, step_id="STEP-001", path="s:0")
    for address in (
        {"step_id": "STEP-002"},
        {"step_id": "STEP-009"},
        {"path": "s:1"},
        {"path": "s:0.s:0"},
        {"path": "0"},
    ):
        timed.misses(tool, **arguments, **address)
    timed.misses(tool, **{**arguments, "target": "TASK-003"}, path="s:0")
    if tool in NEEDS_STEP:
        timed.refuses("INVALID_REQUEST", tool, **arguments)


@holds("decisions §4 define: changes one step")
def test_every_field_of_a_step_can_be_redefined(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("define", target="TASK-001", path="s:0", title=" b ", success_criteria="it signs", blockers=["x", "y"])
    desk("define", target="TASK-001", path="s:0", tests=["pytest", "mypy"])
    assert desk.steps("TASK-001")["s:0"]["title"] == "b"
    radar = desk.radar("TASK-001")["radar"]
    assert radar["verify"] == ["it signs", "pytest", "mypy"]
    assert radar["blockers"] == ["x", "y"]
    desk("define", target="TASK-001", path="s:0", success_criteria=[], blockers=[])
    radar = desk.radar("TASK-001")["radar"]
    assert (radar["verify"], radar["blockers"]) == (["pytest", "mypy"], [])


@holds("decisions §4 define: changes one step")
def test_an_empty_definition_and_one_of_a_done_step_are_refused(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.refuses("INVALID_REQUEST", "define", target="TASK-001", path="s:0")
    desk.refuses("INVALID_REQUEST", "define", target="TASK-001", path="s:0", title=" ")
    desk.refuses("INVALID_REQUEST", "define", target="TASK-001", path="s:0", tests=["a", " "])
    desk.close("TASK-001", "s:0")
    desk.refuses("CONFLICT", "define", target="TASK-001", path="s:0", title="b")


@holds("decisions §4 define: changes one step")
def test_changed_criteria_or_tests_revoke_their_confirmation(desk: TaskTools) -> None:
    desk.task()
    desk("decompose", target="TASK-001", steps=[{"title": "a", "success_criteria": ["c"], "tests": ["t"]}])
    desk("verify", target="TASK-001", path="s:0", checkpoints={**BOTH, "docs": True})
    desk("define", target="TASK-001", path="s:0", title="b", success_criteria=["c"], blockers=["z"])
    assert desk.steps("TASK-001")["s:0"]["checkpoints"] == {**BOTH, "docs": True}
    desk("define", target="TASK-001", path="s:0", tests=["t", "u"])
    confirmed = desk.steps("TASK-001")["s:0"]["checkpoints"]
    assert not confirmed.get("tests")
    assert confirmed["criteria"]
    desk("define", target="TASK-001", path="s:0", success_criteria="d")
    assert not desk.steps("TASK-001")["s:0"]["checkpoints"].get("criteria")
    desk.refuses("CHECKPOINTS_NOT_CONFIRMED", "done", target="TASK-001", path="s:0")


@holds("decisions §4 note: a progress note, mirrored into the notes document")
def test_a_note_is_mirrored_into_the_notes_of_the_target(desk: TaskTools) -> None:
    desk.task("A", "a")
    whole = desk("note", target="TASK-001", note="The worker still uses the old key.")
    of_step = desk("note", target="TASK-001", path="s:0", note="Half done.\nThe rest tomorrow.")
    assert "step" not in whole
    assert of_step["step"]["path"] == "s:0"
    entries = desk.room.entries("task/TASK-001", "notes")
    assert [entry["content"] for entry in entries] == [
        "The worker still uses the old key.",
        "Half done.\nThe rest tomorrow.",
    ]
    assert {entry["kind"] for entry in entries} == {"note"}
    assert "title" not in entries[0]
    assert "s:0" in entries[1]["title"]
    assert [answer["event"]["payload"]["seq"] for answer in (whole, of_step)] == [entry["seq"] for entry in entries]
    assert desk.room.texts("main") == []


@holds("decisions §4 note: a progress note, mirrored into the notes document")
def test_a_note_is_not_empty_and_can_be_added_to_a_done_task(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.refuses("INVALID_REQUEST", "note", target="TASK-001", note=" ")
    desk.refuses("TEXT_TOO_LARGE", "note", target="TASK-001", note="x" * 200_001)
    desk.misses("note", target="TASK-002", note="n")
    desk.close("TASK-001", "s:0")
    desk("complete", target="TASK-001")
    desk("note", target="TASK-001", path="s:0", note="é" * 200_000)
    assert len(desk.room.texts("task/TASK-001")[0]) == 200_000


@holds("decisions §4 evidence: links, checks and small texts of a step or task")
def test_evidence_consists_of_links_checks_and_small_texts(desk: TaskTools) -> None:
    desk.task("A", "a")
    answer = desk(
        "evidence", target="TASK-001", path="s:0", links=["https://example.org/1", "b"], checks="pytest: 12 passed"
    )
    assert answer["event"]["payload"] == {"links": 2, "checks": 1}
    answer = desk("evidence", target="TASK-001", texts=["seen with my own eyes"])
    assert answer["event"]["payload"] == {"texts": 1}
    assert "step" not in answer
    empty: list[dict[str, Any]] = [{}, {"links": []}, {"links": [], "checks": [], "texts": []}]
    for nothing in [*empty, {"texts": ["a", " "]}, {"links": [1]}]:
        desk.refuses("INVALID_REQUEST", "evidence", target="TASK-001", **nothing)
    desk.refuses("TEXT_TOO_LARGE", "evidence", target="TASK-001", texts=["x" * 200_001])


@holds("decisions §4 evidence: links, checks and small texts of a step or task")
def test_a_hand_over_reports_missing_evidence(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk.close("TASK-001", "s:0")
    assert any("evidence" in risk for risk in desk("handoff", target="TASK-001")["handoff"]["risks"])
    desk("evidence", target="TASK-001", path="s:0", checks=["pytest: 12 passed"])
    assert not any("evidence" in risk for risk in desk("handoff", target="TASK-001")["handoff"]["risks"])
