"""Budgets of reads of tasks: limits are kept, truncation is reported, every row can be reached."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from contract.tasks.budgets import BUDGETS, LEAST, LONG, check_budget, check_fits
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

READS: dict[str, dict[str, Any]] = {
    "tasks_list": {}, "tasks_radar": {"target": "TASK-001"}, "tasks_delta": {}, "tasks_handoff": {"target": "TASK-001"},
    "tasks_show": {"target": "TASK-001"}, "tasks_ready": {}, "branchmind_export": {"target": "TASK-001"},
}  # fmt: skip
ONE_LINE = LONG.replace("\n", " ")


def fill(desk: TaskTools) -> None:
    """Fill a workspace so that every read returns many rows."""
    desk.plan(ONE_LINE[:900], tags=[f"{number} {'t' * 90}" for number in range(50)], description=LONG * 20)
    steps = [
        {"title": f"{number} {ONE_LINE[:600]}", "success_criteria": [LONG] * 5, "tests": [LONG] * 5, "blockers": [LONG]}
        for number in range(12)
    ]
    desk("create", kind="task", title=ONE_LINE[:990], parent="PLAN-001", steps=steps, description=LONG * 20, tags=["a"])
    for number in range(5):
        desk("note", target="TASK-001", note=LONG, path=f"s:{number}")
        desk.task(f"{number} {ONE_LINE[:700]}", tags=["x" * 100, "y"])
    desk("block", target="TASK-001", path="s:3", reason=LONG)
    desk.close("TASK-001", "s:0", "s:1")


@holds("decisions §3 budgets: every read of tasks takes all three and never exceeds them")
def test_every_read_of_tasks_takes_the_three_budgets() -> None:
    reads = {
        tool.name for tool in catalog.operations() if tool.name.startswith("tasks_") and "max_chars" in tool.parameters
    }
    assert reads == {"tasks_list", "tasks_radar", "tasks_delta", "tasks_handoff", "tasks_show", "tasks_ready"}
    for name in READS:
        tool = catalog.find(name)
        assert tool is not None
        assert set(LEAST) <= set(tool.parameters)


@holds("decisions §3 budgets: every read of tasks takes all three and never exceeds them")
@pytest.mark.parametrize("tool", READS)
def test_every_budget_of_a_read_of_tasks_is_kept_and_truncation_is_reported(desk: TaskTools, tool: str) -> None:
    fill(desk)
    given = {"workspace": "Shop", **READS[tool]}
    full = desk.door(tool, **given, max_chars=0)
    assert full["truncated"] is False
    for name, most in BUDGETS:
        check_budget(partial(desk.door, tool, **given), full, name, most)


@holds("decisions §3 budgets: every read of tasks takes all three and never exceeds them")
@pytest.mark.parametrize("tool", READS)
def test_all_budgets_of_a_read_of_tasks_hold_at_once(timed: TaskTools, tool: str) -> None:
    fill(timed)
    for chars, size, count in ((500, 500, 10), (2000, 700, 11), (600, 5000, 20), (3000, 3000, 12)):
        budget = {"max_chars": chars, "max_bytes": size, "max_lines": count}
        check_fits(timed.door(tool, workspace="Shop", **READS[tool], **budget), budget)


@holds("decisions §3 budgets: below 500 or 10 they are INVALID_REQUEST, and the skeleton of every result fits in that")
def test_a_budget_below_the_least_is_refused_by_every_read_of_tasks(timed: TaskTools) -> None:
    timed.plan()
    timed.task()
    for tool, arguments in READS.items():
        for name, least in LEAST.items():
            for most in (least - 1, -5, *((0,) if name != "max_chars" else ())):
                timed.door.refuses("INVALID_REQUEST", tool, workspace="Shop", **arguments, **{name: most})
            timed.door(tool, workspace="Shop", **arguments, **{name: None})


@holds("decisions §3 budgets: below 500 or 10 they are INVALID_REQUEST, and the skeleton of every result fits in that")
@pytest.mark.parametrize("tool", READS)
@pytest.mark.parametrize("wide", ["W", "\U0001f331"])
def test_the_least_budget_of_a_read_of_tasks_holds_with_the_longest_names(
    timed: TaskTools, wide: str, tool: str
) -> None:
    far = timed.another("W" * 255 + wide)
    far.plan(wide * 1000)
    far(
        "create",
        kind="task",
        title=wide * 1000,
        parent="PLAN-001",
        steps=[{"title": wide * 1000, "tests": [wide * 999]}],
    )
    parent = "s:0"
    for _ in range(8):
        far("decompose", target="TASK-001", parent=parent, steps=[{"title": wide * 1000}])
        parent += ".s:0"
    far("note", target="TASK-001", path=parent, note=wide * 999)
    far("edit", target="TASK-001", depends_on=["PLAN-001"], description=wide * 9999)
    given = {"workspace": far.workspace, **READS[tool], **({"as_capsule": True} if tool == "tasks_handoff" else {})}

    def ask(**budget: int) -> dict[str, Any]:
        answer = timed.door(tool, **given, **budget)
        if "capsule" in answer:
            assert answer["capsule"].pop("version") > 0  # each hand-over is the next one
        return answer

    full = ask(max_chars=0)
    for name, most in LEAST.items():
        check_budget(ask, full, name, most)


@holds("decisions §3 budgets: next is the last to go")
def test_the_next_call_of_ordinary_work_is_whole_in_the_least_budget(desk: TaskTools) -> None:
    fill(desk)
    radar = desk.radar("TASK-001")["radar"]
    for name, most in LEAST.items():
        small = desk("radar", target="TASK-001", **{name: most})
        assert small["radar"]["next"]["tool"] == radar["next"]["tool"]
        assert small["radar"]["next"]["arguments"] == radar["next"]["arguments"]
        handed = desk("handoff", target="TASK-001", **{name: most})
        assert handed["next"]["arguments"] == radar["next"]["arguments"]


@holds("decisions §3 budgets: next is the last to go")
def test_a_small_radar_still_shows_the_current_action(desk: TaskTools) -> None:
    desk.task("Rotate the signing key", "Make the new key", *(f"step {number}" for number in range(40)))
    small = desk("radar", target="TASK-001", max_chars=1000)
    assert small["radar"] == desk.radar("TASK-001")["radar"]
    assert (small["target"]["id"], small["target"]["status"]) == ("TASK-001", "TODO")
    assert 0 < len(small["steps"]) < 41
    assert small["truncated"] is True


@holds("shapes budgets: paging through a budget still gives every row exactly once")
@pytest.mark.parametrize(("name", "most"), BUDGETS)
def test_paging_a_list_through_a_budget_gives_every_task_exactly_once(timed: TaskTools, name: str, most: int) -> None:
    fill(timed)
    made = timed.listed()
    found: list[str] = []
    for _ in range(100):
        answer = timed("list", limit=4, offset=len(found), **{name: most})
        check_fits(answer, {name: most})
        found += [item["id"] for item in answer["items"]]
        assert answer["pagination"]["has_more"] == (len(found) < len(made))
        assert answer["pagination"]["total"] == len(made)
        if not answer["pagination"]["has_more"]:
            break
    assert found == made


@holds("shapes budgets: paging through a budget still gives every row exactly once")
@pytest.mark.parametrize(("name", "most"), BUDGETS)
def test_paging_events_through_a_budget_gives_every_event_exactly_once(timed: TaskTools, name: str, most: int) -> None:
    fill(timed)
    told = [event["event_id"] for event in timed.events()]
    assert [event["event_id"] for event in timed.events(None, limit=5, **{name: most})] == told


@holds("shapes budgets: paging through a budget still gives every row exactly once")
def test_a_budget_drops_the_newest_events_first(desk: TaskTools) -> None:
    desk.task()
    for number in range(30):
        desk("edit", target="TASK-001", title=f"title {number}")
    events = desk.events()
    answer = desk("delta", max_chars=2000)
    shown = [event["event_id"] for event in answer["events"]]
    assert shown == [event["event_id"] for event in events[: len(shown)]]
    assert 0 < len(shown) < 31
    assert (answer["has_more"], answer["truncated"]) == (True, True)


@holds("shapes budgets: paging through a budget still gives every row exactly once")
def test_the_rest_of_an_export_can_be_read_after_truncation(timed: TaskTools) -> None:
    timed.task("A", "a")
    for number in range(20):
        timed("note", target="TASK-001", note=f"note {number} " + "x" * 100)
    for most in (500, 1000, 3000, 6000):
        answer = timed.room("export", target="TASK-001", max_chars=most)
        check_fits(answer, {"max_chars": most})
        for part, kind in (("notes", "notes"), ("trace", "trace")):
            page = answer[part]["pagination"]
            assert page["count"] == len(answer[part]["entries"])
            seqs = [entry["seq"] for entry in answer[part]["entries"]]
            if page["has_more"]:
                older = timed.room("show", target="TASK-001", doc_kind=kind, cursor=page["next_cursor"], limit=200)
                seqs = [entry["seq"] for entry in older["entries"]] + seqs
            whole = timed.room("show", target="TASK-001", doc_kind=kind, limit=200)
            assert seqs == [entry["seq"] for entry in whole["entries"]], (most, part)


@holds("decisions §3 budgets: every read of tasks takes all three and never exceeds them")
def test_a_budget_on_tasks_changes_nothing_in_the_store(timed: TaskTools) -> None:
    fill(timed)
    before = dump(timed.door.home)
    for tool, arguments in READS.items():
        timed.door(tool, workspace="Shop", **arguments, max_chars=500)
    assert dump(timed.door.home) == before


@holds("decisions §3 budgets: every read of tasks takes all three and never exceeds them")
def test_a_hand_over_is_stored_whole_if_its_answer_is_truncated(timed: TaskTools) -> None:
    fill(timed)
    timed("handoff", target="TASK-001", as_capsule=True)
    whole = timed.door("capsule_fetch", name="TASK-001-handoff", workspace="Shop")["capsule_text"]
    answer = timed("handoff", target="TASK-001", as_capsule=True, max_chars=500)
    check_fits(answer, {"max_chars": 500})
    assert set(answer["capsule"]) == {"id", "fetch_key", "version"}
    assert timed.door("capsule_fetch", name="TASK-001-handoff", workspace="Shop")["capsule_text"] == whole
